import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { describe, expect, test } from "vitest";
import { faultsOfForm } from "../../src/testing/conformance/form.ts";
import { containsText, openSession, piVersions, type Step, type TestSession } from "../../src/testing/index.ts";
import { atOnce, bulk, call, records } from "../support/mulligan.ts";

const tools = { grep: ({ mark }: Record<string, unknown>) => bulk(`RESULT-${mark}-`) };
const look = (mark: string): Step => ({ text: `WORDS-${mark}-`, calls: [call.tool(mark, "grep", { mark })] });
const shrink = (id: string, of: string): Step => ({
	calls: [call.shrink(id, { by_tool_call_id: of }, `SHORT-${of}-`)],
});
const rewind = (id: string): Step => ({ calls: [call.rewind(id)] });
const OVERFLOW = "prompt is too long: 210000 tokens > 200000 maximum";

/** What is wrong with any of a session's requests once these marks are hidden. */
function wrong(session: TestSession, hidden: readonly string[], from: number): readonly string[] {
	return session.requests
		.slice(from)
		.flatMap(({ messages }, at) => [
			...faultsOfForm(messages).map((fault) => `request ${from + at}: ${fault}`),
			...hidden.filter((mark) => containsText(messages, mark)).map((mark) => `request ${from + at}: ${mark}`),
		]);
}

describe.each(piVersions())("with Pi $version", (pi) => {
	test("a request that is tried again after an error shows what the first try showed, and taking back still works", async () => {
		const retry = { enabled: true, maxRetries: 2, baseDelayMs: 1 };
		await using session = await openSession({
			pi,
			tools,
			settings: { mulligan: atOnce, retry, compaction: { enabled: false } },
		});
		session.script(
			look("a"),
			rewind("r"),
			{ error: "529 overloaded_error" },
			{ error: "529 overloaded_error" },
			look("b"),
			"done",
		);
		await session.prompt("go");
		await session.idle();
		expect(session.requests).toHaveLength(6);
		expect(wrong(session, ["RESULT-a-", "WORDS-a-"], 2)).toEqual([]);
		session.script(shrink("s", "b"), "on");
		await session.prompt("and now?");
		await session.prompt("/mulligan restore");
		session.script("on");
		await session.prompt("and now?");
		expect(wrong(session, [], 6)).toEqual([]);
		for (const mark of ["RESULT-a-", "WORDS-a-", "RESULT-b-"])
			expect(containsText(session.lastRequest.messages, mark)).toBe(true);
		expect(containsText(session.lastRequest.messages, "overloaded")).toBe(false);
		expect(session.errors).toEqual([]);
	});

	test("where the context overflows, the summary and the second try show nothing hidden", async () => {
		const compaction = { enabled: true, reserveTokens: 1000, keepRecentTokens: 10 };
		await using session = await openSession({ pi, tools, settings: { mulligan: atOnce, compaction } });
		session.script(look("a"), rewind("r"), look("b"), shrink("s", "b"), "done");
		await session.prompt("go");
		const before = session.requests.length;
		session.script({ error: OVERFLOW });
		session.otherwise("SUMMARY");
		await session.prompt("more");
		await session.idle();
		expect(session.entries().filter(({ type }) => type === "compaction")).toHaveLength(1);
		expect(wrong(session, ["RESULT-a-", "WORDS-a-", "RESULT-b-"], before)).toEqual([]);
		expect(session.ui.notifications.filter(({ message }) => message.includes("refused the request"))).toEqual([]);
		expect(records(session, "mulligan:cancel")).toEqual([]);
		expect(session.errors).toEqual([]);
	});

	test("what is steered in and what follows up while a moment activates stays, once, and in its order", async () => {
		await using session = await openSession({
			pi,
			tools,
			settings: { mulligan: atOnce, compaction: { enabled: false } },
		});
		session.script(
			look("a"),
			async () => {
				await session.steer("STEERED-1");
				await session.followUp("FOLLOWED-1");
				return { calls: [call.rewind("r"), call.tool("b", "grep", { mark: "b" })] };
			},
			"first",
			"second",
		);
		await session.prompt("go");
		await session.idle();
		const said = JSON.stringify(session.lastRequest.messages);
		expect(["STEERED-1", "FOLLOWED-1", "Rewound: the last"].map((text) => said.split(text).length - 1)).toEqual([
			1, 1, 1,
		]);
		expect(said.indexOf("STEERED-1")).toBeLessThan(said.indexOf("FOLLOWED-1"));
		expect(wrong(session, ["RESULT-a-"], 2)).toEqual([]);
	});

	const front = { role: "user", content: [{ type: "text", text: "a word before all" }], timestamp: 1 };
	test.each<[string, (messages: { role: string }[]) => object[]]>([
		["puts a message in front", (messages) => [front, ...messages]],
		[
			"takes the first prompt out",
			(messages) => messages.filter((_, at) => at !== messages.findIndex(({ role }) => role === "user")),
		],
		["hands out copies", (messages) => structuredClone(messages)],
		["adds one at the end", (messages) => [...messages, front]],
	])("another extension that %s, before us and after us, shifts nothing", async (_what, change) => {
		const rewrite = (api: ExtensionAPI) => {
			api.on("context", ((event: { messages: { role: string }[] }) => ({ messages: change(event.messages) })) as never);
		};
		for (const place of ["before", "after"] as const) {
			await using session = await openSession({
				pi,
				tools,
				settings: { mulligan: { ...atOnce, persistence: "view" }, compaction: { enabled: false } },
				...(place === "before"
					? { extensionPaths: [], extensions: [rewrite, (await import("../../src/extension.ts")).default as never] }
					: { extensions: [rewrite] }),
			});
			session.script(look("a"), rewind("r"), look("b"), shrink("s", "b"), look("c"), "done");
			await session.prompt("go");
			expect([
				place,
				session.requests
					.slice(4)
					.flatMap(({ messages }) => ["RESULT-a-", "RESULT-b-"].filter((mark) => containsText(messages, mark))),
			]).toEqual([place, []]);
			expect([place, containsText(session.lastRequest.messages, "RESULT-c-")]).toEqual([place, true]);
			expect([place, session.errors]).toEqual([place, []]);
		}
	});

	test("a session inside of another, as a sub-agent's, has its own ops, queue and view", async () => {
		await using outer = await openSession({
			pi,
			tools,
			settings: { mulligan: atOnce, compaction: { enabled: false } },
		});
		outer.script(
			look("a"),
			rewind("r"),
			async () => {
				await using inner = await openSession({
					pi,
					tools,
					settings: { mulligan: { rewrites: { flushShedTokens: 1e6 } } },
				});
				inner.script(look("a"), shrink("s", "a"), "inner");
				await inner.prompt("sub-task");
				expect(containsText(inner.lastRequest.messages, "RESULT-a-")).toBe(true);
				expect(records(inner, "mulligan:queued")).toHaveLength(1);
				return look("b") as never;
			},
			"done",
		);
		await outer.prompt("go");
		expect(wrong(outer, ["RESULT-a-"], 2)).toEqual([]);
		expect(containsText(outer.lastRequest.messages, "RESULT-b-")).toBe(true);
		expect(records(outer, "mulligan:queued")).toEqual([]);
	});
});
