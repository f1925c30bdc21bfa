import { visibleWidth } from "@earendil-works/pi-tui";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { DEFAULT_PLUGINS } from "../../src/default-set.ts";
import { mulliganWith } from "../../src/extension.ts";
import type { Plugin } from "../../src/plugin.ts";
import {
	type Call,
	containsText,
	type OpenSessionOptions,
	onePixel,
	openSession,
	orphans,
	type PiVersion,
	piVersions,
	type SessionLog,
	type Step,
	sessionLog,
	type TestSession,
	textOf,
} from "../../src/testing/index.ts";
import { atOnce, bulk, call, records } from "../../test/support/mulligan.ts";
import { audit } from "./index.ts";

const edges = piVersions().filter(({ name }) => name === "oldest" || name === "newest");
const newest = edges.filter(({ name }) => name === "newest");
const others = DEFAULT_PLUGINS.filter(({ name }) => name !== "audit");
const set = [...others, audit] as readonly Plugin[];

const tools = {
	grep: ({ pattern }: Record<string, unknown>) => bulk(`GREP-${pattern}`),
	log: () => bulk("LOG", 1100),
	tiny: () => "ok",
	run: () => "x".repeat(4000),
};
/** A session whose model reports no usage unless a step says so: nothing is calibrated by chance. */
const open = async (options: OpenSessionOptions & { plugins?: readonly Plugin[] }): Promise<TestSession> => {
	const { plugins = set, ...rest } = options;
	const extensions = [(pi: Parameters<typeof mulliganWith>[1]) => mulliganWith(plugins, pi)];
	const session = await openSession({ tools, extensionPaths: [], extensions, ...rest });
	const { script } = session;
	session.script = (...steps) => script(...steps.map(silent));
	return session;
};
const silent = (step: Step): Step => {
	if (typeof step === "string") return { text: step, usage: {} };
	return typeof step === "object" && "calls" in step ? { usage: {}, ...step } : step;
};
const asks = (id: string, args: Record<string, unknown> = {}) => call.tool(id, "mulligan_audit", args);

/** The text that the model got for a call, in its last request. */
const resultOf = (session: TestSession, id: string, request = session.lastRequest) => {
	const found = request.messages.find((message) => message.role === "toolResult" && message.toolCallId === id);
	return found ? textOf(found) : "";
};
const told = (session: TestSession) => session.ui.notifications.at(-1)?.message ?? "";
const ask = async (session: TestSession, args = "") => {
	await session.prompt(`/mulligan_audit ${args}`.trim());
	return told(session);
};
const resume = (pi: PiVersion, log: SessionLog, more: OpenSessionOptions & { plugins?: readonly Plugin[] } = {}) =>
	open({ pi, log, ...more });
const sizedLines = (report: string) => report.split("\n").filter((line) => /^ {2,}[\d,]+ {2}/.test(line));
const listed = (report: string) => sizedLines(report.split("\n\n")[1] ?? "");
const lineWith = (report: string, part: string) => report.split("\n").find((line) => line.includes(part));
const suggestion = (report: string) => lineWith(report, "Largest removable") ?? "none";
const sizeOf = (line: string | undefined) => Number(/[\d,]+/.exec(line ?? "")?.[0].replaceAll(",", ""));
const total = (report: string) => sizeOf(/~([\d,]+)/.exec(report)?.[0]);
const statuses = (session: TestSession) => records(session, "mulligan:queued").map(({ status }) => status);
const shrinks = (...ids: string[]): Call[] => ids.map((id) => call.shrink(`s${id}`, { by_tool_call_id: id }));
const greps = (...ids: string[]): Call[] => ids.map((id) => call.tool(id, "grep", { pattern: id }));
const ORIENTATION = "Context updated: ";

describe.each(edges)("the report, with Pi $version", (pi) => {
	test("tells sizes, the largest messages, what stands and what could go", async () => {
		await using session = await open({ pi });
		session.script(
			{ calls: [call.tool("c1", "log", { command: "npm test\n  -- --all" }), ...greps("c2")] },
			{ calls: [asks("c3", { top: 2 })] },
			"done",
		);
		await session.prompt("go");
		expect(resultOf(session, "c3").split("\n")).toEqual([
			expect.stringMatching(
				/^Mulligan audit: ~[\d,]+ of 128,000 tokens \(\d+%\), ~4,9\d\d of them in 5 message\(s\)\.$/,
			),
			"Confidence: medium. This turn's results are not counted yet.",
			expect.stringMatching(/^ {2}4,8\d\d {2}result \(2\)$/),
			expect.stringMatching(/^ {5}\d\d {2}assistant \(2\)$/),
			"      1  user (1)",
			expect.stringMatching(/^ {2}[\d,]{5} {2}prompt and tools$/),
			"",
			"Largest, with the by_tool_call_id that mulligan_shrink takes in brackets:",
			expect.stringMatching(
				/^ {2}4,7\d\d {2}result log npm test -- --all {2}\[c1\] {2}⚠ 18,\d\d\d bytes, threshold 16,384$/,
			),
			expect.stringMatching(/^ {4}17\d {2}result grep c2 {2}\[c2\]$/),
			"",
			"Active: 0 rewind(s), 0 shrink(s).",
			"Queued: nothing.",
			"Moments: 0 of 1 spent. Retired: 0 marker(s).",
			"0 checkpoint(s) (user-set)",
			"",
			expect.stringMatching(
				/^Largest removable: log c1, ~4,7\d\d tokens\. Once you have what you need from it, mulligan_shrink it\.$/,
			),
		]);
		expect(orphans(session.lastRequest.messages)).toEqual({ calls: [], results: [] });
		expect(session.errors).toEqual([]);
	});

	test("names active changes with the id that cancels them, retired markers and checkpoints", async () => {
		await using session = await open({ pi, settings: { mulligan: atOnce } });
		session.script(
			{ calls: greps("c1") },
			{ calls: [call.rewind("c2")] },
			{ calls: greps("c3", "c4") },
			{ calls: [call.shrink("c5", { by_tool_call_id: "c3" })] },
			{ calls: [call.shrink("c6", { by_tool_call_id: "c4" })] },
			{ calls: [call.cancel("c7", { target: { by_tool_call_id: "c4" } })] },
			"done",
		);
		await session.prompt("go");
		await session.prompt("/mulligan_checkpoint first");
		await session.prompt("/mulligan_checkpoint second");
		session.script({ calls: [asks("c8")] }, "done");
		await session.prompt("on");
		const report = resultOf(session, "c8");
		const markers = session
			.entries()
			.flatMap((entry) => (entry.type === "custom" && /rewind|shrink/.test(entry.customType) ? [entry.id] : []));
		expect(report).toContain("Active: 1 rewind(s), 1 shrink(s), each with its markerId for mulligan_cancel:");
		expect(report).toMatch(
			new RegExp(`\n {2}${markers[0]} rewind last_tool_call_group: 2 message\\(s\\) hidden, ~\\d+\n`),
		);
		expect(report).toMatch(new RegExp(`\n {2}${markers[1]} shrink of grep c3: 1\\d\\d → 10\n`));
		expect(report).toContain("Retired: 1 marker(s).");
		expect(report).toContain("\n2 checkpoint(s) [first, second] (user-set)");

		session.script({ calls: [call.cancel("c9", { markerId: markers[1] ?? "" })] }, "done");
		await session.prompt("back");
		expect(resultOf(session, "c9")).toContain("the shrink is cancelled");
		expect(await ask(session)).toContain("Active: 1 rewind(s), 0 shrink(s)");
	});

	test("names no checkpoint that a compaction has made useless", async () => {
		const log = sessionLog();
		log.user("one");
		const gone = log.custom("mulligan:checkpoint", { schema: "pi-mulligan", v: 1, kind: "checkpoint", name: "gone" });
		log.label(gone, "mulligan:checkpoint:gone");
		const firstKept = log.user("two");
		log.compaction("SUMMARY", { firstKept });
		const kept = log.user("three");
		log.label(kept, "mulligan:checkpoint:kept");
		await using session = await resume(pi, log);
		expect(await ask(session)).toContain("\n1 checkpoint(s) [kept] (user-set)");
	});

	test("counts nothing that is hidden, and a replaced result at its new size", async () => {
		await using session = await open({ pi, settings: { mulligan: atOnce } });
		session.script({ calls: [call.tool("c1", "log")] }, { calls: [call.tool("c2", "log")] }, "done");
		await session.prompt("go");
		const before = await ask(session);
		session.script({ calls: [call.rewind("c3")] }, "done");
		await session.prompt("on");
		const after = await ask(session, "50");
		expect(total(before) - total(after)).toBeGreaterThan(4300);
		expect(listed(after).filter((line) => line.includes("result log"))).toHaveLength(1);
		session.script({ calls: greps("c4") }, { calls: [call.shrink("c5", { by_tool_call_id: "c4" })] }, "done");
		await session.prompt("more");
		expect(sizeOf(lineWith(await ask(session, "50"), "result grep c4"))).toBe(
			Math.ceil("<context-shrunk>\nshort\n</context-shrunk>".length / 4),
		);
	});

	test("is about what a compaction left", async () => {
		await using session = await open({ pi, settings: { compaction: { keepRecentTokens: 10 } } });
		session.script({ calls: [call.tool("c1", "log")] }, "one", "two");
		await session.prompt("first");
		await session.prompt("second");
		session.otherwise("THE-SUMMARY");
		await session.compact();
		const report = await ask(session);
		expect(report).not.toContain("result log");
		expect(report).toMatch(/summary \(1\)/);
		expect(listed(report).filter((line) => line.includes("  summary "))).toHaveLength(1);
		expect(report).not.toContain("⚠");
	});

	test("has bars in the human's tool row, and none in what the model gets", async () => {
		await using session = await open({ pi });
		session.script({ calls: greps("c1") }, { calls: [asks("c2")] }, "done");
		await session.prompt("go");
		expect(resultOf(session, "c2")).not.toContain("█");
		const result = { content: [{ type: "text", text: resultOf(session, "c2") }], details: undefined } as const;
		const row = (expanded: boolean) => {
			const render = session.session.getToolDefinition("mulligan_audit")?.renderResult as
				| ((...args: object[]) => { render(width: number): string[] })
				| undefined;
			return (
				render?.({ ...result, content: [...result.content] }, { expanded })
					.render(120)
					.join("\n") ?? ""
			);
		};
		expect(row(true)).toMatch(/1\d\d ██████████ result grep c1/);
		expect(row(false)).toMatch(/1\d\d \S+ +result \(1\)/);
		expect(row(false)).not.toContain("grep c1");
	});

	test.each([40, 80, 200])("keeps its columns on a terminal of %i columns, whatever the names hold", async (width) => {
		const names = [
			"short",
			"漢字かな交じり文".repeat(8),
			"👩‍👩‍👧‍👦 🎉".repeat(12),
			"é̂".repeat(40),
			"wide ｗｉｄｅ ".repeat(9),
		];
		await using session = await open({ pi, tools: { ...tools, big: () => bulk("BIG", 700) } });
		session.script(
			{ calls: [...names.map((name, at) => call.tool(`c${at}`, "grep", { pattern: name })), call.tool("b", "big")] },
			{ calls: [asks("x", { top: 20 })] },
			"done",
		);
		await session.prompt("go");
		const render = session.session.getToolDefinition("mulligan_audit")?.renderResult as
			| ((...args: object[]) => { render(width: number): string[] })
			| undefined;
		const content = [{ type: "text", text: resultOf(session, "x") }];
		const lines = render?.({ content, details: undefined }, { expanded: true }).render(width) ?? [];
		expect(lines.map(visibleWidth)).toEqual(lines.map(() => width));
		const blank = lines.findIndex((line) => line.trim() === "");
		const start = lines.findIndex((line) => line.startsWith(" Largest"));
		const list = lines.slice(
			start,
			lines.findIndex((line, at) => at > start && line.trim() === ""),
		);
		for (const table of [lines.slice(0, blank), list]) {
			const rows = table.filter((line) => /^ {3,}[\d,]+ [█▏▎▍▌▋▊▉ ]{10} /.test(line));
			expect(rows.length).toBeGreaterThan(3);
			expect(new Set(rows.map((line) => /^ +[\d,]+/.exec(line)?.[0].length))).toHaveProperty("size", 1);
			const [first = ""] = rows;
			const name = (/^ +[\d,]+ /.exec(first)?.[0].length ?? 0) + 11;
			for (const line of table.slice(table.indexOf(first)).filter((line) => !rows.includes(line) && !/^ ⚠/.test(line)))
				expect(line.slice(0, name).trim()).toBe("");
		}
		expect(list.map((line) => line.trim()).join("")).toContain("[c4]");
	});

	test.each([0, -5, 0.5])("top %s lists the usual eight, and says so", async (top) => {
		await using session = await open({ pi });
		session.script({ calls: greps(..."abcdefghij") }, { calls: [asks("x", { top })] }, "done");
		await session.prompt("go");
		expect(listed(resultOf(session, "x"))).toHaveLength(8);
		expect(resultOf(session, "x")).toContain(`\ntop takes a whole number from 1 to 100; got ${top}, so it is 8.\n`);
	});

	test.each(["many", true, [3], {}])("top %j is told to be no number, or taken as the host reads it", async (top) => {
		await using session = await open({ pi });
		session.script({ calls: greps("a", "b") }, { calls: [asks("x", { top })] }, "done");
		await session.prompt("go");
		expect(resultOf(session, "x")).toMatch(top === true ? /^Mulligan audit: / : /top: (must be|expected) number/);
	});

	test.each([
		[2.9, 2],
		["3", 3],
		[1e12, 13],
	])("top %j lists %i", async (top, count) => {
		await using session = await open({ pi });
		session.script({ calls: greps(..."abcdefghij") }, { calls: [asks("x", { top })] }, "done");
		await session.prompt("go");
		expect(listed(resultOf(session, "x"))).toHaveLength(count);
		expect(resultOf(session, "x").includes("got 1000000000000, so it is 100.")).toBe(top === 1e12);
	});

	test("never lists more than a hundred", async () => {
		const log = sessionLog();
		for (let i = 0; i < 150; i++) log.user(`prompt ${i}`);
		await using session = await resume(pi, log);
		const report = await ask(session, "1000000000");
		expect(listed(report)).toHaveLength(100);
		expect(report).toContain("\n\nLargest, no more than 100:\n");
		expect(listed(await ask(session, "9".repeat(400)))).toHaveLength(100);
	});
});

describe.each(edges)("an audit and what waits, with Pi $version", (pi) => {
	test("of two shrinks of one result it tells which is in force", async () => {
		await using session = await open({ pi, settings: { mulligan: atOnce } });
		const target = { by_tool_call_id: "c1" };
		session.script(
			{ calls: greps("c1") },
			{ calls: [call.shrink("s1", target, "the first one")] },
			{ calls: [call.shrink("s2", target, "short")] },
			"done",
		);
		await session.prompt("go");
		const lines = (await ask(session)).split("\n").filter((line) => line.includes("shrink of "));
		expect(lines).toEqual([
			expect.stringMatching(/: a later shrink of it is in force$/),
			expect.stringMatching(/: [\d,]+ → [\d,]+$/),
		]);
	});

	test("activates the queue first, spends the moment and reports the next request", async () => {
		await using session = await open({ pi });
		session.script({ calls: greps("c1") }, { calls: shrinks("c1") }, { calls: [asks("c2")] }, "done");
		await session.prompt("go");
		const report = resultOf(session, "c2");
		expect(containsText(session.lastRequest.messages, "GREP-c1\n0123")).toBe(false);
		expect(statuses(session)).toEqual(["queued", "activated"]);
		expect(report).toContain("\nActivated now: shrink of grep c1.\n");
		expect(report).toContain("Active: 0 rewind(s), 1 shrink(s)");
		expect(report).toContain("Queued: nothing.");
		expect(report).toContain("Moments: 1 of 1 spent.");
		expect(sizeOf(lineWith(report, "result grep c1"))).toBe(10);
		expect(suggestion(report)).toBe("none");
		expect(report.split("\n").at(-1)).toMatch(/^Context updated: 1 result\(s\) summarized \(~16\d tokens shed\)\./);
		expect(report.split(ORIENTATION)).toHaveLength(2);
	});

	test("rides free once the budget is spent", async () => {
		await using session = await open({ pi, settings: { mulligan: { rewrites: { flushShedTokens: 100_000 } } } });
		session.script(
			{ calls: greps("a", "b") },
			{ calls: shrinks("a", "b") },
			{ calls: greps("c") },
			{ calls: shrinks("c") },
			{ calls: [asks("d")] },
			"done",
		);
		await session.prompt("go");
		expect(resultOf(session, "d")).toContain("Activated now: shrink of grep c.");
		expect(resultOf(session, "d")).toContain("Moments: 1 of 1 spent.");
		expect(resultOf(session, "d").split("\n").at(-1)).toMatch(/^Context updated: 1 result/);
		expect(containsText(session.lastRequest.messages, "GREP-c\n0123")).toBe(false);
	});

	test("names a rewind that it activated; without a shrink there is no orientation line", async () => {
		await using session = await open({ pi });
		session.script({ calls: greps("a") }, { calls: [call.rewind("b")] }, { calls: [asks("c")] }, "done");
		await session.prompt("go");
		expect(resultOf(session, "c")).toContain("Activated now: rewind of the last tool call group.");
		expect(resultOf(session, "c")).toMatch(/rewind last_tool_call_group: 2 message\(s\) hidden/);
		expect(resultOf(session, "c")).not.toContain(ORIENTATION);
		expect(containsText(session.lastRequest.messages, "GREP-a")).toBe(false);
	});

	test.each([
		["before", (audits: Call, ops: Call[]) => [audits, ...ops]],
		["among", (audits: Call, [first, ...rest]: Call[]) => [...(first ? [first] : []), audits, ...rest]],
		["after", (audits: Call, ops: Call[]) => [...ops, audits]],
	])("%s parallel shrinks it reports all of them, and the last shrink orients", async (_where, mix) => {
		await using session = await open({ pi });
		session.script({ calls: greps("a", "b") }, { calls: mix(asks("x"), shrinks("a", "b")) }, "done");
		await session.prompt("go");
		const report = resultOf(session, "x");
		expect(report).toContain("Activated now: shrink of grep a, shrink of grep b.");
		expect(report).toContain("Moments: 1 of 1 spent.");
		expect(report).not.toContain(ORIENTATION);
		expect(resultOf(session, "sa")).not.toContain(ORIENTATION);
		expect(resultOf(session, "sb")).toContain(`${ORIENTATION}2 result(s)`);
	});

	test("with a single small shrink beside it both are one moment", async () => {
		await using session = await open({ pi });
		session.script({ calls: greps("a") }, { calls: [...shrinks("a"), asks("x")] }, "done");
		await session.prompt("go");
		expect(resultOf(session, "sa")).toContain("Active from the next request.");
		expect(resultOf(session, "x")).toContain("Activated now: shrink of grep a.");
		expect(resultOf(session, "x")).not.toContain(ORIENTATION);
	});

	test("without a queue it spends nothing and writes nothing", async () => {
		await using session = await open({ pi });
		session.script({ calls: greps("a") }, { calls: [asks("x")] }, "done");
		await session.prompt("go");
		expect(resultOf(session, "x")).toContain("Moments: 0 of 1 spent.");
		expect(resultOf(session, "x")).not.toContain("Activated now");
		const written = session.entries().flatMap((entry) => (entry.type === "custom" ? [entry.customType] : []));
		expect(written.filter((type) => type !== "mulligan:turn-metric" && type !== "mulligan:mirror")).toEqual([]);
	});

	test("of two shrinks of one result that wait it tells which will count", async () => {
		const holder = { name: "holder", setup: ({ hooks }) => hooks.onMoment.tap("holder", () => false) } as Plugin;
		await using session = await open({ pi, plugins: [...set, holder] });
		const target = { by_tool_call_id: "a" };
		session.script(
			{ calls: greps("a") },
			{ calls: [call.shrink("s1", target, "first")] },
			{ calls: [call.shrink("s2", target, "second")] },
			{ calls: [asks("x")] },
			"done",
		);
		await session.prompt("go");
		expect(resultOf(session, "x")).toMatch(
			/Queued: 2 change\(s\), ~1\d\d tokens: shrink of grep a \(a later one of it waits too\), shrink of grep a\./,
		);
	});

	test("says that ops wait which a plugin holds back", async () => {
		const holder = { name: "holder", setup: ({ hooks }) => hooks.onMoment.tap("holder", () => false) } as Plugin;
		await using session = await open({ pi, plugins: [...set, holder] });
		session.script({ calls: greps("a") }, { calls: shrinks("a") }, { calls: [asks("x")] }, "done");
		await session.prompt("go");
		expect(resultOf(session, "x")).not.toContain("Activated now");
		expect(resultOf(session, "x")).toMatch(/Queued: 1 change\(s\), ~1\d\d tokens: shrink of grep a\./);
		expect(resultOf(session, "x")).toContain("Moments: 0 of 1 spent.");
		expect(suggestion(resultOf(session, "x"))).not.toContain("grep a");
	});

	test("works where no change of earlier context is allowed, and suggests none", async () => {
		await using session = await open({ pi, settings: { mulligan: { rewrites: { maxMoments: 0 } } } });
		session.script({ calls: [call.tool("c1", "log")] }, { calls: [asks("x")] }, "done");
		await session.prompt("go");
		expect(resultOf(session, "x")).toContain("Moments: 0 of 0 spent.");
		expect(resultOf(session, "x")).not.toContain("[c1]");
		expect(suggestion(resultOf(session, "x"))).toBe("none");
	});
});

describe.each(edges)("the command, with Pi $version", (pi) => {
	test("answers the human alone: nothing is activated, written or sent", async () => {
		await using session = await open({ pi });
		session.script({ calls: greps("c1") }, { calls: shrinks("c1") }, "done");
		await session.prompt("go");
		const before = session.entries().length;
		const report = await ask(session);
		expect(report).toMatch(/^Mulligan audit: /);
		expect(suggestion(report)).toBe("none");
		expect(report).toMatch(/Queued: 1 change\(s\), ~1\d\d tokens: shrink of grep c1\./);
		expect(session.ui.notifications.at(-1)?.type).toBe("info");
		expect(session.entries()).toHaveLength(before);
		session.script("ok");
		await session.prompt("on");
		expect(containsText(session.lastRequest.messages, "Mulligan audit")).toBe(false);
		expect(containsText(session.lastRequest.messages, "GREP-c1\n0123")).toBe(true);
		expect(statuses(session)).toEqual(["queued"]);
	});

	test("answers in an empty session, with low confidence and without a request", async () => {
		await using session = await open({ pi });
		const report = await ask(session);
		expect(report).toMatch(
			/^Mulligan audit: ~[12],\d\d\d of 128,000 tokens \(\d%\), ~0 of them in 0 message\(s\)\.\nConfidence: low\.\n/,
		);
		expect(report).toContain("\n\nNo message yet.\n\n");
		expect(session.requests).toEqual([]);
		expect(session.errors).toEqual([]);
	});

	test("counts a resumed branch before any request", async () => {
		const log = sessionLog();
		log.user("x".repeat(4000));
		await using session = await resume(pi, log);
		const report = await ask(session);
		expect(report).toContain("Confidence: low.");
		expect(report).toContain("  1,000  user (1)");
	});

	test("refuses what is no whole number from 1 on, and says what it takes", async () => {
		await using session = await open({ pi });
		const numbers = ["0", "000", "-1", "+1", "2.5", "1 2", "1,000", "٣", "８", "1e9", "0x10", "NaN", "Infinity"];
		for (const args of [...numbers, "null", "many", "MANY", "x".repeat(41)]) {
			expect(await ask(session, args)).toBe(
				`Mulligan: refused — /mulligan_audit takes nothing or a whole number from 1 on, as in /mulligan_audit 20; got "${args}".`,
			);
			expect(session.ui.notifications.at(-1)?.type).toBe("warning");
		}
	});

	test("answers a text with its beginning, on one line", async () => {
		await using session = await open({ pi });
		expect(await ask(session, `a\nb${"x".repeat(5000)}`)).toMatch(/; got "a\\nbx{57}…" \(5003 characters\)\.$/);
	});

	test("lists as many as it is told", async () => {
		const log = sessionLog();
		for (let i = 0; i < 12; i++) log.user(`prompt ${i}`);
		await using session = await resume(pi, log);
		expect(listed(await ask(session))).toHaveLength(8);
		expect(listed(await ask(session, "  3 "))).toHaveLength(3);
		expect(listed(await ask(session, "12"))).toHaveLength(12);
	});

	test("reaches the human on standard error where there is no user interface", async () => {
		const written = vi.spyOn(process.stderr, "write").mockReturnValue(true);
		onTestFinished(() => written.mockRestore());
		await using session = await open({ pi, mode: "print" });
		await session.prompt("/mulligan_audit");
		await session.prompt("/mulligan_audit many");
		expect(written.mock.calls.map(([text]) => String(text))).toEqual([
			expect.stringMatching(/^Mulligan audit: /),
			expect.stringContaining('got "many"'),
		]);
	});

	test("is refused as the tool is while mulligan is disabled", async () => {
		await using session = await open({ pi, settings: { mulligan: { enabled: false } } });
		session.script({ calls: [asks("x")] }, "done");
		await session.prompt("go");
		expect(resultOf(session, "x")).toBe("Mulligan: refused — Mulligan is disabled.");
		expect(await ask(session)).toBe("Mulligan: refused — Mulligan is disabled.");
	});
});

describe.each(newest)("estimates, with Pi $version", (pi) => {
	const ofResult = (result: string | [typeof onePixel, ...object[]]) => {
		const log = sessionLog();
		log.user("go");
		log.batch([{ id: "c1", name: "grep", result: result as never }]);
		return log;
	};

	test.each<[string, string | [typeof onePixel, ...object[]], number]>([
		["a minified line", `a=${"b,".repeat(500_000)}`, 250_001],
		["CJK text, by characters and not by bytes", "漢字かな交じり文".repeat(1000), 2000],
		["characters outside the basic plane, as JavaScript counts them", "😀".repeat(1000), 500],
		["base64", Buffer.alloc(30_000, 7).toString("base64"), 10_000],
		["an image", [onePixel], 1200],
		["two images and a text", [onePixel, onePixel, { type: "text", text: "x".repeat(400) }], 2500],
		["an empty result", "", 0],
		["one character", "x", 1],
	])("%s", async (_what, result, tokens) => {
		await using session = await resume(pi, ofResult(result));
		expect(sizeOf(lineWith(await ask(session, "9"), "result grep"))).toBe(tokens);
	});

	test("a response counts its thinking, its text, and its calls as name and JSON", async () => {
		const args = { path: "漢字.ts", content: 'line\n"quoted"\n'.repeat(100), nested: [{ a: 1 }] };
		const log = sessionLog();
		log.user("go");
		log.assistant({ thinking: "t".repeat(999), text: "x".repeat(1001), calls: [{ id: "c1", name: "write", args }] });
		log.result("c1", "ok");
		await using session = await resume(pi, log);
		const chars = 999 + 1001 + "write".length + JSON.stringify(args).length;
		expect(sizeOf(lineWith(await ask(session), "assistant → write 漢字.ts"))).toBe(Math.ceil(chars / 4));
	});

	test("every other role counts its text, and the total is the sum of all", async () => {
		const log = sessionLog();
		log.user("u".repeat(4000));
		log.customMessage("team:info", "c".repeat(400));
		log.bash("make", "b".repeat(796));
		const { assistant } = log.batch([{ name: "grep", result: "r".repeat(8000) }]);
		log.branchSummary("s".repeat(1200), { branchFrom: assistant });
		await using session = await resume(pi, log);
		const report = await ask(session, "20");
		const kinds = sizedLines(report.split("\n\n")[0] ?? "");
		expect(kinds.filter((line) => !/prompt|assistant/.test(line))).toEqual([
			"  1,000  user (1)",
			"    300  summary (1)",
			"    200  bash (1)",
			"    100  custom (1)",
		]);
		expect(sizeOf(lineWith(report, "custom team:info ccc"))).toBe(100);
		expect(kinds.reduce((sum, line) => sum + sizeOf(line), 0)).toBe(total(report));
	});

	test("what Pi does not send is not counted: commands run with !! and responses that broke off", async () => {
		const log = sessionLog();
		log.user("go");
		const before = { text: "a".repeat(4000) };
		log.assistant({ ...before, stopReason: "aborted" });
		log.assistant({ ...before, stopReason: "error", errorMessage: "overloaded" });
		log.bash("cat secrets", "b".repeat(4000), { hidden: true });
		await using session = await resume(pi, log);
		const report = await ask(session);
		expect(report).toContain("~1 of them in 1 message(s).");
		expect(listed(report)).toEqual(["  1  user go"]);
		session.script("ok");
		await session.prompt("on");
		expect(containsText(session.lastRequest.messages, "bbbb")).toBe(false);
	});

	test("once the provider's figures agree all are given in its tokens, and the label is high", async () => {
		await using session = await open({ pi, settings: { mulligan: { audit: { estimateConfidence: "low" } } } });
		session.otherwise({ text: "ok", usage: { input: 60_000 } });
		await session.prompt("x".repeat(4000));
		const before = await ask(session);
		expect(before).toContain("Confidence: low.");
		await session.prompt("two");
		await session.prompt("three");
		const after = await ask(session);
		expect(after).toContain("Confidence: high (calibrated ×3.00).");
		expect([sizeOf(lineWith(before, "user xxx")), sizeOf(lineWith(after, "user xxx"))]).toEqual([1000, 3000]);
		expect(total(after) / total(before)).toBeCloseTo(3, 1);
		expect(sizeOf(lineWith(after, "prompt and tools"))).toBeGreaterThan(3000);
	});

	test.each(["low", "medium", "high"])(
		"uncalibrated estimates are labelled %s where the config says so",
		async (label) => {
			await using session = await open({ pi, settings: { mulligan: { audit: { estimateConfidence: label } } } });
			session.script("ok");
			await session.prompt("go");
			expect(await ask(session)).toContain(`Confidence: ${label}.\n`);
		},
	);

	test("a wrong label is one warning and its default", async () => {
		await using session = await open({ pi, settings: { mulligan: { audit: { estimateConfidence: "sure" } } } });
		expect(session.ui.notifications.map(({ message }) => message)).toEqual([
			expect.stringMatching(/audit\.estimateConfidence.*"sure".*"low" or "medium" or "high"/s),
		]);
		session.script("ok");
		await session.prompt("go");
		expect(await ask(session)).toContain("Confidence: medium.\n");
	});
});

describe.each(newest)("marks, with Pi $version", (pi) => {
	const KB = 1024;
	const log = () => {
		const made = sessionLog();
		made.user("u".repeat(17 * KB));
		made.batch([
			{ name: "read", args: { path: "big.ts" }, result: "r".repeat(25 * KB) },
			{ name: "read", args: { path: "fair.ts" }, result: "r".repeat(24 * KB - 1) },
			{ name: "bash", args: { command: "ls" }, result: "漢".repeat(6 * KB) },
			{ name: "bash", args: { command: "pwd" }, result: "x".repeat(16 * KB) },
			{ name: "toString", result: "x".repeat(17 * KB) },
		]);
		return made;
	};
	test("stand on what reaches its tool's threshold, and on other messages that reach the global one", async () => {
		await using session = await resume(pi, log());
		const report = await ask(session);
		expect(report.match(/⚠ [\d,]+ bytes, threshold [\d,]+/g)).toEqual([
			"⚠ 25,600 bytes, threshold 24,576",
			"⚠ 17,408 bytes, threshold 16,384",
			"⚠ 17,408 bytes, threshold 16,384",
			"⚠ 16,384 bytes, threshold 16,384",
			"⚠ 18,432 bytes, threshold 16,384",
		]);
		expect(lineWith(report, "read fair.ts")).not.toContain("⚠");
		expect(lineWith(report, "bash pwd")).toContain("⚠ 16,384 bytes");
		expect(lineWith(report, "user uuu")).toContain("⚠");
		expect(lineWith(report, "bash ls")).toContain("⚠ 18,432 bytes");
	});

	test("stand on just those results that the reminder speaks of", async () => {
		const dump = ({ bytes }: Record<string, unknown>) => "x".repeat(Number(bytes));
		await using session = await open({ pi, tools: { dump, read: dump } });
		const sizes = [16_383, 16_384].map((bytes, at) => call.tool(`d${at}`, "dump", { bytes }));
		const reads = [24_575, 24_576].map((bytes, at) => call.tool(`r${at}`, "read", { bytes }));
		session.script({ calls: [...sizes, ...reads] }, { calls: [asks("x")] }, "done");
		await session.prompt("go");
		const isReminded = (id: string) => resultOf(session, id).includes("[mulligan] This result is");
		const isMarked = (id: string) => lineWith(resultOf(session, "x"), `[${id}]`)?.includes("⚠");
		for (const id of ["d0", "d1", "r0", "r1"]) expect([id, isMarked(id)]).toEqual([id, isReminded(id)]);
		expect(["d0", "d1", "r0", "r1"].map(isMarked)).toEqual([false, true, false, true]);
	});

	test("count what a response thinks and what its calls carry", async () => {
		const log = sessionLog();
		log.user("go");
		log.assistant({ thinking: "漢".repeat(5462), text: "thought" });
		log.assistant({ thinking: "漢".repeat(5461), text: "!" });
		log.batch([{ name: "write", args: { path: "a.ts", content: "x".repeat(17_000) }, result: "ok" }]);
		await using session = await resume(pi, log);
		const report = await ask(session);
		expect(lineWith(report, "assistant thought")).toContain("⚠ 16,393 bytes, threshold 16,384");
		expect(lineWith(report, "assistant !")).toContain("⚠ 16,384 bytes");
		expect(lineWith(report, "assistant → write a.ts")).toContain("⚠ 17,028 bytes");
	});

	test("are counted where the list does not reach", async () => {
		await using session = await resume(pi, log());
		expect(await ask(session, "1")).toContain("\n⚠ 4 more at or above their threshold\n");
		expect(await ask(session)).not.toContain("more at");
	});

	test("keep to the defaults without the nudges plugin", async () => {
		const plugins = set.filter(({ name }) => name !== "nudges");
		await using session = await resume(pi, log(), { plugins });
		expect((await ask(session)).match(/threshold [\d,]+/g)).toEqual([
			"threshold 24,576",
			...Array(4).fill("threshold 16,384"),
		]);
	});

	test("follow the nudges' thresholds", async () => {
		const nudges = { bloatThresholdBytes: 100_000, bloatThresholdBytesByTool: { bash: 17_000 } };
		await using session = await resume(pi, log(), { settings: { mulligan: { nudges } } });
		const report = await ask(session);
		expect(report.match(/⚠.*/g)).toEqual(["⚠ 25,600 bytes, threshold 24,576", "⚠ 18,432 bytes, threshold 17,000"]);
		expect(lineWith(report, "bash ls")).toContain("⚠ 18,432 bytes, threshold 17,000");
		expect(lineWith(report, "user uuu")).not.toContain("⚠");
	});
});

describe.each(newest)("labels, with Pi $version", (pi) => {
	const labelled = async (name: string, args: Record<string, unknown>, result = "x".repeat(400)) => {
		const log = sessionLog();
		log.user("go");
		log.batch([{ id: "c1", name, args, result }]);
		await using session = await resume(pi, log);
		return lineWith(await ask(session), `result ${name}`)
			?.replace(/ {2}\[c1\]$/, "")
			.trimStart();
	};

	test.each<[Record<string, unknown>, string]>([
		[{ command: "npm test" }, "bash npm test"],
		[{ command: "cat <<'E'\n\tfirst\r\n second\nE" }, "bash cat <<'E' first second E"],
		[{ path: "src/a.ts", offset: 3, content: "body" }, "bash src/a.ts"],
		[{ pattern: "total", path: "src" }, "bash total in src"],
		[{ file_path: "b.ts" }, "bash b.ts"],
		[{ depth: 2, topic: "cats" }, "bash cats"],
		[{ depth: 2 }, "bash"],
		[{}, "bash"],
		[{ command: 7, path: null }, "bash"],
		[{ command: "\u001b[31mred\u0007\u202Eevil" }, "bash [31mred evil"],
		[{ command: "cd /project/packages && npm test" }, "bash npm test"],
		[{ command: 'cd "my folder" && ls' }, "bash ls"],
		[{ command: "cd src; ls" }, "bash cd src; ls"],
		[{ path: `/elsewhere/${"deep/".repeat(20)}name.ts` }, `bash …${"deep/".repeat(20).slice(-40)}name.ts`],
		[{ path: "😀".repeat(60) }, `bash …${"😀".repeat(47)}`],
		[{ command: "x".repeat(1_000_000) }, `bash ${"x".repeat(47)}…`],
		[{ command: "😀".repeat(60) }, `bash ${"😀".repeat(47)}…`],
		[{ command: " ".repeat(100_000) }, "bash"],
	])("of a call with %j", async (args, label) => {
		expect(await labelled("bash", args)).toBe(`100  result ${label}`);
	});

	test("a path inside the working directory goes without that", async () => {
		await using session = await open({ pi });
		const { cwd } = session;
		const paths = [`${cwd}/src/a.ts`, `${cwd}-b/c.ts`.slice(-40), cwd.slice(-40), `${cwd}/`];
		session.script({ calls: paths.map((path, at) => call.tool(`c${at}`, "tiny", { path })) }, "done");
		await session.prompt("go");
		const report = await ask(session, "20");
		for (const path of ["src/a.ts", `${cwd}-b/c.ts`.slice(-40), cwd.slice(-40)])
			expect(report).toContain(` result tiny ${path}  [`);
	});

	test("a response is named by its first call and the number of others, or by its text", async () => {
		const log = sessionLog();
		log.user("the\nquestion");
		log.batch([
			{ name: "write", args: { path: "a.ts", content: "x".repeat(400) }, result: "ok" },
			{ name: "bash", args: { command: "ls" }, result: "ok" },
		]);
		log.assistant("All\ndone.");
		await using session = await resume(pi, log);
		const report = await ask(session);
		expect(lineWith(report, "assistant → write a.ts and 1 more call(s)")).toBeDefined();
		expect(lineWith(report, "assistant All done.")).toBeDefined();
		expect(lineWith(report, "user the question")).toBeDefined();
	});

	test("calls of mulligan's own tools go without their arguments: a replacement is never read twice", async () => {
		await using session = await open({ pi, settings: { mulligan: atOnce } });
		session.script({ calls: greps("c1") }, { calls: [call.shrink("c2", { by_tool_call_id: "c1" }, "NEEDLE")] }, "done");
		await session.prompt("go");
		const report = await ask(session, "20");
		expect(report).toContain("result mulligan_shrink\n");
		expect(report).toContain("assistant → mulligan_shrink\n");
		expect(report).not.toContain("NEEDLE");
	});

	test("a list is cut so that every message stays on its line", async () => {
		const log = sessionLog();
		for (let i = 0; i < 5; i++) log.user(`\n\n  7,000  fake row ${i}\n\n${"long ".repeat(100)}`);
		await using session = await resume(pi, log);
		expect(listed(await ask(session))).toHaveLength(5);
	});
});

describe.each(edges)("the suggestion, with Pi $version", (pi) => {
	const shrinkOff = { mulligan: { shrink: { enabled: false } } };
	const reportAfter = async (steps: Call[][], options: OpenSessionOptions = {}) => {
		await using session = await open({ pi, ...options });
		session.script(...steps.map((calls) => ({ calls })), { calls: [asks("x")] }, "done");
		await session.prompt("go");
		return suggestion(resultOf(session, "x"));
	};

	test("is the largest result of this prompt, and the shrink is taken", async () => {
		await using session = await open({ pi });
		session.script({ calls: [call.tool("old", "log")] }, "done");
		await session.prompt("first");
		session.script(
			{ calls: [...greps("a"), call.tool("b", "run")] },
			{ calls: [asks("x")] },
			{ calls: shrinks("b") },
			"done",
		);
		await session.prompt("second");
		expect(suggestion(resultOf(session, "x"))).toMatch(
			/^Largest removable: run b, ~1,0\d\d tokens\. Once you have what you need from it, mulligan_shrink it\.$/,
		);
		expect(lineWith(resultOf(session, "x"), "result log")).not.toContain("[old]");
		expect(resultOf(session, "sb")).toContain("Matched: yes.");
	});

	test("is the newest call where no result of this prompt can go, and the rewind is taken", async () => {
		await using session = await open({ pi });
		session.script({ calls: [call.tool("old", "log"), call.tool("t", "tiny")] }, "done");
		await session.prompt("first");
		session.script({ calls: [asks("x")] }, { calls: [call.rewind("r")] }, "done");
		await session.prompt("second");
		expect(resultOf(session, "x", session.requests.at(-2))).toMatch(
			/Largest removable: your newest call \(log, tiny\), ~[45],\d\d\d tokens\. If it was no use, mulligan_rewind with last_tool_call_group\.$/,
		);
		expect(resultOf(session, "r")).toContain("rewind recorded");
		expect(containsText(session.lastRequest.messages, "LOG\n0123")).toBe(false);
	});

	test("tells that a change would wait once the moments are spent", async () => {
		const rewrites = { flushShedTokens: 100 };
		const said = await reportAfter([greps("a"), shrinks("a"), greps("b")], { settings: { mulligan: { rewrites } } });
		expect(said).toMatch(/grep b, .* It would wait in the queue: the moments are spent\.$/);
	});

	test("does not say so of one that the safety valve lets through", async () => {
		const rewrites = { flushShedTokens: 100, safetyValveTokens: 100 };
		const said = await reportAfter([greps("a"), shrinks("a"), greps("b")], { settings: { mulligan: { rewrites } } });
		expect(said).toMatch(/grep b, .* mulligan_shrink it\.$/);
	});

	test.each<[string, Call[][], OpenSessionOptions, RegExp]>([
		["only small results", [[call.tool("a", "tiny")]], {}, /^none$/],
		["shrink switched off", [greps("a")], { settings: shrinkOff }, /your newest call \(grep\)/],
		["neither tool active", [greps("a")], { activeTools: ["grep", "mulligan_audit", "mulligan_cancel"] }, /^none$/],
		["only shrink active", [greps("a")], { activeTools: ["grep", "mulligan_audit", "mulligan_shrink"] }, /grep a/],
		[
			"rewind switched off",
			[greps("a")],
			{ settings: { mulligan: { shrink: { enabled: false }, rewind: { enabled: false } } } },
			/^none$/,
		],
		[
			"rewinds at their most",
			[greps("a"), [call.rewind("r")], greps("b")],
			{ settings: { mulligan: { shrink: { enabled: false }, rewind: { maxDepth: 1 } } } },
			/^none$/,
		],
		[
			"retries at their most",
			[greps("a"), [call.rewind("r")], greps("b")],
			{ settings: { mulligan: { shrink: { enabled: false }, rewind: { maxRetriesPerPrompt: 1 } } } },
			/^none$/,
		],
		[
			"a refused rewind as the last retry",
			[[call.rewind("r")], greps("b")],
			{ settings: { mulligan: { shrink: { enabled: false }, rewind: { maxRetriesPerPrompt: 1 } } } },
			/^none$/,
		],
		[
			"a window too full for a rewind",
			[greps("a")],
			{ settings: { mulligan: { shrink: { enabled: false }, rewind: { abortContextFraction: 0.001 } } } },
			/^none$/,
		],
		["an earlier rewind met first", [greps("a"), greps("b"), [call.rewind("r")]], { settings: shrinkOff }, /^none$/],
		[
			"an audit before it",
			[greps("a"), [asks("y")]],
			{ settings: shrinkOff },
			/your newest call \(grep\), ~[3-9]\d\d tokens/,
		],
	])("with %s", async (_what, steps, options, expected) => {
		expect(await reportAfter(steps, options)).toMatch(expected);
	});

	test("is no rewind while the audit has siblings, whose results a rewind would hide first", async () => {
		await using session = await open({ pi, settings: shrinkOff });
		session.script({ calls: greps("a") }, { calls: [asks("x"), ...greps("b".repeat(1000))] }, "done");
		await session.prompt("go");
		expect(suggestion(resultOf(session, "x"))).toBe("none");
	});

	test("counts rewinds that wait as rewinds that stand", async () => {
		const asked = async (maxDepth: number) => {
			const mulligan = { shrink: { enabled: false }, rewind: { maxDepth } };
			await using session = await open({ pi, settings: { mulligan } });
			session.script({ calls: greps("a") }, { calls: [call.rewind("r")] }, { calls: greps("b") }, "done");
			await session.prompt("go");
			expect(statuses(session)).toEqual(["queued"]);
			return suggestion(await ask(session));
		};
		expect(await asked(1)).toBe("none");
		expect(await asked(2)).toContain("your newest call (grep)");
	});

	test("may be a result that was stored beside the audit, where Pi runs a batch one by one", async () => {
		const slow = { run: () => "x".repeat(4000), sequential: true };
		await using session = await open({ pi, tools: { slow } });
		session.script({ calls: [call.tool("a", "slow"), asks("x")] }, { calls: shrinks("a") }, "done");
		await session.prompt("go");
		expect(suggestion(resultOf(session, "x"))).toContain("slow a, ~1,000 tokens");
		expect(resultOf(session, "sa")).toContain("Matched: yes.");
	});

	test("is the call that a rewind would hide: none that broke off, which Pi does not send", async () => {
		const log = sessionLog();
		log.user("go");
		log.batch([{ name: "grep", result: "x".repeat(4000) }]);
		log.assistant({ calls: [{ id: "c2", name: "write", args: { content: "y".repeat(2000) } }], stopReason: "aborted" });
		await using session = await resume(pi, log, { settings: shrinkOff });
		session.script({ calls: [call.rewind("r")] }, "done");
		expect(suggestion(await ask(session))).toContain("your newest call (grep)");
		await session.prompt("on");
		expect(records(session, "mulligan:queued")).toEqual([
			expect.objectContaining({ op: expect.objectContaining({ entryIds: ["00000002", "00000003"] }) }),
		]);
	});

	test("is never one of mulligan's own results", async () => {
		const log = sessionLog();
		for (let i = 0; i < 20; i++) log.user(`prompt ${i}`);
		await using session = await resume(pi, log, { activeTools: ["mulligan_audit", "mulligan_shrink"] });
		session.script({ calls: [asks("x", { top: 100 })] }, { calls: [asks("y")] }, "done");
		await session.prompt("go");
		expect(sizeOf(lineWith(resultOf(session, "y"), "result mulligan_audit"))).toBeGreaterThan(100);
		expect(resultOf(session, "y")).not.toContain("[x]");
		expect(suggestion(resultOf(session, "y"))).toBe("none");
	});
});

describe.each(newest)("cost, with Pi $version", (pi) => {
	test("a report of ten thousand entries stays short and quick, whatever they hold", async () => {
		const log = sessionLog();
		log.user("go");
		const wide = "漢字".repeat(50);
		const results: string[] = [];
		for (let i = 0; i < 3330; i++) {
			const args = { pattern: wide, path: `${wide}${i}` };
			results.push(...log.batch([{ name: "grep", args, result: `result ${i}` }]).results);
			log.user(`${wide}${i}`);
		}
		for (let i = 0; i < 60; i++) {
			const id = log.custom("mulligan:checkpoint", { schema: "pi-mulligan", v: 1, kind: "checkpoint", name: `n${i}` });
			log.label(id, `mulligan:checkpoint:n${i}`);
		}
		for (const [seq, pinnedEntryId] of results.slice(0, 32).entries()) {
			const body = { id: `m${seq}`, target: { by_tool_name: "grep" }, replacement: "short", pinnedEntryId };
			log.custom("mulligan:shrink", { schema: "pi-mulligan", v: 1, kind: "shrink", seq, ts: 0, ...body });
		}
		await using session = await resume(pi, log);
		const start = performance.now();
		const [usual, most] = [await ask(session), await ask(session, "100")];
		// Two of them take some 100 ms: only work that grows with the square of the branch comes near.
		expect(performance.now() - start).toBeLessThan(5000);
		expect(usual).toContain("in 9,991 message(s)");
		expect(usual.length).toBeLessThan(2500);
		expect(most.length).toBeLessThan(15_000);
		expect(usual).toContain("60 checkpoint(s) [40 older, n40, n41,");
		expect(usual).toContain("Active: 0 rewind(s), 32 shrink(s)");
		expect(usual).toContain("\n  27 older\n");
	});

	test("the declarations of the four tools tell what a model must know to use them", () => {
		const declared = new Map(set.flatMap(({ tools: all }) => (all ?? []).map((tool) => [tool.name, tool.description])));
		const says: Readonly<Record<string, readonly RegExp[]>> = {
			mulligan_rewind: [
				/the user still sees the hidden text/,
				/checkpoint .* only the user sets with \/mulligan_checkpoint, their later prompts included/,
				/Call it alone/,
				/Effects on disk persist/,
			],
			mulligan_shrink: [
				/Only results of the current prompt can be shrunk/,
				/replacement becomes your only memory of it/,
			],
			mulligan_cancel: [/It is safe/, /files and commands are not undone/],
			mulligan_audit: [/It activates queued changes/],
		};
		expect([...declared.keys()].sort()).toEqual(Object.keys(says).sort());
		for (const [name, patterns] of Object.entries(says))
			for (const pattern of patterns) expect(declared.get(name)).toMatch(pattern);
	});

	test("the declarations of the four tools stay below 700 tokens, the audit's below 110", () => {
		const cost = (plugins: readonly Plugin[]) =>
			plugins
				.flatMap(({ tools: declared }) => declared ?? [])
				.map(({ name, description, parameters }) => JSON.stringify({ name, description, parameters }).length / 4)
				.reduce((sum, tokens) => sum + tokens, 0);
		expect(cost([audit as Plugin])).toBeLessThan(110);
		expect(cost(set)).toBeLessThan(700);
		expect(set.flatMap(({ tools: declared }) => declared ?? [])).toHaveLength(4);
	});
});
