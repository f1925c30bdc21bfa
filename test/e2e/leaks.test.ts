import { describe, expect, test } from "vitest";
import {
	containsText,
	openSession,
	type PiVersion,
	piVersions,
	type Step,
	type TestSession,
} from "../../src/testing/index.ts";
import { atOnce, bulk, call } from "../support/mulligan.ts";

const tools = { grep: ({ mark }: Record<string, unknown>) => bulk(`RESULT-${mark}-`) };

/** A response that says this, with calls whose results do. */
const look = (...marks: string[]): Step => ({
	thinking: `THOUGHT-${marks[0]}-`,
	text: `WORDS-${marks[0]}-`,
	calls: marks.map((mark) => call.tool(mark, "grep", { mark, path: `FILE-${mark}-` })),
});
const shrink = (id: string, of: string): Step => ({
	calls: [call.shrink(id, { by_tool_call_id: of }, `SHORT-${of}-`)],
});
const rewind = (id: string): Step => ({ calls: [call.rewind(id)] });

/** All that the model no longer sees. */
const HIDDEN = ["RESULT-a-", "RESULT-b-", "WORDS-b-", "THOUGHT-b-", "FILE-b-", "RESULT-c-", "WORDS-c-", "RESULT-d-"];

const open = (
	pi: PiVersion,
	{ compaction = {}, ...more }: { compaction?: object; models?: never[] | readonly object[] } = {},
) =>
	openSession({
		...{ pi, tools },
		...(more as object),
		settings: {
			mulligan: atOnce,
			compaction: { enabled: false, keepRecentTokens: 10, ...compaction },
			branchSummary: { skipPrompt: false },
		},
	});

/** Two prompts in which much is hidden: the last ops of the second are in its last turns. */
async function work(session: TestSession): Promise<void> {
	session.script(look("a"), shrink("s1", "a"), look("b"), rewind("r1"), look("keep"), "first");
	await session.prompt("one");
	session.script(look("c"), rewind("r2"), look("d"), shrink("s2", "d"), "second");
	await session.prompt("two");
	for (const mark of HIDDEN) expect([mark, containsText(session.lastRequest.messages, mark)]).toEqual([mark, false]);
}

/** What of it is in these requests. */
const leaked = (requests: TestSession["requests"]) => HIDDEN.filter((mark) => containsText(requests, mark));

describe.each(piVersions())("with Pi $version nothing hidden is told to who summarises", (pi) => {
	test.each([10, 60, 200, 500, 900])("a compaction that keeps %i tokens", async (keepRecentTokens) => {
		await using session = await open(pi, { compaction: { keepRecentTokens } });
		await work(session);
		const entries = session.entries().map((entry) => JSON.stringify(entry));
		const before = session.requests.length;
		session.otherwise("SUMMARY");
		await session.compact().catch((error: Error) => expect(error.message).toMatch(/nothing to compact|too small/i));
		const asked = session.requests.slice(before);
		if (keepRecentTokens < 100) expect(asked.length).toBeGreaterThan(0);
		expect(leaked(asked)).toEqual([]);
		if (keepRecentTokens === 10) expect(containsText(asked, "SHORT-d-")).toBe(true);
		expect(
			session
				.entries()
				.slice(0, entries.length)
				.map((entry) => JSON.stringify(entry)),
		).toEqual(entries);
	});

	test("a compaction that comes by itself in the middle of a run", async () => {
		await using session = await open(pi, {
			models: [{ id: "model-a", contextWindow: 24_000, maxTokens: 1000 }],
			compaction: { enabled: true, reserveTokens: 4000, keepRecentTokens: 10 },
		});
		const full = { usage: { input: 21_000 } };
		session.script(
			...[look("a"), shrink("s1", "a"), look("b"), rewind("r1"), look("c"), rewind("r2"), look("d"), shrink("s2", "d")],
			{ ...(look("keep") as object), ...full },
		);
		session.otherwise({ text: "SUMMARY", ...full });
		await session.prompt("one");
		await session.idle();
		expect(session.entries().some(({ type }) => type === "compaction")).toBe(true);
		const summaries = session.requests.filter(({ messages }) => containsText(messages, "<conversation>"));
		expect(summaries.length).toBeGreaterThan(0);
		expect(leaked(summaries)).toEqual([]);
	});

	test("the branch that is left in /tree", async () => {
		await using session = await open(pi);
		await work(session);
		const entries = session.entries().map((entry) => JSON.stringify(entry));
		const first = session.branch().find((entry) => entry.type === "message" && entry.message.role === "user");
		const before = session.requests.length;
		session.otherwise("SUMMARY");
		await session.navigateTree(first?.id as string, { summarize: true });
		const asked = session.requests.slice(before);
		expect(asked).toHaveLength(1);
		expect(containsText(asked, "WORDS-keep-")).toBe(true);
		expect(leaked(asked)).toEqual([]);
		expect(
			session
				.entries()
				.slice(0, entries.length)
				.map((entry) => JSON.stringify(entry)),
		).toEqual(entries);
	});

	test("a compaction, and a branch, right after a resume and with a change that was made between turns", async () => {
		await using first = await open(pi);
		await work(first);
		await using session = await first.reopen();
		session.otherwise("SUMMARY");
		await session.compact();
		expect(leaked(session.requests)).toEqual([]);
		const user = session.branch().findLast((entry) => entry.type === "message" && entry.message.role === "user");
		await session.navigateTree(user?.id as string, { summarize: true });
		expect(leaked(session.requests)).toEqual([]);
	});
});
