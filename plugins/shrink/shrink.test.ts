import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { describe, expect, test } from "vitest";
import { DEFAULT_PLUGINS } from "../../src/default-set.ts";
import { mulliganWith } from "../../src/extension.ts";
import {
	type Call,
	containsText,
	type OpenSessionOptions,
	onePixel,
	openSession,
	piVersions,
	sessionLog,
	type TestSession,
	textOf,
} from "../../src/testing/index.ts";
import { atOnce, call, records } from "../../test/support/mulligan.ts";
import { replacementByEntry, shrunk, stamped } from "./replace.ts";

const BULK = "x".repeat(1000);
const tools = {
	read: ({ path }: Record<string, unknown>) => `READ-${path} ${BULK}`,
	grep: () => `GREP ${BULK}`,
	size: ({ length }: Record<string, unknown>) => "y".repeat(Number(length)),
	shot: () => [onePixel],
	fail: () => {
		throw new Error(`FAILED ${BULK}`);
	},
};

/** The oldest Pi and the newest. */
const edges = piVersions().filter(({ name }) => name === "oldest" || name === "newest");

/** A session with these settings of ours. The default set is given as it is: loading it is tested elsewhere, and slow. */
const open = (mulligan: object = {}, more: Partial<OpenSessionOptions> = {}) =>
	openSession({
		tools,
		settings: { mulligan: { ...atOnce, ...mulligan } },
		extensionPaths: [],
		extensions: [(pi: ExtensionAPI) => mulliganWith(DEFAULT_PLUGINS, pi)],
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

/** One prompt whose responses make these calls, one message each, until an answer without calls. */
async function prompt(session: TestSession, ...batches: readonly (readonly Call[])[]) {
	session.script(...batches.map((calls) => ({ calls })), "done");
	await session.prompt("go");
}

const read = (id: string) => call.tool(id, "read", { path: id });
/** The results of the last request by call id, as the model sees them. */
const seen = (session: TestSession) =>
	Object.fromEntries(
		session.lastRequest.messages.flatMap((message) =>
			message.role === "toolResult" ? [[message.toolCallId, textOf(message)] as const] : [],
		),
	);
/** Which of the results are seen in short. */
const short = (session: TestSession) =>
	Object.entries(seen(session)).flatMap(([id, text]) => (text.startsWith("<context-shrunk>") ? [id] : []));

const NO_MATCH = "Mulligan: refused — that result is from a previous turn; only this turn's tool calls can be shrunk.";

describe("the target of a shrink", () => {
	const batch = [read("a"), read("b"), call.tool("c", "grep")];

	test.each<[string, Record<string, unknown>, string]>([
		["the result of a call", { by_tool_call_id: "a" }, "a"],
		["the last of a tool", { by_tool_name: "read", occurrence: "last" }, "b"],
		["the last of a tool where it says nothing", { by_tool_name: "read" }, "b"],
		["the first of a tool", { by_tool_name: "read", occurrence: "first" }, "a"],
		["the result of the call where both are given", { by_tool_call_id: "a", by_tool_name: "grep" }, "a"],
	])("is %s", async (_what, target, id) => {
		await using session = await open();
		await prompt(session, batch, [call.shrink("s", target)]);
		expect(short(session)).toEqual([id]);
		expect(seen(session)[id]).toBe("<context-shrunk>\nshort\n</context-shrunk>");
	});

	test.each<[string, Record<string, unknown>]>([
		["of an unknown call", { by_tool_call_id: "nowhere" }],
		["of a tool that was not called", { by_tool_name: "bash" }],
		["of a call of ours", { by_tool_call_id: "k" }],
		["of a tool of ours", { by_tool_name: "mulligan_cancel" }],
		["of the same message", { by_tool_call_id: "sibling" }],
	])("is no result %s", async (_what, target) => {
		await using session = await open();
		await prompt(
			session,
			batch,
			[call.cancel("k", { markerId: "x".repeat(200) })],
			[read("sibling"), call.shrink("s", target)],
		);
		expect(lastAnswer(session)).toEqual({ text: NO_MATCH, details: { refused: "no-match" } });
		expect(short(session)).toEqual([]);
		expect(records(session, "mulligan:shrink")).toEqual([]);
	});

	test("is no result of the same message where Pi runs its calls one by one either", async () => {
		await using session = await open({}, { tools: { read: { sequential: true, run: tools.read } } });
		await prompt(session, [read("sibling"), call.shrink("s", { by_tool_call_id: "sibling" })]);
		expect(lastAnswer(session).text).toBe(NO_MATCH);
	});

	test("is no result of the same message by its tool either: the one before is", async () => {
		await using session = await open();
		await prompt(session, batch, [read("sibling"), call.shrink("s", { by_tool_name: "read" })]);
		expect(short(session)).toEqual(["b"]);
	});

	test.each<[string, Record<string, unknown>]>([
		["by its call", { by_tool_call_id: "a" }],
		["by its tool", { by_tool_name: "read" }],
	])("is no result of an earlier prompt: %s", async (_what, target) => {
		await using session = await open();
		await prompt(session, batch);
		await prompt(session, [call.shrink("s", target)]);
		expect(lastAnswer(session).text).toBe(NO_MATCH);
	});

	test("is no result that is hidden: by its call it is refused, by its tool the one before is taken", async () => {
		await using session = await open();
		await prompt(
			session,
			[read("a")],
			[read("b")],
			[call.rewind("r")],
			[call.shrink("s1", { by_tool_call_id: "b" })],
			[call.shrink("s2", { by_tool_name: "read" })],
		);
		expect(answers(session)[1]?.text).toBe(NO_MATCH);
		expect(short(session)).toEqual(["a"]);
	});

	test.each([{}, { occurrence: "last" }, { by_tool_name: "" }, { by_tool_call_id: "" }])(
		"must be named: %j",
		async (target) => {
			await using session = await open();
			await prompt(session, batch, [call.shrink("s", target)]);
			expect(lastAnswer(session)).toEqual({
				text: 'Mulligan: refused — target needs by_tool_call_id, or by_tool_name with occurrence "last" or "first".',
				details: { refused: "target" },
			});
		},
	);
});

describe("a replacement", () => {
	const STAMP = stamped("").length;

	test.each(["", "  \n\t"])("must say something: %j", async (replacement) => {
		await using session = await open();
		await prompt(session, [read("a")], [call.shrink("s", { by_tool_name: "read" }, replacement)]);
		expect(lastAnswer(session)).toEqual({
			text: "Mulligan: refused — replacement must not be empty.",
			details: { refused: "replacement" },
		});
	});

	test.each([
		["of the size of the result, with the stamp,", 400, 400 - STAMP, true],
		["one character shorter", 400, 399 - STAMP, false],
		["larger than the result", 10, 400, true],
		["smaller than the result, but not with its stamp,", 20, 10, true],
	])("%s is refused or not, with both sizes", async (_what, length, replacement, isRefused) => {
		await using session = await open();
		const target = { by_tool_name: "size" };
		await prompt(session, [call.tool("a", "size", { length })], [call.shrink("s", target, "z".repeat(replacement))]);
		if (isRefused)
			expect(lastAnswer(session)).toEqual({
				text: `Mulligan: refused — the replacement is not smaller than the result: ${replacement + STAMP} characters for ${length}. Leave it as it is.`,
				details: { refused: "not-smaller" },
			});
		else expect(lastAnswer(session).details).toHaveProperty("markerId");
	});

	test("of an image is measured against what the image costs", async () => {
		await using session = await open();
		await prompt(session, [call.tool("a", "shot")], [call.shrink("s", { by_tool_name: "shot" }, "a red pixel")]);
		expect(seen(session).a).toBe(stamped("a red pixel"));
		expect(lastAnswer(session).text).toContain(`(~${1200 - Math.ceil(stamped("a red pixel").length / 4)} tokens shed)`);
	});

	test("stands in the session as it was given, beside what was asked, and is not told back to the model", async () => {
		await using session = await open();
		session.script(
			{ calls: [read("a")] },
			{
				calls: [
					{
						id: "s",
						name: "mulligan_shrink",
						args: { target: { by_tool_name: "read" }, replacement: " THE GIST\n", reason: "read it" },
					},
				],
			},
			"done",
		);
		await session.prompt("go");
		const result = session.branch().find((entry) => entry.type === "message" && entry.message.role === "toolResult");
		expect(records(session, "mulligan:shrink")).toEqual([
			{
				schema: "pi-mulligan",
				v: 1,
				kind: "shrink",
				seq: 2,
				ts: expect.any(Number),
				id: expect.stringMatching(/^[0-9a-f-]{36}$/),
				target: { by_tool_name: "read" },
				replacement: " THE GIST\n",
				reason: "read it",
				pinnedEntryId: result?.id,
			},
		]);
		expect(lastAnswer(session).text).not.toContain("THE GIST");
		expect(containsText(result, `READ-a ${BULK}`)).toBe(true);
	});
});

describe("refusals come in their order", () => {
	const WAYS: readonly [code: string, text: string, fix: { options?: object; moments?: number; args?: object }][] = [
		["disabled", "shrink is disabled.", { options: { enabled: true } }],
		["no-moments", "this session allows no change of earlier context (rewrites.maxMoments is 0).", { moments: 1 }],
		["replacement", "replacement must not be empty.", { args: { replacement: "z".repeat(50) } }],
		["target", "target needs by_tool_call_id", { args: { target: { by_tool_name: "nothing" } } }],
		["no-match", "that result is from a previous turn", { args: { target: { by_tool_name: "size" } } }],
		["not-smaller", "the replacement is not smaller than the result: 85 characters for 10.", {}],
	];
	test.each(WAYS.map(([code, text], row) => [code, text, row] as const))(
		"%s, once what comes before it is right",
		async (code, text, row) => {
			const options = { enabled: false };
			const args = { target: {}, replacement: " " };
			let maxMoments = 0;
			for (const [, , fix] of WAYS.slice(0, row)) {
				Object.assign(options, fix.options);
				Object.assign(args, fix.args);
				maxMoments = fix.moments ?? maxMoments;
			}
			await using session = await open({ shrink: options, rewrites: { maxMoments } });
			await prompt(session, [call.tool("a", "size", { length: 10 })], [{ id: "s", name: "mulligan_shrink", args }]);
			expect(lastAnswer(session).text).toContain(`Mulligan: refused — ${text}`);
			expect(lastAnswer(session).details).toEqual({ refused: code });
			expect(records(session, "mulligan:shrink")).toEqual([]);
			expect(session.ui.notifications).toEqual([]);
		},
	);
});

describe("a success", () => {
	test("says so in its first line and what was gained in its last; details have the marker's id", async () => {
		await using session = await open();
		await prompt(session, [read("a")], [call.shrink("s", { by_tool_name: "read" })]);
		const shed = Math.ceil(`READ-a ${BULK}`.length / 4) - Math.ceil(stamped("short").length / 4);
		expect(lastAnswer(session)).toEqual({
			text: [
				"Mulligan: shrink recorded. Matched: yes.",
				"Active from the next request.",
				`Context updated: 1 result(s) summarized (~${shed} tokens shed). Continue exactly where you left off — no re-verification or re-reading is needed.`,
			].join("\n"),
			details: { markerId: records(session, "mulligan:shrink")[0]?.id },
		});
	});

	test("changes nothing of the result but its content", async () => {
		await using session = await open();
		await prompt(session, [call.tool("a", "fail")], [call.shrink("s", { by_tool_name: "fail" })]);
		const before = session.requests[1]?.messages.find(({ role }) => role === "toolResult");
		const after = session.lastRequest.messages.find(({ role }) => role === "toolResult");
		expect(before).toMatchObject({ isError: true, toolName: "fail", toolCallId: "a" });
		expect(after).toEqual({ ...before, content: [{ type: "text", text: stamped("short") }] });
	});
});

describe("two shrinks of one result", () => {
	test("one after the other: the later wins, with one stamp, and tells what it shed of the first", async () => {
		await using session = await open();
		const target = { by_tool_name: "read" };
		await prompt(
			session,
			[read("a")],
			[call.shrink("s1", target, "f".repeat(400))],
			[call.shrink("s2", target, "second")],
		);
		expect(seen(session).a).toBe(stamped("second"));
		const [first, second] = [stamped("f".repeat(400)), stamped("second")].map((text) => Math.ceil(text.length / 4));
		expect(lastAnswer(session).text).toContain(`1 result(s) summarized (~${(first ?? 0) - (second ?? 0)} tokens shed)`);
	});

	test("in one message: the later call wins, and the result counts once", async () => {
		await using session = await open();
		const target = { by_tool_name: "read" };
		await prompt(session, [read("a")], [call.shrink("s1", target, "first"), call.shrink("s2", target, "second")]);
		expect(seen(session).a).toBe(stamped("second"));
		expect(lastAnswer(session).text).toContain("Context updated: 1 result(s) summarized");
		expect(answers(session)[0]?.text).not.toContain("Context updated");
	});

	test("leave the first once the second is cancelled", async () => {
		await using session = await open();
		const target = { by_tool_name: "read" };
		await prompt(
			session,
			[read("a")],
			[call.shrink("s1", target, "the first")],
			[call.shrink("s2", target, "second")],
			[call.cancel("k", { target })],
		);
		expect(seen(session).a).toBe(stamped("the first"));
	});

	test("the second has to be smaller than the first, which stays where it is not", async () => {
		await using session = await open();
		const target = { by_tool_name: "read" };
		await prompt(
			session,
			[read("a")],
			[call.shrink("s1", target, "short")],
			[call.shrink("s2", target, "much longer")],
		);
		expect(lastAnswer(session).text).toBe(
			`Mulligan: refused — the replacement is not smaller than the summary that stands in its place: ${stamped("much longer").length} characters for ${stamped("short").length}. Leave it as it is.`,
		);
		expect(seen(session).a).toBe(stamped("short"));
	});

	test("a second that waits says that the earlier summary stands", async () => {
		await using session = await open({ rewrites: { maxMoments: 1, flushShedTokens: 0 } });
		const target = { by_tool_name: "read" };
		await prompt(session, [read("a")], [call.shrink("s1", target, "the first")], [call.shrink("s2", target, "second")]);
		expect(lastAnswer(session).text).toMatch(
			/Queued \(~\d+ tokens wait\): the earlier summary still stands\. It becomes active when /,
		);
		expect(seen(session).a).toBe(stamped("the first"));
	});
});

describe("what a shrink says where others of its turn undo it", () => {
	const told = (session: TestSession, id: string) =>
		session.branch().flatMap((entry) => {
			const message = entry.type === "message" ? entry.message : undefined;
			return message?.role === "toolResult" && message.toolCallId === id ? [textOf(message)] : [];
		})[0];
	const last = "Mulligan: shrink recorded. Matched: yes.\n";

	test.each(edges)("a later shrink of the same result stands in its place, with Pi $version", async (pi) => {
		await using session = await open({}, { pi });
		const target = { by_tool_name: "read" };
		await prompt(session, [read("a")], [call.shrink("s1", target, "first"), call.shrink("s2", target, "second")]);
		expect(told(session, "s1")).toBe(`${last}Active, but a later shrink of the same result stands in its place.`);
		expect(told(session, "s2")).toMatch(/\nActive from the next request\.\nContext updated: 1 result\(s\) summarized /);
		expect(seen(session).a).toBe(stamped("second"));
	});

	test.each(edges)("a rewind hides the result, and no line counts it, with Pi $version", async (pi) => {
		await using session = await open({}, { pi });
		const args = { granularity: "last_turn" };
		await prompt(session, [read("a")], [call.shrink("s", { by_tool_name: "read" }), call.rewind("r", args)]);
		expect(told(session, "s")).toBe(`${last}Active, but without effect: a rewind hides the result.`);
		expect(told(session, "r")).not.toContain("Context updated");
		expect(seen(session).a).toBeUndefined();
	});

	test("it is retired at once, and no line counts it", async () => {
		await using session = await open({ shrink: { maxActive: 1 } });
		const target = (id: string) => ({ by_tool_call_id: id });
		await prompt(session, [read("a"), read("b")], [call.shrink("s1", target("a")), call.shrink("s2", target("b"))]);
		expect(told(session, "s1")).toBe(
			`${last}Taken back at once: no more than 1 shrinks are active (shrink.maxActive), and later ones count.`,
		);
		expect(told(session, "s2")).toContain("Context updated: 1 result(s) summarized ");
		expect(short(session)).toEqual(["b"]);
	});
});

test("a shrink of a result that is rewound later does nothing, and is there again when the rewind is cancelled", async () => {
	await using session = await open();
	session.script(
		{ calls: [read("a")] },
		{ calls: [call.shrink("s", { by_tool_name: "read" })] },
		{ calls: [call.rewind("r")] },
		() => ({ calls: [call.cancel("k", { markerId: records(session, "mulligan:rewind")[0]?.id })] }),
		"done",
	);
	await session.prompt("go");
	expect(containsText(session.requests[3]?.messages, "context-shrunk")).toBe(false);
	expect(seen(session).a).toBe(stamped("short"));
});

describe("shrink.maxActive", () => {
	const shrinks = (...ids: readonly string[]) =>
		ids.map((id) => call.shrink(`s${id}`, { by_tool_call_id: id }, `short ${id}`));

	test.each<[string, readonly (readonly Call[])[]]>([
		["one by one", [shrinks("a"), shrinks("b"), shrinks("c")]],
		["in one message", [shrinks("a", "b", "c")]],
	])("retires the oldest as the next becomes active: %s", async (_how, batches) => {
		await using session = await open({ shrink: { maxActive: 2 } });
		await prompt(session, [read("a"), read("b"), read("c")], ...batches);
		expect(short(session)).toEqual(["b", "c"]);
		expect(seen(session).a).toContain(BULK);
		const [oldest] = records(session, "mulligan:shrink");
		expect(records(session, "mulligan:cancel").map(({ targetId }) => targetId)).toEqual([oldest?.id]);
	});

	test("is reached without retiring any", async () => {
		await using session = await open({ shrink: { maxActive: 2 } });
		await prompt(session, [read("a"), read("b")], shrinks("a"), shrinks("b"));
		expect(short(session)).toEqual(["a", "b"]);
		expect(records(session, "mulligan:cancel")).toEqual([]);
	});

	test("does not count what was cancelled", async () => {
		await using session = await open({ shrink: { maxActive: 2 } });
		await prompt(
			session,
			[read("a"), read("b"), read("c")],
			shrinks("a", "b"),
			[call.cancel("k", { target: { by_tool_call_id: "b" } })],
			shrinks("c"),
		);
		expect(short(session)).toEqual(["a", "c"]);
	});
});

describe("shrink.staleAfterFires", () => {
	/** A session in which a result was shrunk and then compacted away. */
	async function compacted(staleAfterFires: number) {
		const settings = { mulligan: { ...atOnce, shrink: { staleAfterFires } }, compaction: { keepRecentTokens: 10 } };
		const session = await open({}, { settings });
		await prompt(session, [read("a")], [call.shrink("s", { by_tool_name: "read" })]);
		const before = session.sessionManager.getLeafId() ?? "";
		session.otherwise("ok");
		await session.compact();
		return { session, before };
	}
	const retired = (session: TestSession) => records(session, "mulligan:cancel").length;

	test("retires a shrink once its result has been out of the context for so many requests in a row", async () => {
		const { session } = await compacted(3);
		await using _ = session;
		for (const expected of [0, 0, 1, 1]) {
			await session.prompt("on");
			expect(retired(session)).toBe(expected);
		}
		expect(records(session, "mulligan:cancel")[0]?.targetId).toBe(records(session, "mulligan:shrink")[0]?.id);
	});

	test("counts anew after a request that had the result", async () => {
		const { session, before } = await compacted(2);
		await using _ = session;
		await session.prompt("on");
		const out = session.sessionManager.getLeafId() ?? "";
		await session.navigateTree(before);
		await session.prompt("back");
		expect(short(session)).toEqual(["a"]);
		await session.navigateTree(out);
		await session.prompt("on");
		expect(retired(session)).toBe(0);
		await session.prompt("on");
		expect(retired(session)).toBe(1);
	});

	test("does not count requests in which only we hide the result", async () => {
		await using session = await open({ shrink: { staleAfterFires: 1 } });
		await prompt(session, [read("a")], [call.shrink("s", { by_tool_name: "read" })], [call.rewind("r")]);
		session.otherwise("ok");
		for (let times = 0; times < 3; times++) await session.prompt("on");
		expect(seen(session).a).toBeUndefined();
		expect(retired(session)).toBe(0);
	});
});

describe("the notification", () => {
	const shown = async (replacement: string, notifyMaxChars: number) => {
		await using session = await open({ shrink: { notifyMaxChars } });
		await prompt(session, [read("a")], [call.shrink("s", { by_tool_name: "read" }, replacement)]);
		return session.ui.notifications;
	};

	test.each([
		["whole where it fits", "0123456789", 10, "0123456789"],
		["cut where it does not, with its full length named", "0123456789A", 10, "0123456789… (11 characters in all)"],
	])("shows the human the replacement %s", async (_how, replacement, notifyMaxChars, text) => {
		expect(await shown(replacement, notifyMaxChars)).toEqual([
			{ message: `Mulligan: shrink of read a, now:\n${text}`, type: "info" },
		]);
	});
});

describe("markers of earlier sessions", () => {
	const session = (data: object) => {
		const log = sessionLog();
		log.user("go");
		const { results } = log.batch([{ id: "a", name: "read", result: `READ ${BULK}` }]);
		log.custom("mulligan:shrink", {
			schema: "pi-mulligan",
			v: 1,
			kind: "shrink",
			seq: 1,
			ts: 1,
			id: "m1",
			pinnedEntryId: results[0],
			...data,
		});
		log.assistant("done");
		return log;
	};

	test.each<[string, Record<string, unknown>]>([
		["of this version", { target: { by_tool_name: "read" } }],
		["with a target by content", { target: { by_content_includes: "READ" } }],
	])("keep their effect: %s", async (_what, data) => {
		await using resumed = await open({}, { log: session({ replacement: "OLD", ...data }) });
		await prompt(resumed);
		expect(seen(resumed).a).toBe(stamped("OLD"));
	});

	test("keep it while new shrinks are switched off", async () => {
		await using resumed = await open(
			{ shrink: { enabled: false } },
			{ log: session({ replacement: "OLD", target: {} }) },
		);
		await prompt(resumed);
		expect(seen(resumed).a).toBe(stamped("OLD"));
	});
});

test("a marker that pins what is no tool result does nothing", async () => {
	const log = sessionLog();
	const pinnedEntryId = log.user(`first ${BULK}`);
	const marker = { schema: "pi-mulligan", v: 1, kind: "shrink", seq: 1, ts: 1, id: "m1" };
	log.custom("mulligan:shrink", { ...marker, pinnedEntryId, target: {}, replacement: "OLD" });
	await using session = await open({}, { log });
	await prompt(session);
	expect(textOf(session.lastRequest.messages[0] as never)).toBe(`first ${BULK}`);
});

describe("replacing", () => {
	test("makes a new message with other content, and leaves the given one alone", () => {
		const message = {
			role: "toolResult",
			toolCallId: "c",
			toolName: "read",
			content: "LONG",
			isError: true,
			details: { a: 1 },
			timestamp: 1,
		} as const;
		expect(shrunk(message, "SHORT")).toEqual({
			...message,
			content: [{ type: "text", text: "<context-shrunk>\nSHORT\n</context-shrunk>" }],
		});
		expect(message.content).toBe("LONG");
	});

	test("takes the later of two shrinks of one entry", () => {
		const shrinks = [
			{ pinnedEntryId: "a", replacement: "one" },
			{ pinnedEntryId: "b", replacement: "two" },
			{ pinnedEntryId: "a", replacement: "three" },
		];
		expect(Object.fromEntries(replacementByEntry(shrinks))).toEqual({ a: "three", b: "two" });
	});
});
