import { describe, expect, test } from "vitest";
import { DEFAULT_PLUGINS } from "../../src/default-set.ts";
import { mulliganWith } from "../../src/extension.ts";
import {
	type Call,
	containsText,
	type ModelRequest,
	type OpenSessionOptions,
	onePixel,
	openSession,
	orphans,
	piVersions,
	type TestSession,
	textOf,
} from "../../src/testing/index.ts";
import { atOnce, call, records, wire } from "../../test/support/mulligan.ts";
import { annotated, BLOAT, DRIFT, HIGH } from "../../test/support/nudges.ts";
import { nudges } from "./index.ts";

const edges = piVersions().filter(({ name }) => name === "oldest" || name === "newest");
const plugins = [...DEFAULT_PLUGINS.filter(({ name }) => name !== "nudges"), nudges];
const METRIC = "mulligan:turn-metric";
const isError = true;

const text = (value: unknown) => ({ type: "text" as const, text: String(value) });
const tools: OpenSessionOptions["tools"] = {
	dump: ({ bytes }) => "x".repeat(Number(bytes)),
	read: ({ bytes }) => "x".repeat(Number(bytes)),
	bash: ({ bytes }) => "x".repeat(Number(bytes)),
	say: ({ says }) => String(says),
	picture: () => [onePixel],
	captioned: ({ bytes }) => ({ content: [text("y".repeat(Number(bytes))), onePixel], details: { kept: true } }),
	fail: ({ bytes }) => {
		throw new Error("e".repeat(Number(bytes)));
	},
};

let calls = 0;
const dump = (bytes: number, name = "dump") => call.tool(`c${++calls}`, name, { bytes });
const turns = (count: number, bytes: number) => Array.from({ length: count }, () => ({ calls: [dump(bytes)] }));

const annotations = (session: TestSession) => session.requests.map(annotated);
/** In which requests a line like this came, counted from 0. */
const where = (session: TestSession, line: RegExp) =>
	annotations(session).flatMap((lines, index) => (lines.some((one) => line.test(one)) ? [index] : []));
/** The bloat lines of a session's stored results, by tool. */
const reminders = (session: TestSession) =>
	session.entries().flatMap((entry) => {
		if (entry.type !== "message" || entry.message.role !== "toolResult") return [];
		const { content, toolName } = entry.message;
		const last = content.at(-1);
		return last?.type === "text" && BLOAT.test(last.text) ? [`${toolName}: ${last.text}`] : [];
	});
const metrics = (session: TestSession) => records(session, METRIC);
const SHRINK = "mulligan_shrink swaps it for your summary";
const REWIND = "mulligan_rewind hides the whole call";
const bloat = (kilobytes: number, ...ways: readonly string[]) =>
	`[mulligan] This result is ${kilobytes} KB: once you have what you need from it, ${ways.join(" and ")}.`;

describe.each(edges)("with Pi $version", (pi) => {
	const open = (mulligan: object = {}, more: OpenSessionOptions = {}) =>
		openSession({
			pi,
			tools,
			extensionPaths: [],
			extensions: [(api) => mulliganWith(plugins, api)],
			...more,
			settings: { mulligan: { ...atOnce, ...mulligan }, ...more.settings },
		});
	/** No drift and no high water: only reminders. */
	const remindersOnly = { perTurnDrift: false, highWaterFraction: 1 };
	/** Small figures, so that turns of a few hundred bytes are large. */
	const small = { driftThresholdTokens: 100, bloatThresholdBytes: 4000, highWaterFraction: 1 };

	describe("the bloat reminder", () => {
		const cases: Readonly<Record<string, readonly [Call, string | undefined]>> = {
			"comes at the threshold": [dump(16_384), bloat(16, SHRINK, REWIND)],
			"not a byte below": [dump(16_383), undefined],
			"for read at its own threshold": [dump(24_576, "read"), bloat(24, SHRINK, REWIND)],
			"not a byte below that": [dump(24_575, "read"), undefined],
			"for bash at the global one": [dump(16_384, "bash"), bloat(16, SHRINK, REWIND)],
			"counts bytes, not characters": [call.tool("m1", "say", { says: "語".repeat(5462) }), bloat(16, SHRINK, REWIND)],
			"and no byte more than there are": [call.tool("m2", "say", { says: "語".repeat(5461) }), undefined],
			"for a failed call as well": [dump(20_000, "fail"), bloat(20, SHRINK, REWIND)],
			"never for an image alone": [call.tool("p", "picture"), undefined],
			"for the text beside an image": [dump(17_000, "captioned"), bloat(17, SHRINK, REWIND)],
		};

		test("comes under each result of a batch that is large, and under no other", async () => {
			await using session = await open({ nudges: remindersOnly });
			session.script({ calls: Object.values(cases).map(([asked]) => asked) }, "done");
			await session.prompt("go");
			const told = session
				.branch()
				.flatMap((entry) => (entry.type === "message" && entry.message.role === "toolResult" ? [entry.message] : []))
				.map(({ content }) =>
					content.flatMap((block) => (block.type === "text" && BLOAT.test(block.text) ? [block.text] : [])),
				);
			const expected = Object.values(cases).map(([, line]) => (line === undefined ? [] : [line]));
			const named = (lines: readonly unknown[]) =>
				Object.fromEntries(Object.keys(cases).map((name, at) => [name, lines[at]]));
			expect(named(told)).toEqual(named(expected));
		});

		test("is a last block of its own, with all else as it was", async () => {
			await using session = await open({ nudges: remindersOnly });
			const [one, two] = [dump(17_000, "captioned"), dump(20_000, "fail")];
			session.script({ calls: [one, two] }, "done");
			await session.prompt("go");
			const stored = session
				.branch()
				.flatMap((entry) => (entry.type === "message" && entry.message.role === "toolResult" ? [entry.message] : []));
			expect(stored[0]).toMatchObject({
				content: [text("y".repeat(17_000)), onePixel, text(bloat(17, SHRINK, REWIND))],
				details: { kept: true },
				isError: false,
			});
			expect(stored[1]).toMatchObject({ isError });
			expect(containsText(session.lastRequest.messages.at(-1), bloat(20, SHRINK, REWIND))).toBe(true);
		});

		test.each<[string, object, readonly string[] | undefined, string | undefined]>([
			["shrink is disabled", { shrink: { enabled: false } }, undefined, bloat(16, REWIND)],
			["rewind is disabled", { rewind: { enabled: false } }, undefined, bloat(16, SHRINK)],
			["both are disabled", { rewind: { enabled: false }, shrink: { enabled: false } }, undefined, undefined],
			["no moment is allowed", { rewrites: { maxMoments: 0 } }, undefined, undefined],
			["only shrink is active", {}, ["dump", "mulligan_shrink"], bloat(16, SHRINK)],
			["neither is active", {}, ["dump", "mulligan_cancel"], undefined],
		])("names what can be called: %s", async (_what, settings, activeTools, expected) => {
			await using session = await open(
				{ ...settings, nudges: remindersOnly },
				activeTools === undefined ? {} : { activeTools },
			);
			session.script({ calls: [dump(16_384)] }, "done");
			await session.prompt("go");
			expect(reminders(session)).toEqual(expected === undefined ? [] : [`dump: ${expected}`]);
		});

		test("is never put on a result of ours", async () => {
			await using session = await open({ nudges: { ...remindersOnly, bloatThresholdBytes: 10 } });
			session.script({ calls: [dump(20)] }, { calls: [call.rewind("r")] }, "done");
			await session.prompt("go");
			const results = session.requests[2]?.messages
				.filter(({ role }) => role === "toolResult")
				.map((message) => textOf(message));
			expect(results).toEqual([expect.stringContaining("Mulligan: rewind recorded")]);
			expect(containsText(results, "This result is")).toBe(false);
			expect(reminders(session)).toEqual([`dump: ${bloat(1, SHRINK, REWIND)}`]);
		});

		test.skipIf(pi.name === "oldest")("is never put into what a script of the model gets", async () => {
			let got: unknown;
			const script = async (_args: unknown, { ctx }: { ctx: object }) => {
				const { executeTool } = ctx as { executeTool?: (name: string, args: object) => Promise<unknown> };
				got = await executeTool?.call(ctx, "dump", { bytes: 20_000 });
				return "z".repeat(17_000);
			};
			await using session = await open({}, { tools: { ...tools, script } });
			session.script({ calls: [call.tool("outer", "script")] }, "done");
			await session.prompt("go");
			expect(containsText(got, "x".repeat(20_000))).toBe(true);
			expect(containsText(got, "[mulligan]")).toBe(false);
			expect(reminders(session)).toEqual([`script: ${bloat(17, SHRINK, REWIND)}`]);
			expect(metrics(session)[0]?.bloatHits).toEqual([
				{ toolCallId: "outer", toolName: "script", bytes: 17_000, tokens: 4250 },
			]);
		});

		test.skipIf(pi.name === "oldest")("leaves the structured content of a result whole", async () => {
			const structuredContent = { rows: [1, 2, 3] };
			const table = () => ({ content: [text("z".repeat(17_000))], details: { kept: true }, structuredContent });
			const seen: unknown[] = [];
			const extensions: OpenSessionOptions["extensions"] = [
				(api) => mulliganWith(plugins, api),
				(api) => api.on("tool_execution_end", ({ result }) => void seen.push(result)),
			];
			await using session = await open({}, { tools: { ...tools, table }, extensions });
			session.script({ calls: [call.tool("t", "table")] }, "done");
			await session.prompt("go");
			expect(reminders(session)).toEqual([`table: ${bloat(17, SHRINK, REWIND)}`]);
			expect(seen).toEqual([expect.objectContaining({ structuredContent, details: { kept: true } })]);
		});

		test("can be switched off, and the turn is recorded all the same", async () => {
			await using session = await open({ nudges: { bloatReminder: false } });
			session.script({ calls: [dump(20_000)] }, "done");
			await session.prompt("go");
			expect(reminders(session)).toEqual([]);
			expect(metrics(session)[0]).toMatchObject({ bloatHit: true });
		});

		test("takes thresholds by tool, and names the bad ones", async () => {
			const bloatThresholdBytesByTool = { dump: 100, bash: 0, read: 24_576 };
			await using session = await open({ nudges: { ...remindersOnly, bloatThresholdBytesByTool } });
			session.script({
				calls: [dump(100), dump(99), dump(16_383, "bash"), dump(16_384, "bash"), dump(20_000, "read")],
			});
			session.otherwise("done");
			await session.prompt("go");
			expect(reminders(session)).toEqual([`dump: ${bloat(1, SHRINK, REWIND)}`, `bash: ${bloat(16, SHRINK, REWIND)}`]);
			expect(session.ui.notifications.map(({ message }) => message)).toEqual([
				expect.stringMatching(
					/^Mulligan: nudges\.bloatThresholdBytesByTool\.bash in .* is 0; expected a number above 0\./,
				),
			]);
		});
	});

	describe("the drift line", () => {
		test("comes once after a turn that grew, at the end of the next request, and rests", async () => {
			await using session = await open({ nudges: small });
			session.script(...turns(10, 800), "done");
			await session.prompt("go");
			// Turn 0 has no baseline; after each line three turns rest.
			expect(where(session, DRIFT)).toEqual([2, 6, 10]);
			expect(annotations(session)[2]?.[0]).toContain("~0.2k tokens");
		});

		test("names the growth of the last turn, the mean being at the threshold", async () => {
			await using session = await open({ nudges: { highWaterFraction: 1, driftWindowTurns: 2 } });
			session.script(
				{ calls: [dump(10)] },
				{ calls: [dump(10_000)] },
				{ calls: [dump(15_900)] },
				{ calls: [dump(18_000)] },
				"done",
			);
			await session.prompt("go");
			const growths = metrics(session).map(({ deltaTokens }) => Number(deltaTokens));
			const [, , low = 0, high = 0] = growths;
			expect((growths[1] ?? 0) + low).toBeLessThan(8000);
			expect(low + high).toBeGreaterThanOrEqual(8000);
			expect(annotations(session)).toEqual([
				[],
				[],
				[],
				[],
				[expect.stringContaining(`Previous turn added ~${(high / 1000).toFixed(1)}k tokens`)],
			]);
		});

		test("is about what the agent added, not the human, Pi or another extension", async () => {
			await using session = await open({ nudges: small });
			session.otherwise("ok");
			await session.prompt("one");
			await session.prompt("u".repeat(40_000));
			await session.bash("head -c 40000 /dev/zero | tr '\\0' b");
			await session.prompt("three");
			session.sessionManager.appendCustomMessageEntry("team:info", "c".repeat(40_000), true);
			session.sessionManager.branchWithSummary(session.sessionManager.getLeafId() ?? "", "s".repeat(40_000));
			await session.prompt("four");
			expect(session.branch().map(({ type }) => type)).toContain("branch_summary");
			expect(where(session, DRIFT)).toEqual([]);
			expect(metrics(session).map(({ deltaTokens }) => deltaTokens)).toEqual([null, 1, 1, 1]);
		});

		test("without a baseline needs a bloat hit, and names its size", async () => {
			await using session = await open({ nudges: { highWaterFraction: 1 } });
			session.script({ calls: [dump(20_000), dump(16_000), dump(17_000)] }, "done");
			await session.prompt("go");
			expect(annotations(session)).toEqual([[], [expect.stringContaining("~9.3k tokens")]]);
			expect(metrics(session)[0]).toEqual({
				schema: "pi-mulligan",
				v: 1,
				kind: "turn-metric",
				seq: expect.any(Number),
				ts: expect.any(Number),
				turnIndex: 0,
				deltaTokens: null,
				bloatHit: true,
				bloatHits: [
					{ toolCallId: `c${calls - 2}`, toolName: "dump", bytes: 20_000, tokens: 5000 },
					{ toolCallId: `c${calls}`, toolName: "dump", bytes: 17_000, tokens: 4250 },
				],
				grewOverThreshold: false,
			});
			expect(metrics(session)[1]).toMatchObject({ bloatHit: false, bloatHits: [] });
		});

		test("is not sent again when its request fails and is tried again", async () => {
			await using session = await open(
				{ nudges: small },
				{ settings: { retry: { enabled: true, maxRetries: 2, baseDelayMs: 1 } } },
			);
			session.script(...turns(2, 800), { error: "overloaded_error" }, { error: "overloaded_error" }, "done");
			await session.prompt("go");
			expect(session.requests).toHaveLength(5);
			expect(where(session, DRIFT)).toEqual([2]);
		});

		test.each<[string, readonly Call[]]>([
			["shrank", [call.shrink("s", { by_tool_call_id: "big" })]],
			["rewound", [call.rewind("r")]],
		])("is not sent after a turn in which the agent %s, however much came with it", async (_what, ops) => {
			await using session = await open({ nudges: small });
			const big = call.tool("big", "dump", { bytes: 300 });
			session.script(
				{ calls: [big] },
				{ calls: [...ops, dump(4000)] },
				{ calls: [dump(1)] },
				...turns(2, 1000),
				"done",
			);
			await session.prompt("go");
			expect(metrics(session)[1]).toMatchObject({ grewOverThreshold: true });
			// Not for turn 1 nor for what it still weighs in turn 2; turn 3 grew anew.
			expect(where(session, DRIFT)).toEqual([4]);
		});

		test("is not sent after a turn whose shrink is only queued", async () => {
			await using session = await open({ nudges: small, rewrites: { flushShedTokens: 100_000 } });
			const big = call.tool("big", "dump", { bytes: 300 });
			session.script({ calls: [big] }, { calls: [call.shrink("s", { by_tool_call_id: "big" }), dump(4000)] }, "done");
			await session.prompt("go");
			expect(records(session, "mulligan:shrink")).toEqual([]);
			expect(metrics(session)[1]).toMatchObject({ grewOverThreshold: true });
			expect(where(session, DRIFT)).toEqual([]);
		});

		test("that is due is dropped when a queued shrink becomes active before it is sent", async () => {
			const models = [{ id: "model-a" }, { id: "model-b" }];
			await using session = await open({ nudges: small, rewrites: { flushShedTokens: 100_000 } }, { models });
			const big = call.tool("big", "dump", { bytes: 300 });
			session.script({ calls: [big] }, { calls: [call.shrink("s", { by_tool_call_id: "big" })] }, "a".repeat(4000));
			await session.prompt("go");
			expect(metrics(session).at(-1)).toMatchObject({ grewOverThreshold: true });
			await session.setModel("model-b");
			expect(records(session, "mulligan:shrink")).toHaveLength(1);
			session.script("ok");
			await session.prompt("on");
			expect(where(session, DRIFT)).toEqual([]);
		});

		test("is not sent for the rest of a prompt in which a rewind was refused", async () => {
			await using session = await open({ nudges: small });
			session.script({ calls: [call.rewind("r")] }, ...turns(5, 800), "done");
			await session.prompt("go");
			expect(containsText(session.requests[1], "Mulligan: refused — nothing to rewind.")).toBe(true);
			expect(where(session, DRIFT)).toEqual([]);
			session.script(...turns(3, 800), "done");
			await session.prompt("on");
			expect(where(session, DRIFT)).toEqual([8]);
		});

		test("a refused shrink changes nothing of it", async () => {
			await using session = await open({ nudges: small });
			session.script({ calls: [call.shrink("s", { by_tool_call_id: "none" })] }, ...turns(1, 800), "done");
			await session.prompt("go");
			expect(where(session, DRIFT)).toEqual([2]);
		});

		test("is not sent after a turn in which the agent took a change back: what came back is no output", async () => {
			await using session = await open({ nudges: small });
			const cancels = call.cancel("k", { target: { by_tool_call_id: "big" } });
			session.script(
				{ calls: [call.tool("big", "dump", { bytes: 3900 })] },
				{ calls: [call.shrink("s", { by_tool_call_id: "big" })] },
				{ calls: [cancels] },
				"done",
			);
			await session.prompt("go");
			expect(metrics(session)[2]).toMatchObject({ grewOverThreshold: true });
			expect(where(session, DRIFT)).toEqual([]);
		});

		test("counts only what the agent adds: no command of the human, no message of an extension, no broken response", async () => {
			await using session = await open({ nudges: small });
			session.script("ok");
			await session.prompt("go");
			await session.bash(`printf '%04000d' 0`);
			session.sessionManager.appendCustomMessageEntry("team:info", "i".repeat(4000), true);
			session.script("ok");
			await session.prompt("two");
			session.script({ text: "a".repeat(4000), stopReason: "aborted" });
			await session.prompt("three");
			session.script("ok");
			await session.prompt("four");
			expect(containsText(session.lastRequest.messages, "0".repeat(4000))).toBe(true);
			expect(metrics(session).map(({ deltaTokens }) => deltaTokens)).toEqual([null, 1, 0, 1]);
			expect(where(session, DRIFT)).toEqual([]);
		});

		test("switched off records nothing and says nothing", async () => {
			await using session = await open({ nudges: { ...small, perTurnDrift: false, bloatThresholdBytes: 100 } });
			session.script(...turns(6, 800), "done");
			await session.prompt("go");
			expect(metrics(session)).toEqual([]);
			expect(where(session, DRIFT)).toEqual([]);
			expect(reminders(session)).toHaveLength(6);
		});
	});

	describe("a baseline", () => {
		const grown = async () => {
			const session = await open(
				{ nudges: { ...small, bloatThresholdBytes: 10_000 } },
				{ settings: { compaction: { keepRecentTokens: 10 } } },
			);
			session.script(...turns(2, 800));
			session.otherwise("ok");
			await session.prompt("go");
			return session;
		};
		const last = (session: TestSession) => metrics(session).at(-1)?.deltaTokens;

		test.each<[string, (session: TestSession) => Promise<unknown>]>([
			["a reload", (session) => session.reload()],
			["a compaction", (session) => session.compact()],
			[
				"a moved leaf",
				(session) => session.navigateTree(session.branch().findLast(({ type }) => type === "message")?.parentId ?? ""),
			],
		])("is gone after %s, for one turn", async (_what, change) => {
			await using session = await grown();
			expect(last(session)).toEqual(expect.any(Number));
			await change(session);
			session.script(...turns(2, 800));
			await session.prompt("on");
			expect(
				metrics(session)
					.slice(-3)
					.map(({ deltaTokens }) => deltaTokens),
			).toEqual([null, expect.any(Number), expect.any(Number)]);
		});

		test("is gone after a resume", async () => {
			const first = await grown();
			await using session = await first.reopen();
			session.script("ok", "ok");
			await session.prompt("on");
			expect(last(session)).toBeNull();
			await session.prompt("and on");
			expect(last(session)).toBe(1);
		});

		test("is no matter to a rest: a restart brings no line sooner", async () => {
			const nudges = { ...small, bloatThresholdBytes: 500 };
			let session = await open({ nudges });
			// Each prompt has two turns, the first of them without a baseline and with a large result.
			const lines: number[] = [];
			for (let prompt = 0; prompt < 9; prompt++) {
				const before = session.requests.length;
				session.script({ calls: [dump(600)] }, "ok");
				await session.prompt("go");
				const lined = session.requests
					.slice(before)
					.some((request) => annotated(request).some((one) => DRIFT.test(one)));
				if (lined) lines.push(prompt);
				if (prompt % 2 === 0) await session.reload();
				else session = await session.reopen();
			}
			await session.dispose();
			// A line, then three turns: the one that it came in and both of the next prompt.
			expect(lines).toEqual([0, 2, 4, 6, 8]);
		});

		test("a line that is due does not outlive a compaction", async () => {
			await using session = await open({ nudges: small }, { settings: { compaction: { keepRecentTokens: 10 } } });
			session.script("ok");
			await session.prompt("go");
			session.script("a".repeat(4000));
			await session.prompt("write");
			expect(metrics(session).at(-1)).toMatchObject({ grewOverThreshold: true });
			session.otherwise("ok");
			await session.compact();
			await session.prompt("on");
			expect(where(session, DRIFT)).toEqual([]);
		});
	});

	describe("the high-water line", () => {
		const models = [{ id: "model-a", contextWindow: 60_000, maxTokens: 1000 }];
		const nudges = { perTurnDrift: false, bloatReminder: false, highWaterFraction: 0.5 };
		const settings = { compaction: { enabled: false } };
		/** Answers without figures teach no calibration. */
		const mute = (...asked: readonly Call[]) => ({ calls: asked, usage: {} });

		test("comes at the first request above the fraction, and again only after a fall", async () => {
			await using session = await open({ nudges }, { models, settings });
			session.script(
				mute(dump(60_000)),
				mute(call.tool("big", "dump", { bytes: 80_000 })),
				mute(dump(100)),
				mute(call.shrink("s", { by_tool_call_id: "big" })),
				mute(dump(100)),
				mute(dump(80_000)),
				mute(dump(100)),
				{ text: "done", usage: {} },
			);
			await session.prompt("go");
			expect(where(session, HIGH)).toEqual([2, 6]);
			for (const index of [2, 6]) {
				const percent = Number(HIGH.exec(annotations(session)[index]?.[0] ?? "")?.[1]);
				expect(percent).toBeGreaterThan(57);
				expect(percent).toBeLessThan(70);
			}
		});

		test("does not come again when a session is loaded above the fraction", async () => {
			const first = await open({ nudges }, { models, settings });
			first.script(mute(dump(130_000)), { text: "done", usage: {} });
			await first.prompt("go");
			expect(where(first, HIGH)).toEqual([1]);
			await first.reload();
			first.script({ text: "ok", usage: {} });
			await first.prompt("on");
			expect(where(first, HIGH)).toEqual([1]);
			await using session = await first.reopen();
			session.script(mute(dump(100)), { text: "ok", usage: {} });
			await session.prompt("on");
			expect(where(session, HIGH)).toEqual([]);
		});

		test("comes when a session that was loaded below crosses", async () => {
			const first = await open({ nudges }, { models, settings });
			first.script(mute(dump(60_000)), { text: "done", usage: {} });
			await first.prompt("go");
			await using session = await first.reopen();
			session.script(mute(dump(80_000)), { text: "done", usage: {} });
			await session.prompt("on");
			expect(where(session, HIGH)).toEqual([1]);
		});

		test("does not come again after a reload where only the provider's own counts are above the fraction", async () => {
			await using session = await open({ nudges }, { models, settings });
			session.script(mute(dump(40_000)), ...Array(4).fill({ text: "ok", usage: { input: 30_000 } }));
			for (const prompt of ["go", "on", "on", "on"]) await session.prompt(prompt);
			expect(where(session, HIGH)).toEqual([4]);
			await session.reload();
			session.script(...Array(4).fill({ text: "ok", usage: { input: 30_000 } }));
			for (const prompt of ["on", "on", "on", "on"]) await session.prompt(prompt);
			expect(where(session, HIGH)).toEqual([4]);
		});

		test("comes to a first prompt that crosses", async () => {
			await using session = await open({ nudges }, { models, settings });
			session.script({ text: "ok", usage: {} });
			await session.prompt("u".repeat(130_000));
			expect(where(session, HIGH)).toEqual([0]);
		});

		test("shares the message at the end with the drift line", async () => {
			await using session = await open({ nudges: { highWaterFraction: 0.5 } }, { models, settings });
			session.script(mute(dump(130_000)), { text: "done", usage: {} });
			await session.prompt("go");
			const [lines] = session.requests.slice(1).map(annotated);
			expect(lines).toEqual([expect.stringMatching(DRIFT), expect.stringMatching(HIGH)]);
			expect(textOf(session.lastRequest.messages.at(-1) as never)).toBe(lines?.join("\n"));
		});
	});

	describe("what nudges cost", () => {
		const busy = { driftThresholdTokens: 100, bloatThresholdBytes: 1000, highWaterFraction: 0.05 };
		const script = [...turns(3, 8000), "half", ...turns(9, 8000), "done"];
		const run = async (extensions: OpenSessionOptions["extensions"]) => {
			const session = await open({ nudges: busy }, { extensions: extensions ?? [] });
			session.script(...script);
			await session.prompt("go");
			await session.prompt("on");
			return session;
		};

		test("no request, and nothing in the conversation but the reminders", async () => {
			await using session = await run([(api) => mulliganWith(plugins, api)]);
			await using bare = await run([]);
			expect(where(session, DRIFT).length).toBeGreaterThan(1);
			expect(where(session, HIGH)).toHaveLength(1);
			expect(reminders(session)).toHaveLength(12);
			expect(session.requests).toHaveLength(bare.requests.length);
			const plain = ({ messages }: ModelRequest) => wire(messages.map(withoutReminder));
			for (const [index, request] of session.requests.entries()) {
				const messages = annotated(request).length > 0 ? request.messages.slice(0, -1) : request.messages;
				expect(plain({ ...request, messages })).toEqual(plain(bare.requests[index] as ModelRequest));
				expect(orphans(messages)).toEqual({ calls: [], results: [] });
			}
		});

		test("no line of them in the session file, but the reminders inside their results", async () => {
			await using session = await run([(api) => mulliganWith(plugins, api)]);
			const ours = [/Previous turn added/, /Context is at/, /This result is/];
			const bearers = session.lines().flatMap((line) => {
				const found = ours.filter((one) => one.test(JSON.stringify(line)));
				return found.length === 0 ? [] : [[line.type, "message" in line ? line.message.role : "", found]];
			});
			expect(bearers).toEqual(Array(12).fill(["message", "toolResult", [/This result is/]]));
			const kinds = new Set(session.entries().map((entry) => ("customType" in entry ? entry.customType : entry.type)));
			expect([...kinds].filter((kind) => /mulligan|custom/.test(kind))).toEqual([METRIC]);
		});

		test("the request after a line reads all before it from the cache", async () => {
			await using session = await run([(api) => mulliganWith(plugins, api)]);
			const withLine = annotations(session).flatMap((lines, index) => (lines.length > 0 ? [index] : []));
			expect(withLine.length).toBeGreaterThan(2);
			for (const index of withLine) {
				const [before, after] = session.usage.slice(index);
				if (!before || !after) continue;
				const line = JSON.stringify(session.requests[index]?.messages.at(-1)).length / 4;
				const sent = before.cacheRead + before.cacheWrite;
				expect(sent).toBeGreaterThan(2000);
				expect(after.cacheRead).toBeGreaterThan(sent - line - 2);
			}
		});
	});

	test("over 200 turns of growth a line comes every fourth turn, and a crossing is named once", async () => {
		await using session = await open({
			nudges: { ...small, bloatThresholdBytes: 500, highWaterFraction: 0.2 },
		});
		session.script(...turns(200, 600), "done");
		await session.prompt("go");
		const drift = where(session, DRIFT);
		expect(drift).toEqual(Array.from({ length: 50 }, (_, index) => 1 + 4 * index));
		expect(where(session, HIGH)).toHaveLength(1);
		expect(metrics(session)).toHaveLength(201);
		expect(reminders(session)).toHaveLength(200);
	});
});

/** A message without the reminder at its end. */
function withoutReminder(message: ModelRequest["messages"][number]): ModelRequest["messages"][number] {
	if (message.role !== "toolResult") return message;
	return { ...message, content: message.content.filter((block) => block.type !== "text" || !BLOAT.test(block.text)) };
}
