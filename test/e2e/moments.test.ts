import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { describe, expect, test } from "vitest";
import { DEFAULT_PLUGINS } from "../../src/default-set.ts";
import { mulliganWith } from "../../src/extension.ts";
import type { Plugin } from "../../src/kernel/plugin.ts";
import {
	containsText,
	type ModelRequest,
	openSession,
	orphans,
	piVersions,
	sessionLog,
	type TestSession,
	textOf,
} from "../../src/testing/index.ts";
import { atOnce, bulk, call, records } from "../support/mulligan.ts";

const edges = piVersions().filter(({ name }) => name === "oldest" || name === "newest");
const tools = {
	grep: ({ pattern }: Record<string, unknown>) => bulk(`GREP-${pattern}`),
	log: () => bulk("LOG"),
	huge: () => bulk("HUGE", 1100),
};
const answers = (session: TestSession) =>
	session.lastRequest.messages.filter(({ role }) => role === "toolResult").map((message) => textOf(message));
const statuses = (session: TestSession) => records(session, "mulligan:queued").map(({ status }) => status);
const models = [{ id: "model-a" }, { id: "model-b" }];
const spent = { rewrites: { maxMoments: 1, flushShedTokens: 100_000 } };

/** A session that has spent its one moment on two shrinks, with a third shrink queued. */
async function spentWithQueue(pi: (typeof edges)[number], more: Partial<Parameters<typeof openSession>[0]> = {}) {
	const session = await openSession({ pi, tools, ...more, settings: { mulligan: spent, ...more.settings } });
	session.script(
		{ calls: [call.tool("a", "grep", { pattern: "a" }), call.tool("b", "grep", { pattern: "b" })] },
		{ calls: [call.shrink("sa", { by_tool_call_id: "a" }), call.shrink("sb", { by_tool_call_id: "b" })] },
		{ calls: [call.tool("c", "log")] },
		{ calls: [call.shrink("sc", { by_tool_call_id: "c" }, "QUEUED-TEXT")] },
		"done",
	);
	await session.prompt("go");
	expect(containsText(session.lastRequest.messages, "LOG\n0123")).toBe(true);
	expect(statuses(session)).toEqual(["queued"]);
	return session;
}

describe.each(edges)("with Pi $version", (pi) => {
	test("a small op is queued, changes nothing and says what will activate it", async () => {
		await using session = await openSession({ pi, tools });
		session.script(
			{ calls: [call.tool("c1", "log")] },
			{ calls: [call.shrink("c2", { by_tool_name: "log" })] },
			"done",
		);
		await session.prompt("go");
		expect(containsText(session.lastRequest.messages, "LOG\n0123")).toBe(true);
		expect(answers(session).at(-1)).toMatch(
			/^Mulligan: shrink recorded\. Matched: yes\.\nQueued \(~\d+ tokens wait\): the result is still whole\. It becomes active when about 4000 tokens wait, a second change comes in one turn, or you call mulligan_audit\.$/,
		);
		expect(records(session, "mulligan:shrink")).toEqual([]);
		expect(statuses(session)).toEqual(["queued"]);
	});

	test("an op of the flush volume is active at once, and what waited goes with it", async () => {
		await using session = await openSession({ pi, tools });
		session.script(
			{ calls: [call.tool("c1", "log")] },
			{ calls: [call.shrink("c2", { by_tool_name: "log" }, "small")] },
			{ calls: [call.tool("c3", "huge")] },
			{ calls: [call.shrink("c4", { by_tool_name: "huge" }, "big")] },
			"done",
		);
		await session.prompt("go");
		expect(containsText(session.lastRequest.messages, "LOG\n0123")).toBe(false);
		expect(containsText(session.lastRequest.messages, "HUGE\n0123")).toBe(false);
		expect(answers(session).at(-1)).toContain("Context updated: 2 result(s) summarized");
		expect(statuses(session)).toEqual(["queued", "activated"]);
	});

	test("five parallel small shrinks are one moment with one orientation line", async () => {
		await using session = await openSession({ pi, tools });
		const ids = ["a", "b", "c", "d", "e"];
		session.script(
			{ calls: ids.map((id) => call.tool(id, "grep", { pattern: id })) },
			{ calls: ids.map((id) => call.shrink(`s${id}`, { by_tool_call_id: id })) },
			"done",
		);
		await session.prompt("go");
		const told = answers(session).filter((text) => text.includes("Context updated: 5 result(s)"));
		expect(told).toHaveLength(1);
		expect(answers(session).at(-1)).toBe(told[0]);
		expect(statuses(session)).toEqual([]);
	});

	test("with the budget spent an op waits for a change of model", async () => {
		await using session = await spentWithQueue(pi, { models });
		await session.setModel("model-b");
		session.script("ok");
		await session.prompt("on");
		expect(containsText(session.lastRequest.messages, "QUEUED-TEXT\n</context-shrunk>")).toBe(true);
		expect(statuses(session)).toEqual(["queued", "activated"]);
	});

	test("with the budget spent an op rides the cancel of another", async () => {
		await using session = await spentWithQueue(pi);
		session.script({ calls: [call.cancel("x", { target: { by_tool_call_id: "a" } })] }, "done");
		await session.prompt("on");
		expect(containsText(session.lastRequest.messages, "GREP-a\n0123")).toBe(true);
		expect(containsText(session.lastRequest.messages, "QUEUED-TEXT\n</context-shrunk>")).toBe(true);
	});

	test("a queued op is kept out of a compaction's summary, and is written with it", async () => {
		await using session = await spentWithQueue(pi, {
			settings: { mulligan: spent, compaction: { keepRecentTokens: 10 } },
		});
		session.otherwise("SUMMARY");
		await session.compact();
		const asked = session.requests.slice(5);
		expect(asked.length).toBeGreaterThan(0);
		expect(containsText(asked, "LOG\n0123")).toBe(false);
		expect(statuses(session)).toHaveLength(2);
		expect(statuses(session)[1]).toMatch(/activated|dropped/);
	});

	test("a compaction that fails changes nothing", async () => {
		await using session = await spentWithQueue(pi, {
			settings: { mulligan: spent, compaction: { keepRecentTokens: 10 } },
		});
		session.otherwise({ error: "no summary today" });
		await session.compact().catch(() => undefined);
		session.script("ok");
		await session.prompt("on");
		expect(statuses(session)).toEqual(["queued"]);
		expect(containsText(session.lastRequest.messages, "LOG\n0123")).toBe(true);
	});

	test("a compaction that another extension cancels changes nothing", async () => {
		const veto = (api: ExtensionAPI) => void api.on("session_before_compact", () => ({ cancel: true }));
		await using session = await spentWithQueue(pi, {
			settings: { mulligan: spent, compaction: { keepRecentTokens: 10 } },
			extensions: [veto],
		});
		await session.compact().catch(() => undefined);
		expect(session.entries().filter(({ type }) => type === "compaction")).toEqual([]);
		session.script("ok");
		await session.prompt("on");
		expect(statuses(session)).toEqual(["queued"]);
		expect(containsText(session.lastRequest.messages, "LOG\n0123")).toBe(true);
		session.otherwise("SUMMARY");
	});

	test("an op whose target was summarised away is let go of, and the session goes on", async () => {
		await using session = await spentWithQueue(pi, {
			settings: { mulligan: spent, compaction: { keepRecentTokens: 10 } },
		});
		session.otherwise("SUMMARY");
		await session.compact();
		await session.prompt("on");
		expect(records(session, "mulligan:queued").at(-1)).toMatchObject({
			status: "dropped",
			reason: "what it touches has left the context",
		});
		expect(records(session, "mulligan:shrink")).toHaveLength(2);
		expect(containsText(session.lastRequest.messages, "SUMMARY")).toBe(true);
	});

	test("with the budget spent the safety valve spends one more, strictly above its volume", async () => {
		const valve = async (safetyValveTokens: number) => {
			await using session = await openSession({
				pi,
				tools,
				settings: { mulligan: { rewrites: { maxMoments: 1, flushShedTokens: 0, safetyValveTokens } } },
			});
			session.script(
				{ calls: [call.tool("c1", "log")] },
				{ calls: [call.shrink("c2", { by_tool_name: "log" })] },
				{ calls: [call.tool("c3", "huge")] },
				{ calls: [call.shrink("c4", { by_tool_name: "huge" })] },
				"done",
			);
			await session.prompt("go");
			expect(containsText(session.lastRequest.messages, "LOG\n0123")).toBe(false);
			return {
				isShrunk: !containsText(session.lastRequest.messages, "HUGE\n0123"),
				volume: (records(session, "mulligan:queued")[0]?.op as { shedTokens?: number } | undefined)?.shedTokens,
			};
		};
		const { volume } = await valve(1e6);
		expect(volume).toBeGreaterThan(4000);
		expect(await valve(volume ?? 0)).toEqual({ isShrunk: false, volume });
		expect(await valve((volume ?? 0) - 1)).toEqual({ isShrunk: true, volume: undefined });
	});

	test("a budget of two spends two, and then waits", async () => {
		const rewrites = { maxMoments: 2, flushShedTokens: 0 };
		await using session = await openSession({ pi, tools, settings: { mulligan: { rewrites } } });
		const steps = ["a", "b", "c"].flatMap((id) => [
			{ calls: [call.tool(id, "grep", { pattern: id })] },
			{ calls: [call.shrink(`s${id}`, { by_tool_call_id: id })] },
		]);
		session.script(...steps, "done");
		await session.prompt("go");
		const isWhole = (id: string) => containsText(session.lastRequest.messages, `GREP-${id}\n0123`);
		expect(["a", "b", "c"].map(isWhole)).toEqual([false, false, true]);
		expect(statuses(session)).toEqual(["queued"]);
	});

	test("a queued op is back after a resume and a reload, and can be cancelled", async () => {
		await using first = await spentWithQueue(pi);
		await using session = await first.reopen();
		await session.reload();
		session.script({ calls: [call.cancel("x", { target: { by_tool_call_id: "c" } })] }, "done");
		await session.prompt("on");
		expect(answers(session).at(-1)).toMatch(/the queued shrink of log c is dropped/);
		expect(statuses(session)).toEqual(["queued", "cancelled"]);
		expect(records(session, "mulligan:cancel")).toEqual([]);
	});

	test("a queued rewind that becomes active later says so in its note, without what was next then", async () => {
		await using session = await openSession({ pi, tools, models });
		session.script({ calls: [call.tool("c1", "grep", { pattern: "wide" })] }, { calls: [call.rewind("c2")] }, "done");
		await session.prompt("go");
		expect(containsText(session.lastRequest.messages, "GREP-wide\n0123")).toBe(true);
		await session.setModel("model-b");
		session.script("ok", "ok");
		await session.prompt("on");
		await session.prompt("and on");
		for (const { messages } of session.requests.slice(-2)) {
			expect(containsText(messages, "GREP-wide\n0123")).toBe(false);
			const notes = messages.map((message) => textOf(message)).filter((text) => text.startsWith("Rewound"));
			expect(notes).toHaveLength(1);
			expect(notes[0]).toMatch(/^Rewound now \(asked for earlier\): the last tool call group left your context\./);
			expect(notes[0]).not.toContain("Next:");
			expect(orphans(messages)).toEqual({ calls: [], results: [] });
		}
	});

	test("a moved leaf takes the queue of its branch with it", async () => {
		await using session = await openSession({ pi, tools });
		session.script(
			{ calls: [call.tool("c1", "log")] },
			{ calls: [call.shrink("c2", { by_tool_name: "log" }, "small")] },
			"done",
		);
		await session.prompt("go");
		const result = session.branch().find((entry) => entry.type === "message" && entry.message.role === "toolResult");
		await session.navigateTree(result?.id ?? "");
		session.script(
			{ calls: [call.tool("c3", "huge")] },
			{ calls: [call.shrink("c4", { by_tool_name: "huge" }, "big")] },
			"done",
		);
		await session.prompt("elsewhere");
		expect(containsText(session.lastRequest.messages, "LOG\n0123")).toBe(true);
		expect(containsText(session.lastRequest.messages, "<context-shrunk>\nbig")).toBe(true);
		expect(answers(session).at(-1)).toContain("Context updated: 1 result(s)");
	});

	test("no moments at all: rewind and shrink refuse, cancel works", async () => {
		await using session = await openSession({ pi, tools, settings: { mulligan: { rewrites: { maxMoments: 0 } } } });
		session.script(
			{ calls: [call.tool("c1", "log")] },
			{
				calls: [call.rewind("c2"), call.shrink("c3", { by_tool_name: "log" }), call.cancel("c4", { markerId: "none" })],
			},
			"done",
		);
		await session.prompt("go");
		expect(answers(session).slice(1)).toEqual([
			"Mulligan: refused — this session allows no change of earlier context (rewrites.maxMoments is 0).",
			"Mulligan: refused — this session allows no change of earlier context (rewrites.maxMoments is 0).",
			"Mulligan: nothing to cancel — no active or queued op matches.",
		]);
	});

	describe("the status", () => {
		const status = ({ ui }: TestSession) => ui.statuses.get("mulligan");

		test("tells what waits, what is left and what was shed, also after a resume and a reload", async () => {
			await using first = await spentWithQueue(pi);
			expect(status(first)).toMatch(/^mulligan · 1 queued · 0 moments left · ~\d+ tokens shed$/);
			await using session = await first.reopen();
			expect(status(session)).toMatch(/^mulligan · 1 queued · 1 moment left · ~\d+ tokens shed$/);
			session.ui.statuses.clear();
			await session.reload();
			expect(status(session)).toMatch(/^mulligan · 1 queued · 1 moment left · ~\d+ tokens shed$/);
		});

		test("follows a change of model, /tree and a compaction between two turns", async () => {
			const settings = { mulligan: spent, compaction: { keepRecentTokens: 10 } };
			await using session = await spentWithQueue(pi, { models, settings });
			await session.setModel("model-b");
			expect(status(session)).toMatch(/^mulligan · 0 moments left · ~\d+ tokens shed$/);
			const leaf = session.branch().at(-1)?.id ?? "";
			await session.navigateTree(session.branch().find(({ type }) => type === "message")?.id ?? "");
			expect(status(session)).toBeUndefined();
			await session.navigateTree(leaf);
			expect(status(session)).toMatch(/^mulligan · 0 moments left · ~\d+ tokens shed$/);
			session.otherwise("SUMMARY");
			await session.compact();
			expect(status(session)).toBeUndefined();
		});

		test("follows a command that drops what waits", async () => {
			await using session = await openSession({ pi, tools });
			session.script("hello", { calls: [call.tool("c1", "log")] }, "found");
			await session.prompt("go");
			await session.prompt("/mulligan_checkpoint start");
			await session.prompt("on");
			session.script({ calls: [call.rewind("c2", { granularity: "checkpoint", checkpoint: "start" })] }, "done");
			await session.prompt("back");
			expect(status(session)).toBe("mulligan · 1 queued · 1 moment left");
			await session.prompt("/mulligan_checkpoint_revoke start");
			expect(status(session)).toBeUndefined();
		});

		test("is left alone by a command that is over only after its session", async () => {
			const { promise: over, resolve: end } = Promise.withResolvers<void>();
			const slow: Plugin = {
				name: "slow",
				setup: ({ command }) => command("slow", { description: "Takes its time", run: () => over }),
			};
			const extensions = [(api: ExtensionAPI) => mulliganWith([...DEFAULT_PLUGINS, slow], api)];
			await using session = await openSession({ pi, tools, extensionPaths: [], extensions });
			const running = session.prompt("/slow");
			await session.newSession();
			end();
			await running;
			expect(session.errors).toEqual([]);
		});

		test("counts what was shed in the model's own tokens once these are known", async () => {
			/** A provider that counts two tokens where the plain estimate counts one, of all that it is sent. */
			const doubled = (reply: object) => (request: ModelRequest) => ({
				...reply,
				usage: { input: Math.round(JSON.stringify([request.system, request.tools, request.messages]).length / 2) },
			});
			await using session = await openSession({ pi, tools, settings: { mulligan: atOnce } });
			session.script({ calls: [call.tool("c1", "huge")] }, { calls: [call.shrink("c2", { by_tool_name: "huge" })] });
			session.otherwise("done");
			await session.prompt("go");
			const shed = () => Number(/~([\d.]+)k tokens shed/.exec(status(session) ?? "")?.[1]);
			const plain = shed();
			session.otherwise(doubled({ text: "ok" }));
			for (let turns = 0; turns < 3; turns++) await session.prompt("on");
			expect(shed() / plain).toBeGreaterThan(1.5);
		});
	});

	test("a resume after more than five minutes activates what waits", async () => {
		const log = sessionLog();
		log.user("go");
		const { results } = log.batch([{ name: "log", args: {}, result: bulk("LOG") }]);
		log.assistant({ calls: [call.shrink("c2", { by_tool_name: "log" }, "LATE")] });
		const target = { by_tool_name: "log" };
		const body = { id: "m1", target, replacement: "LATE", pinnedEntryId: results[0] };
		log.custom("mulligan:queued", {
			...header("queued"),
			id: "m1",
			status: "queued",
			op: {
				plugin: "shrink",
				describe: "shrink of log",
				effect: "replace",
				type: "mulligan:shrink",
				body,
				entryIds: results,
				shedTokens: 10,
				toolCallId: "c2",
			},
		});
		log.result("c2", "Mulligan: shrink recorded. Matched: yes.");
		log.assistant("done");
		await using session = await openSession({ pi, log });
		session.script("ok");
		await session.prompt("on");
		expect(containsText(session.lastRequest.messages, "<context-shrunk>\nLATE")).toBe(true);
		expect(statuses(session)).toEqual(["queued", "activated"]);
	});

	test("what an earlier mulligan wrote keeps its effect, old fields and missing ones alike", async () => {
		const log = sessionLog();
		log.user("go");
		const grep = log.batch([{ name: "grep", args: {}, result: bulk("GREP-old") }]);
		const first = log.batch([{ name: "log", args: {}, result: bulk("LOG-one") }]);
		log.batch([{ name: "log", args: {}, result: bulk("LOG-two") }]);
		log.custom("mulligan:rewind", {
			...header("rewind"),
			id: "r1",
			granularity: "last_tool_call_group",
			hideEntryIds: [grep.assistant, ...grep.results],
			excludeToolCallId: "gone",
			note: { what_happened: "OLD-NOTE", true_current_state: "s", next: "n" },
		});
		log.custom("mulligan:shrink", {
			...header("shrink"),
			id: "s1",
			target: {},
			replacement: "PINNED",
			pinnedEntryId: first.results[0],
		});
		log.custom("mulligan:shrink", {
			...header("shrink"),
			id: "s2",
			target: { by_content_includes: "LOG-two" },
			replacement: "BY-CONTENT",
		});
		log.assistant("done");
		await using session = await openSession({ pi, log });
		session.script("ok");
		await session.prompt("on");
		const { messages } = session.lastRequest;
		for (const gone of ["GREP-old\n0123", "LOG-one\n0123", "LOG-two\n0123"])
			expect(containsText(messages, gone)).toBe(false);
		for (const shown of ["OLD-NOTE", "<context-shrunk>\nPINNED", "<context-shrunk>\nBY-CONTENT"])
			expect(containsText(messages, shown)).toBe(true);
		expect(orphans(messages)).toEqual({ calls: [], results: [] });
	});
});

const header = (kind: string) => ({ schema: "pi-mulligan", v: 1, kind, seq: 1, ts: 1 });
