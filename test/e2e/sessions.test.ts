import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { describe, expect, test } from "vitest";
import { containsText, onePixel, orphans, piVersions, sessionLog, shape, textOf } from "../../src/testing/index.ts";
import { bulk, call, openAtOnce, records, wire } from "../support/mulligan.ts";

const edges = piVersions().filter(({ name }) => name === "oldest" || name === "newest");
const tools = {
	grep: ({ pattern }: Record<string, unknown>) => bulk(`GREP-${pattern}`),
	log: () => bulk("LOG"),
	fail: () => {
		throw new Error(bulk("FAILURE"));
	},
};

/** A session in which a grep has been rewound and a log shrunk. */
async function edited(pi: (typeof edges)[number], more: Partial<Parameters<typeof openAtOnce>[0]> = {}) {
	const session = await openAtOnce({ pi, tools, ...more });
	session.script(
		{ calls: [call.tool("c1", "grep", { pattern: "wide" })] },
		{ calls: [call.rewind("c2")] },
		{ calls: [call.tool("c3", "log")] },
		{ calls: [call.shrink("c4", { by_tool_name: "log" }, "ALL-GREEN")] },
		"done",
	);
	await session.prompt("go");
	return session;
}

function expectEdited(messages: readonly object[] | undefined) {
	expect(containsText(messages, "GREP-wide")).toBe(false);
	expect(containsText(messages, "LOG\n0123")).toBe(false);
	expect(containsText(messages, "ALL-GREEN\n</context-shrunk>")).toBe(true);
	expect(containsText(messages, "Rewound: ")).toBe(true);
	expect(orphans((messages ?? []) as never)).toEqual({ calls: [], results: [] });
}

describe.each(edges)("with Pi $version", (pi) => {
	test("a fork carries the edits of its branch", async () => {
		await using session = await edited(pi);
		await session.fork(session.sessionManager.getLeafId() ?? "", "at");
		session.script("more");
		await session.prompt("on");
		expectEdited(session.lastRequest.messages);
	});

	test("moving before an op shows the originals, moving back shows the edits", async () => {
		await using session = await edited(pi);
		const leaf = session.sessionManager.getLeafId() ?? "";
		const firstResult = session
			.branch()
			.find((entry) => entry.type === "message" && entry.message.role === "toolResult");
		session.otherwise("ok");
		await session.navigateTree(firstResult?.id ?? "");
		await session.prompt("elsewhere");
		expect(containsText(session.lastRequest.messages, "GREP-wide")).toBe(true);
		expect(containsText(session.lastRequest.messages, "Rewound: ")).toBe(false);
		await session.navigateTree(leaf);
		await session.prompt("back");
		expectEdited(session.lastRequest.messages);
	});

	test("a compaction after an op keeps what is left of the view", async () => {
		await using session = await edited(pi, { settings: { compaction: { keepRecentTokens: 150 } } });
		session.otherwise("SUMMARY");
		await session.compact();
		await session.prompt("on");
		expect(containsText(session.requests.slice(5), "GREP-wide")).toBe(false);
		expect(containsText(session.requests.slice(5), "LOG\n0123")).toBe(false);
		expect(orphans(session.lastRequest.messages)).toEqual({ calls: [], results: [] });
	});

	test("an op after a compaction works on what was kept and on what is new", async () => {
		await using session = await edited(pi, { settings: { compaction: { keepRecentTokens: 10 } } });
		session.otherwise("SUMMARY");
		await session.compact();
		session.script({ calls: [call.tool("d1", "grep", { pattern: "second" })] }, { calls: [call.rewind("d2")] }, "done");
		await session.prompt("on");
		expect(containsText(session.lastRequest.messages, "GREP-second")).toBe(false);
		expect(containsText(session.lastRequest.messages, "SUMMARY")).toBe(true);
		expect(orphans(session.lastRequest.messages)).toEqual({ calls: [], results: [] });
	});

	test("a rewind among sibling calls keeps its message whole and takes the group before it", async () => {
		await using session = await openAtOnce({ pi, tools });
		session.script(
			{ calls: [call.tool("c1", "grep", { pattern: "wide" }), call.tool("c2", "log")] },
			{ calls: [call.tool("c3", "grep", { pattern: "sibling" }), call.rewind("c4"), call.tool("c5", "log")] },
			"done",
		);
		await session.prompt("go");
		expect(shape(session.lastRequest.messages, 10).map((line) => line.split(":")[0])).toEqual([
			"user",
			"assistant → grep#c3, mulligan_rewind#c4, log#c5",
			"result grep#c3",
			"result mulligan_rewind#c4",
			"result log#c5",
			"user",
		]);
		expect(containsText(session.lastRequest.messages, "GREP-wide")).toBe(false);
		expect(containsText(session.lastRequest.messages, "GREP-sibling")).toBe(true);
	});

	test("five parallel shrinks are all active, with one orientation line in the last", async () => {
		await using session = await openAtOnce({ pi, tools });
		const ids = ["a", "b", "c", "d", "e"];
		session.script(
			{ calls: ids.map((id) => call.tool(id, "grep", { pattern: id })) },
			{ calls: ids.map((id) => call.shrink(`s${id}`, { by_tool_call_id: id }, `short ${id}`)) },
			"done",
		);
		await session.prompt("go");
		const { messages } = session.lastRequest;
		for (const id of ids) expect(containsText(messages, `GREP-${id}`)).toBe(false);
		const answers = messages
			.filter(({ role }) => role === "toolResult")
			.slice(5)
			.map(textOf);
		expect(answers.map((text) => text.includes("Context updated: 5 result(s)"))).toEqual([
			false,
			false,
			false,
			false,
			true,
		]);
		expect(answers.every((text) => text.includes("Active from the next request."))).toBe(true);
	});

	test("a sibling call's result is never the target of a shrink", async () => {
		await using session = await openAtOnce({ pi, tools });
		session.script({ calls: [call.tool("c1", "log"), call.shrink("c2", { by_tool_name: "log" })] }, "done");
		await session.prompt("go");
		expect(textOf(session.lastRequest.messages.at(-1) as never)).toBe(
			"Mulligan: refused — that result is from a previous turn; only this turn's tool calls can be shrunk.",
		);
		expect(records(session, "mulligan:shrink")).toEqual([]);
	});

	test("a result of an earlier prompt can't be shrunk", async () => {
		await using session = await openAtOnce({ pi, tools });
		session.script(
			{ calls: [call.tool("c1", "log")] },
			"done",
			{ calls: [call.shrink("c2", { by_tool_call_id: "c1" })] },
			"done",
		);
		await session.prompt("go");
		await session.prompt("on");
		expect(textOf(session.lastRequest.messages.at(-1) as never)).toBe(
			"Mulligan: refused — that result is from a previous turn; only this turn's tool calls can be shrunk.",
		);
	});

	test("failed results and results with images can be rewound and shrunk", async () => {
		await using session = await openAtOnce({
			pi,
			tools: { ...tools, shot: () => [onePixel, { type: "text", text: bulk("SHOT") }] },
		});
		session.script(
			{ calls: [call.tool("c1", "fail")] },
			{ calls: [call.rewind("c2")] },
			{ calls: [call.tool("c3", "shot")] },
			{ calls: [call.shrink("c4", { by_tool_name: "shot" }, "a red pixel")] },
			{ calls: [call.cancel("c5", { target: { by_tool_name: "shot" } })] },
			"done",
		);
		await session.prompt("go");
		const [, , , whole, shrunk, back] = session.requests.map(({ messages }) => messages);
		expect(containsText(whole, "FAILURE")).toBe(false);
		expect(containsText(shrunk, onePixel.type === "image" ? onePixel.data : "")).toBe(false);
		expect(wire(back).slice(0, whole?.length)).toEqual(wire(whole));
	});

	test("commands of the human and messages of other extensions stay where they are", async () => {
		await using session = await openAtOnce({
			pi,
			tools,
			extensions: [
				(api) => {
					api.on("turn_end", () => {
						api.sendMessage({ customType: "other", content: "OTHER", display: true }, { triggerTurn: false });
					});
				},
			],
		});
		session.otherwise("done");
		await session.prompt("hello");
		await session.bash("echo SHOWN");
		session.script(
			{ calls: [call.tool("c1", "grep", { pattern: "wide" })] },
			{ calls: [call.rewind("c2", { granularity: "last_turn" })] },
		);
		await session.prompt("go");
		await session.prompt("on");
		const { messages } = session.lastRequest;
		expect(containsText(messages, "SHOWN")).toBe(true);
		expect(containsText(messages, "OTHER")).toBe(true);
		expect(containsText(messages, "GREP-wide")).toBe(false);
		expect(shape(messages, 12).filter((line) => line.startsWith("user: Rewound"))).toHaveLength(1);
		expect(orphans(messages)).toEqual({ calls: [], results: [] });
	});

	test("an abort while a rewind runs leaves a session that goes on, with the rewind active", async () => {
		const session = await openAtOnce({
			pi,
			tools: {
				...tools,
				hang: async () => {
					setTimeout(() => void session.session.abort(), 20);
					await new Promise((done) => setTimeout(done, 60));
					return "hung";
				},
			},
		});
		await using _ = session;
		session.script(
			{ calls: [call.tool("c1", "grep", { pattern: "wide" })] },
			{ calls: [call.rewind("c2"), call.tool("c3", "hang")] },
		);
		session.otherwise("done");
		await session.prompt("go").catch(() => undefined);
		await session.idle();
		await session.prompt("on");
		expect(containsText(session.lastRequest.messages, "GREP-wide")).toBe(false);
		expect(containsText(session.lastRequest.messages, "Rewound: ")).toBe(true);
		expect(orphans(session.lastRequest.messages)).toEqual({ calls: [], results: [] });
	});

	test("a marker whose note was lost in a crash gets it at the next request, at its place", async () => {
		const log = sessionLog();
		log.user("go");
		const group = log.batch([{ name: "grep", args: { pattern: "wide" }, result: bulk("GREP-wide") }]);
		const rewindCall = call.rewind("c2");
		log.assistant({ calls: [rewindCall] });
		log.custom("mulligan:rewind", {
			schema: "pi-mulligan",
			v: 1,
			kind: "rewind",
			seq: 1,
			ts: 1,
			id: "m1",
			granularity: "last_tool_call_group",
			excludeToolCallId: "c2",
			hideEntryIds: [group.assistant, ...group.results],
			note: { what_happened: "WHAT", true_current_state: "STATE", next: "NEXT" },
			ledger: { filesRead: [], filesModified: [], bashSideEffects: [] },
		});
		log.result("c2", "Mulligan: rewind recorded");
		log.assistant("fine");
		await using session = await openAtOnce({ pi, log });
		session.script("ok", "ok");
		await session.prompt("on");
		await session.prompt("and on");
		for (const { messages } of session.requests)
			expect(shape(messages, 30).slice(0, 5)).toEqual([
				"user: go",
				"assistant → mulligan_rewind#c2",
				"result mulligan_rewind#c2: Mulligan: rewind recorded",
				"user: Rewound: the last tool call g…",
				"assistant: fine",
			]);
	});

	test("two sessions that share call ids across turns are edited at the right place", async () => {
		await using session = await openAtOnce({ pi, tools });
		session.script(
			{ calls: [call.tool("same", "grep", { pattern: "first" })] },
			{ calls: [call.tool("same", "grep", { pattern: "second" })] },
			{ calls: [call.rewind("c2")] },
			"done",
			"more",
		);
		await session.prompt("go");
		await session.prompt("on");
		for (const { messages } of session.requests.slice(3)) {
			expect(containsText(messages, "GREP-first")).toBe(true);
			expect(containsText(messages, "GREP-second")).toBe(false);
		}
	});

	test("another extension that drops or adds messages before us does not shift the edits", async () => {
		const meddle = (api: ExtensionAPI) => {
			const on = api.on.bind(api) as unknown as (
				event: string,
				handler: (event: { messages: object[] }) => unknown,
			) => void;
			const add = ({ messages }: { messages: object[] }) => ({
				messages: [...messages.slice(0, 1), { role: "user", content: "ADDED", timestamp: 1 }, ...messages.slice(1)],
			});
			if (pi.name === "newest") on("context_with_system", add);
			else on("context", add);
		};
		await using session = await openAtOnce({ pi, tools, extensions: [meddle] });
		session.script(
			{ calls: [call.tool("c1", "grep", { pattern: "wide" })] },
			{ calls: [call.rewind("c2")] },
			{ calls: [call.tool("c3", "log")] },
			{ calls: [call.shrink("c4", { by_tool_name: "log" }, "ALL-GREEN")] },
			"done",
		);
		await session.prompt("go");
		expectEdited(session.lastRequest.messages);
		expect(containsText(session.lastRequest.messages, "ADDED")).toBe(true);
	});

	test("where Pi runs a batch one by one, both shrinks are active and the last carries the one orientation line", async () => {
		await using session = await openAtOnce({
			pi,
			tools: { ...tools, slow: { run: () => "slow", sequential: true } },
		});
		session.script(
			{ calls: [call.tool("a", "grep", { pattern: "a" }), call.tool("b", "grep", { pattern: "b" })] },
			{
				calls: [
					call.shrink("s1", { by_tool_call_id: "a" }, "short a"),
					call.tool("c", "slow"),
					call.shrink("s2", { by_tool_call_id: "b" }, "short b"),
				],
			},
			"done",
		);
		await session.prompt("go");
		const { messages } = session.lastRequest;
		expect(containsText(messages, "GREP-a")).toBe(false);
		expect(containsText(messages, "GREP-b")).toBe(false);
		const answers = messages
			.filter(({ role }) => role === "toolResult")
			.slice(2)
			.map(textOf);
		expect(answers.map((text) => text.includes("Context updated: 2 result(s)"))).toEqual([false, false, true]);
	});
});
