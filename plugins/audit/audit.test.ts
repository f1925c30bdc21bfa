import { describe, expect, test } from "vitest";
import { DEFAULT_PLUGINS } from "../../src/default-set.ts";
import { mulliganWith } from "../../src/extension.ts";
import type { Plugin } from "../../src/kernel/plugin.ts";
import { containsText, onePixel, openSession, piVersions, sessionLog, textOf } from "../../src/testing/index.ts";
import { atOnce, bulk, call, records } from "../../test/support/mulligan.ts";
import { audit } from "./index.ts";

const edges = piVersions().filter(({ name }) => name === "oldest" || name === "newest");
const set = [...DEFAULT_PLUGINS.filter(({ name }) => name !== "audit"), audit] as readonly Plugin[];
const tools = {
	grep: ({ pattern }: Record<string, unknown>) => bulk(`GREP-${pattern}`),
	log: () => bulk("LOG", 1100),
	read: () => bulk("READ", 1700),
};
const askAudit = (id: string, args: Record<string, unknown> = {}) => call.tool(id, "mulligan_audit", args);
type Options = NonNullable<Parameters<typeof openSession>[0]>;
const open = (options: Options) =>
	openSession({ tools, extensionPaths: [], extensions: [(api) => mulliganWith(set, api)], ...options });
type Opened = Awaited<ReturnType<typeof open>>;
const last = (session: Opened) => textOf(session.lastRequest.messages.at(-1) as never);
const answer = (session: Opened) => session.ui.notifications.at(-1)?.message ?? "";

describe.each(edges)("with Pi $version", (pi) => {
	test("the report lists the largest with tool, argument, size and the id that a shrink takes", async () => {
		await using session = await open({ pi });
		session.script(
			{ calls: [call.tool("c1", "grep", { pattern: "total" }), call.tool("c2", "log")] },
			{ calls: [askAudit("c3", { top: 2 })] },
			"done",
		);
		await session.prompt("go");
		const lines = last(session).split("\n");
		expect(lines[0]).toMatch(/^Context: ~[\d,]+ tokens of [\d,]+, [\d.]+ % of the window \(confidence medium\)$/);
		expect(lines[1]).toMatch(/^Prompt and tools ~[\d,]+; \d message\(s\) in view$/);
		expect(lines.slice(2, 5)).toEqual([
			"Largest:",
			expect.stringMatching(/^ {2}4,676 log {2,}\[c2\] {2}⚠ over 16,384 bytes$/),
			expect.stringMatching(/^ {4}17\d grep {2}total {2}\[c1\]$/),
		]);
		expect(lines.slice(5)).toEqual([
			"Edits: 0 rewind(s) and 0 shrink(s) active, none queued, 0 retired; 0 of 1 moment(s) spent",
			"Largest removable: mulligan_shrink of log c2 (~4676 tokens)",
		]);
	});

	test("a result over the global threshold but under its tool's own is not marked", async () => {
		await using session = await open({ pi, tools: { ...tools, read: () => bulk("READ", 1200) } });
		session.script({ calls: [call.tool("c1", "read"), call.tool("c2", "log")] }, { calls: [askAudit("c3")] }, "done");
		await session.prompt("go");
		const marked = last(session)
			.split("\n")
			.filter((line) => line.includes("⚠"));
		expect(marked).toHaveLength(1);
		expect(marked[0]).toContain("log");
	});

	test("an audit activates what waits, spends the moment, and its figures are those of the next request", async () => {
		await using session = await open({ pi });
		session.script(
			{ calls: [call.tool("c1", "grep", { pattern: "x" })] },
			{ calls: [call.shrink("c2", { by_tool_name: "grep" }, "short")] },
			{ calls: [askAudit("c3")] },
			"done",
		);
		await session.prompt("go");
		expect(containsText(session.lastRequest.messages, "<context-shrunk>\nshort")).toBe(true);
		expect(last(session)).toContain("Activated: shrink of grep c1.");
		expect(last(session)).toContain(
			"0 rewind(s) and 1 shrink(s) active, none queued, 0 retired; 1 of 1 moment(s) spent",
		);
		expect(last(session).split("\n").at(-1)).toMatch(/^Context updated: 1 result\(s\) summarized/);
		expect(last(session)).not.toContain("[c1]");
	});

	test("once the budget is spent an audit is a free ride", async () => {
		await using session = await open({ pi, settings: { mulligan: { rewrites: { flushShedTokens: 100_000 } } } });
		session.script(
			{ calls: [call.tool("a", "grep", { pattern: "a" }), call.tool("b", "grep", { pattern: "b" })] },
			{ calls: [call.shrink("sa", { by_tool_call_id: "a" }), call.shrink("sb", { by_tool_call_id: "b" })] },
			{ calls: [call.tool("c", "grep", { pattern: "c" })] },
			{ calls: [call.shrink("sc", { by_tool_call_id: "c" })] },
			{ calls: [askAudit("d")] },
			"done",
		);
		await session.prompt("go");
		expect(last(session)).toContain("Activated: shrink of grep c.");
		expect(last(session)).toContain("1 of 1 moment(s) spent");
	});

	test("what is hidden is not counted, what is shrunk is counted at its new size", async () => {
		await using session = await open({ pi, settings: { mulligan: atOnce } });
		session.script(
			{ calls: [call.tool("c1", "log")] },
			{ calls: [call.rewind("c2")] },
			{ calls: [call.tool("c3", "log")] },
			{ calls: [call.shrink("c4", { by_tool_name: "log" }, "green")] },
			{ calls: [askAudit("c5")] },
			"done",
		);
		await session.prompt("go");
		expect(last(session)).not.toContain("4,676");
		expect(last(session)).toContain("1 rewind(s) and 1 shrink(s) active");
		expect(last(session)).not.toContain("Largest removable");
	});

	test("the command answers the human alone, before any request with low confidence", async () => {
		await using session = await open({ pi });
		await session.prompt("/mulligan_audit 3");
		expect(answer(session)).toMatch(/confidence low/);
		expect(session.requests).toEqual([]);
		await session.prompt("/mulligan_audit many");
		expect(answer(session)).toBe('/mulligan_audit takes how many messages to list, 1 to 100; it got "many".');
		session.script(
			{ calls: [call.tool("c1", "grep", { pattern: "x" })] },
			{ calls: [call.shrink("c2", { by_tool_name: "grep" })] },
			"done",
		);
		await session.prompt("go");
		const before = session.entries().length;
		await session.prompt("/mulligan_audit");
		expect(answer(session)).toContain("1 queued (~");
		expect(session.entries()).toHaveLength(before);
		expect(records(session, "mulligan:shrink")).toEqual([]);
		expect(containsText(session.lastRequest.messages, "Context: ~")).toBe(false);
	});

	test.each([0, -3, 2.5, 1e9])("an odd number of rows is taken as what it can be: %s", async (top) => {
		await using session = await open({ pi });
		session.script({ calls: [call.tool("c1", "log")] }, { calls: [askAudit("c2", { top })] }, "done");
		await session.prompt("go");
		if (Number.isInteger(top)) expect(last(session)).toContain("Largest:");
		expect(session.errors).toEqual([]);
	});

	test("checkpoints are named", async () => {
		await using session = await open({ pi });
		session.script("hi", { calls: [askAudit("c1")] }, "done");
		await session.prompt("go");
		const id = session.sessionManager.appendCustomEntry("mulligan:checkpoint", {
			schema: "pi-mulligan",
			v: 1,
			name: "base",
		});
		session.sessionManager.appendLabelChange(id, "mulligan:checkpoint:base");
		await session.prompt("on");
		expect(last(session)).toContain("1 checkpoint(s) [base] (user-set)");
	});

	test.each<[string, string | readonly object[], number]>([
		["a minified line", "x".repeat(8000), 2000],
		["CJK text", "漢字".repeat(1000), 500],
		["base64", Buffer.alloc(3000, 7).toString("base64"), 1000],
		["an image", [onePixel], 1200],
	])("the plain estimate of %s", async (_what, result, tokens) => {
		const log = sessionLog();
		log.user("go");
		log.batch([{ name: "grep", args: {}, result: result as never }]);
		await using session = await open({ pi, log });
		await session.prompt("/mulligan_audit 1");
		expect(answer(session)).toContain(`  ${tokens.toLocaleString("en-US")} grep`);
	});

	test("calibrated figures are labelled high and follow the provider's counts", async () => {
		await using session = await open({ pi });
		const usage = { input: 60_000, output: 1, cacheRead: 0, cacheWrite: 0 };
		session.otherwise({ text: "ok", usage } as never);
		for (const prompt of ["one", "two", "three"]) await session.prompt(prompt);
		await session.prompt("/mulligan_audit");
		expect(answer(session)).toContain("(confidence high)");
	});
});

test("twenty thousand messages are audited without a walk for each", async () => {
	const log = sessionLog();
	for (let i = 0; i < 5000; i++) {
		log.user(`prompt ${i}`);
		log.batch([{ name: "grep", args: { pattern: `p${i}` }, result: `result ${i}` }]);
		log.assistant("ok");
	}
	await using session = await open({ log });
	await session.prompt("/mulligan_audit 8");
	expect(answer(session)).toContain("20000 message(s) in view");
});
