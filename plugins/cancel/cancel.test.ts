import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { describe, expect, test } from "vitest";
import { DEFAULT_PLUGINS } from "../../src/default-set.ts";
import { mulliganWith } from "../../src/extension.ts";
import type { Plugin } from "../../src/kernel/plugin.ts";
import {
	type Call,
	containsText,
	newestPi,
	type OpenSessionOptions,
	openSession,
	sessionLog,
	type TestSession,
	textOf,
} from "../../src/testing/index.ts";
import { KernelSession } from "../../test/support/kernel-session.ts";
import { atOnce, call, note, records, wire } from "../../test/support/mulligan.ts";

const BULK = "x".repeat(1000);
const tools = { read: ({ path }: Record<string, unknown>) => `READ-${path} ${BULK}`, grep: () => `GREP ${BULK}` };

/** A session with the default set and these plugins, given as they are: loading them is tested elsewhere, and slow. */
const open = (plugins: readonly Plugin[] = [], more: Partial<OpenSessionOptions> = {}) =>
	openSession({
		tools,
		extensionPaths: [],
		extensions: [(pi: ExtensionAPI) => mulliganWith([...DEFAULT_PLUGINS, ...plugins], pi)],
		settings: { mulligan: atOnce },
		...more,
	});

/** What our tools answered, in order. */
const answers = (session: TestSession) =>
	session.branch().flatMap((entry) => {
		if (entry.type !== "message" || entry.message.role !== "toolResult") return [];
		const { toolName, details } = entry.message;
		return toolName.startsWith("mulligan_") ? [{ text: textOf(entry.message), details: details as object }] : [];
	});
const lastAnswer = (session: TestSession) => answers(session).at(-1) ?? { text: "", details: {} };

/** One prompt whose responses make these calls, one message each; calls may be made of what the session has by then. */
async function prompt(session: TestSession, ...batches: readonly ((() => readonly Call[]) | readonly Call[])[]) {
	session.script(...batches.map((batch) => () => ({ calls: typeof batch === "function" ? batch() : batch })), "done");
	await session.prompt("go");
}

const read = (id: string) => call.tool(id, "read", { path: id });
const shrink = (id: string, of: string) => call.shrink(id, { by_tool_call_id: of }, `short ${id}`);
const markerId = (session: TestSession, type: "rewind" | "shrink", index = 0) =>
	String(records(session, `mulligan:${type}`)[index]?.id);
const entryId = (session: TestSession, type: "rewind" | "shrink") =>
	session.entries().find((entry) => entry.type === "custom" && entry.customType === `mulligan:${type}`)?.id;
const cancelled = (session: TestSession) => records(session, "mulligan:cancel").map(({ targetId }) => targetId);
const seen = (session: TestSession, id: string) =>
	session.lastRequest.messages.flatMap((message) =>
		message.role === "toolResult" && message.toolCallId === id ? [textOf(message)] : [],
	)[0];

const NOTHING = {
	text: "Mulligan: nothing to cancel — no active or queued op matches.",
	details: { cancelled: false },
};
const REWIND_IS_BACK =
	"Mulligan: the rewind is cancelled: from the next request what was hidden is back, its note is gone. Files are as they are.";
const SHRINK_IS_BACK =
	"Mulligan: the shrink is cancelled: from the next request the full result is back. Files are as they are.";

describe("a shrink is taken back", () => {
	test.each<[string, (session: TestSession) => Record<string, unknown>]>([
		["by the call of its result", () => ({ target: { by_tool_call_id: "a" } })],
		["by the tool of its result", () => ({ target: { by_tool_name: "read", occurrence: "first" } })],
		["by its marker's id", (session) => ({ markerId: markerId(session, "shrink") })],
		["by its marker's entry", (session) => ({ markerId: entryId(session, "shrink") })],
	])("%s: the full result is there again, byte for byte", async (_how, args) => {
		await using session = await open();
		await prompt(session, [read("a"), read("b")], [shrink("s", "a")], () => [call.cancel("k", args(session))]);
		expect(lastAnswer(session)).toEqual({
			text: SHRINK_IS_BACK,
			details: { cancelled: true, markerId: markerId(session, "shrink") },
		});
		const whole = session.requests[1]?.messages;
		expect(wire(session.lastRequest.messages.slice(0, whole?.length))).toEqual(wire(whole));
		expect(records(session, "mulligan:cancel")).toEqual([
			{
				schema: "pi-mulligan",
				v: 1,
				kind: "cancel",
				seq: expect.any(Number),
				ts: expect.any(Number),
				targetId: markerId(session, "shrink"),
			},
		]);
	});
});

describe("a rewind is taken back", () => {
	test.each<[string, (session: TestSession) => Record<string, unknown>]>([
		["by the call of a hidden result", () => ({ target: { by_tool_call_id: "a" } })],
		["by the tool of a hidden result", () => ({ target: { by_tool_name: "read" } })],
		["by its marker's id", (session) => ({ markerId: markerId(session, "rewind") })],
		["by its marker's entry", (session) => ({ markerId: entryId(session, "rewind") })],
	])("%s: what was hidden is there again byte for byte, and its note is gone", async (_how, args) => {
		await using session = await open();
		await prompt(session, [call.tool("g", "grep")], [read("a")], [call.rewind("r")], () => [
			call.cancel("k", args(session)),
		]);
		expect(lastAnswer(session)).toEqual({
			text: REWIND_IS_BACK,
			details: { cancelled: true, markerId: markerId(session, "rewind") },
		});
		const whole = session.requests[2]?.messages;
		expect(wire(session.lastRequest.messages.slice(0, whole?.length))).toEqual(wire(whole));
		expect(containsText(session.requests[3]?.messages, "Rewound: ")).toBe(true);
		expect(containsText(session.lastRequest.messages, "Rewound: ")).toBe(false);
	});

	test("and the notes of other rewinds stay", async () => {
		await using session = await open();
		await prompt(
			session,
			[read("a")],
			[call.rewind("r1", { note: note("FIRST") })],
			[read("b")],
			[call.rewind("r2", { note: note("SECOND") })],
			() => [call.cancel("k", { markerId: markerId(session, "rewind", 0) })],
		);
		const { messages } = session.lastRequest;
		expect([seen(session, "a") !== undefined, seen(session, "b")]).toEqual([true, undefined]);
		const notes = messages.map(textOf).filter((text) => text.startsWith("Rewound: "));
		expect(notes).toEqual([expect.stringContaining("What happened: SECOND")]);
	});

	test("in a later prompt, from an earlier one", async () => {
		await using session = await open();
		await prompt(session, [read("a")], [call.rewind("r")]);
		await prompt(session, [call.cancel("k", { target: { by_tool_name: "read" } })]);
		expect(seen(session, "a")).toBe(`READ-a ${BULK}`);
	});

	test("and its checkpoint is not set again", async () => {
		const log = sessionLog();
		log.user("first");
		const checkpoint = log.custom("mulligan:checkpoint", {
			schema: "pi-mulligan",
			v: 1,
			kind: "checkpoint",
			seq: 1,
			ts: 1,
			name: "here",
		});
		log.label(checkpoint, "mulligan:checkpoint:here");
		log.batch([{ id: "a", name: "read", result: "A" }]);
		await using session = await open([], { log });
		await prompt(session, [call.rewind("r", { granularity: "checkpoint", checkpoint: "here" })], () => [
			call.cancel("k", { markerId: markerId(session, "rewind") }),
		]);
		expect(seen(session, "a")).toBe("A");
		expect(session.sessionManager.getLabel(checkpoint)).toBeUndefined();
	});
});

describe("nothing is taken back", () => {
	test.each<[string, (session: TestSession) => Record<string, unknown>]>([
		["where no marker has this id", () => ({ markerId: "nowhere" })],
		["where this is no marker's entry", (session) => ({ markerId: session.branch()[0]?.id })],
		["where the result was never touched", () => ({ target: { by_tool_call_id: "b" } })],
		["where no such call was made", () => ({ target: { by_tool_call_id: "nowhere" } })],
		["where no such tool was called", () => ({ target: { by_tool_name: "bash" } })],
		["where the newest result of a tool was never touched", () => ({ target: { by_tool_name: "read" } })],
		[
			"where the id matches nothing, whatever the target",
			() => ({ markerId: "nowhere", target: { by_tool_call_id: "a" } }),
		],
	])("%s", async (_why, args) => {
		await using session = await open();
		await prompt(session, [read("a"), read("b")], [shrink("s", "a")], () => [call.cancel("k", args(session))]);
		expect(lastAnswer(session)).toEqual(NOTHING);
		expect(cancelled(session)).toEqual([]);
		expect(seen(session, "a")).toContain("<context-shrunk>");
	});

	test.each<[string, (session: TestSession) => Record<string, unknown>]>([
		["target", () => ({ target: { by_tool_call_id: "a" } })],
		["marker's id", (session) => ({ markerId: markerId(session, "shrink") })],
	])("where it was already, by %s", async (_how, args) => {
		await using session = await open();
		await prompt(
			session,
			[read("a")],
			[shrink("s", "a")],
			() => [call.cancel("k1", args(session))],
			() => [call.cancel("k2", args(session))],
		);
		expect(answers(session).slice(1)).toEqual([
			{ text: SHRINK_IS_BACK, details: { cancelled: true, markerId: markerId(session, "shrink") } },
			NOTHING,
		]);
		expect(cancelled(session)).toHaveLength(1);
	});

	test("where the op is on another branch", async () => {
		await using session = await open();
		await prompt(session, [read("a")], [shrink("s", "a")]);
		const result = session.branch().find((entry) => entry.type === "message" && entry.message.role === "toolResult");
		await session.navigateTree(result?.id ?? "");
		await prompt(session, [call.cancel("k", { markerId: markerId(session, "shrink") })]);
		expect(lastAnswer(session)).toEqual(NOTHING);
	});

	test.each<[string, Record<string, unknown>, string]>([
		["is given", {}, "give target or markerId."],
		["says anything", { markerId: "" }, "give target or markerId."],
		[
			"names anything",
			{ target: {} },
			'target needs by_tool_call_id, or by_tool_name with occurrence "last" or "first".',
		],
	])("where neither target nor markerId %s: that is refused", async (_what, args, reason) => {
		await using session = await open();
		await prompt(session, [read("a")], [shrink("s", "a")], [call.cancel("k", args)]);
		expect(lastAnswer(session)).toEqual({ text: `Mulligan: refused — ${reason}`, details: { refused: "target" } });
		expect(cancelled(session)).toEqual([]);
	});
});

describe("of two ops", () => {
	test("the one that markerId names is taken back where a target is given too", async () => {
		await using session = await open();
		await prompt(session, [read("a"), read("b")], [shrink("s1", "a"), shrink("s2", "b")], () => [
			call.cancel("k", { markerId: markerId(session, "shrink", 0), target: { by_tool_call_id: "b" } }),
		]);
		expect(cancelled(session)).toEqual([markerId(session, "shrink", 0)]);
		expect(seen(session, "b")).toContain("<context-shrunk>");
	});

	test("the one that markerId names is taken back where the target names nothing", async () => {
		await using session = await open();
		await prompt(session, [read("a")], [shrink("s", "a")], () => [
			call.cancel("k", { markerId: markerId(session, "shrink"), target: {} }),
		]);
		expect(cancelled(session)).toEqual([markerId(session, "shrink")]);
	});

	test("of one result the newer is taken back first, then the older: shrinks", async () => {
		await using session = await open();
		const cancel = (id: string) => call.cancel(id, { target: { by_tool_call_id: "a" } });
		await prompt(session, [read("a")], [shrink("longer s1", "a")], [shrink("s2", "a")], [cancel("k1")], [cancel("k2")]);
		expect(cancelled(session)).toEqual([markerId(session, "shrink", 1), markerId(session, "shrink", 0)]);
		expect(containsText(session.requests[4]?.messages, "short longer s1\n</context-shrunk>")).toBe(true);
		expect(answers(session).at(-2)?.text).toContain("your earlier summary of the result is back");
		expect(lastAnswer(session).text).toBe(SHRINK_IS_BACK);
		expect(seen(session, "a")).toBe(`READ-a ${BULK}`);
	});

	test("of one result the older is taken back by its id: the later summary stands, and that is said", async () => {
		await using session = await open();
		await prompt(session, [read("a")], [shrink("longer s1", "a")], [shrink("s2", "a")], () => [
			call.cancel("k", { markerId: markerId(session, "shrink", 0) }),
		]);
		expect(lastAnswer(session).text).toBe(
			"Mulligan: the shrink is cancelled: a later summary of the same result still stands. Files are as they are.",
		);
		expect(seen(session, "a")).toContain("short s2");
	});

	test("of one result the shrink is taken back while a rewind hides it: nothing else changes, and that is said", async () => {
		await using session = await open();
		await prompt(session, [read("a")], [shrink("s", "a")], [call.rewind("r")], () => [
			call.cancel("k", { markerId: markerId(session, "shrink") }),
		]);
		expect(lastAnswer(session).text).toBe(
			"Mulligan: the shrink is cancelled: a rewind hides the result, so that nothing else changes. Files are as they are.",
		);
		expect(seen(session, "a")).toBeUndefined();
	});

	test("of two rewinds that hide the same, one is taken back: what the other hides stays hidden, and that is said", async () => {
		const log = sessionLog();
		log.user("first");
		const { results, assistant } = log.batch([{ id: "a", name: "read", result: "A" }]);
		const base = { schema: "pi-mulligan", v: 1, kind: "rewind", ts: 1, granularity: "last_turn", options: {} };
		const body = { ...base, note: note(), ledger: { filesRead: [], filesModified: [], bashSideEffects: [] } };
		const hides = { hideEntryIds: [assistant, ...results], excludeToolCallId: "r" };
		log.custom("mulligan:rewind", { ...body, ...hides, id: "m1", seq: 1 });
		log.custom("mulligan:rewind", { ...body, ...hides, id: "m2", seq: 2 });
		await using session = await open([], { log });
		await prompt(session, [call.cancel("k", { markerId: "m2" })]);
		expect(lastAnswer(session).text).toBe(
			"Mulligan: the rewind is cancelled: from the next request what no other rewind hides is back, its note is gone. Files are as they are.",
		);
		expect(seen(session, "a")).toBeUndefined();
	});

	test("of one result the newer is taken back first, then the older: a rewind of a shrunk result", async () => {
		await using session = await open();
		const cancel = (id: string) => call.cancel(id, { target: { by_tool_call_id: "a" } });
		await prompt(session, [read("a")], [shrink("s", "a")], [call.rewind("r")], [cancel("k1")], [cancel("k2")]);
		expect(cancelled(session)).toEqual([markerId(session, "rewind"), markerId(session, "shrink")]);
	});

	test("a shrink that came after the cancel of a rewind is newer than that rewind", async () => {
		await using session = await open();
		const cancel = (id: string) => call.cancel(id, { target: { by_tool_call_id: "a" } });
		await prompt(session, [read("a")], [call.rewind("r1")], [cancel("k1")], [shrink("s", "a")], [cancel("k2")]);
		expect(cancelled(session)).toEqual([markerId(session, "rewind"), markerId(session, "shrink")]);
	});
});

describe("an op that waits", () => {
	/** A plugin that holds every batch back, and tells the ids of those. */
	function holding() {
		const ids: string[] = [];
		const holder: Plugin = {
			name: "holder",
			setup: ({ hooks }) =>
				hooks.onMoment.tap("holder", ({ ops }) => {
					ids.push(...ops.map(({ id }) => id));
					return false;
				}),
		};
		return { holder, ids };
	}

	test.each<[string, (ids: readonly string[]) => Record<string, unknown>]>([
		["by the call of its result", () => ({ target: { by_tool_call_id: "a" } })],
		["by its marker's id", ([id]) => ({ markerId: id })],
	])("is dropped from the queue %s", async (_how, args) => {
		const { holder, ids } = holding();
		await using session = await open([holder]);
		await prompt(session, [read("a")], [shrink("s", "a")], () => [call.cancel("k", args(ids))]);
		expect(lastAnswer(session)).toEqual({
			text: "Mulligan: the queued shrink of read a is dropped; nothing had changed.",
			details: { cancelled: true, markerId: ids[0] },
		});
		expect(records(session, "mulligan:queued").map(({ status }) => status)).toEqual(["queued", "cancelled"]);
		expect(cancelled(session)).toEqual([]);
	});

	test.each([
		["rides the cancel of another, for the view changes", false, ["queued", "activated"]],
		["stays where it is when what the cancelled one covers has been compacted away", true, ["queued"]],
	])("%s", async (_what, isCompacted, statuses) => {
		const rules = { maxMoments: 1, flushShedTokens: 1, safetyValveTokens: 1_000_000 };
		const session = await KernelSession.open(newestPi(), { rules });
		const last = { target: { by_tool_name: "read", occurrence: "last" }, replacement: "short" };
		session.user("one");
		session.batch(["read"], 400);
		await session.op("mulligan_shrink", last);
		session.user("two");
		if (isCompacted) await session.compact(session.branch().at(-1)?.id ?? "");
		session.batch(["read"], 400);
		await session.op("mulligan_shrink", last);
		const written = (type: string) =>
			session.branch().filter((entry) => entry.type === "custom" && entry.customType === type);
		await session.op("mulligan_cancel", { markerId: written("mulligan:shrink")[0]?.id });
		expect(written("mulligan:cancel")).toHaveLength(1);
		expect(written("mulligan:queued")).toMatchObject(statuses.map((status) => ({ data: { status } })));
	});

	test("is newer than one that is active", async () => {
		const { holder, ids } = holding();
		await using session = await open();
		await prompt(session, [read("a")], [shrink("s1", "a")]);
		await using again = await session.reopen({ extensions: [(pi) => mulliganWith([...DEFAULT_PLUGINS, holder], pi)] });
		await prompt(
			again,
			[call.rewind("r", { granularity: "last_tool_call_group" })],
			[call.cancel("k", { target: { by_tool_call_id: "a" } })],
		);
		expect(lastAnswer(again).details).toEqual({ cancelled: true, markerId: ids[0] });
		expect(lastAnswer(again).text).toContain("the queued rewind of the last tool call group is dropped");
		expect(seen(again, "a")).toContain("<context-shrunk>");
	});

	test("of the same message is dropped before it becomes active, and its own result says so", async () => {
		await using session = await open();
		await prompt(session, [read("a")], [shrink("s", "a"), call.cancel("k", { target: { by_tool_call_id: "a" } })]);
		expect(answers(session).map(({ text }) => text)).toEqual([
			"Mulligan: shrink recorded. Matched: yes.\nDropped: cancelled. The result is still whole.",
			"Mulligan: the queued shrink of read a is dropped; nothing had changed.",
		]);
		expect(records(session, "mulligan:shrink")).toEqual([]);
		expect(seen(session, "a")).toBe(`READ-a ${BULK}`);
	});
});
