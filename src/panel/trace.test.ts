import { describe, expect, test } from "vitest";
import { panelState, settingsWith } from "../../test/support/panel-state.ts";
import type { Trigger } from "../kernel/decide.ts";
import type { Op, PastMoment } from "../kernel/moments.ts";
import type { PluginTrace, RequestTrace } from "../kernel/trace.ts";
import { traceLines } from "./trace.ts";

const idle = { hidden: [], kept: 0, changed: [], notes: 0, annotations: [], times: [] };
const plugin = (name: string, more: Partial<PluginTrace>): PluginTrace => ({ plugin: name, ...idle, ...more });
const entries = (count: number) =>
	Array.from({ length: count }, (_, at) => ({ id: `e${at + 1}`, tokens: 100, newTokens: 0 }));
const op = { describe: "shrink of grep c3" } as Op;
const moment = (more: Partial<PastMoment> = {}): PastMoment => ({
	...{ ops: [op], volumeTokens: 4100, trigger: "volume", free: false },
	...more,
});

const trace: RequestTrace = {
	number: 7,
	tokens: 12_345,
	plugins: [
		plugin("rewind", {
			hidden: entries(7),
			kept: 1,
			notes: 2,
			times: [
				{ hook: "beforeFilter", calls: 1, ms: 0.1 },
				{ hook: "onOp", calls: 3, ms: 0.256 },
			],
		}),
		plugin("shrink", {
			changed: [{ id: "c3", tokens: 4100, newTokens: 12 }],
			times: [{ hook: "transformMessage", calls: 4, ms: 0.05 }],
		}),
		plugin("nudges", { annotations: ["[mulligan] Context is at ~71% of the window."] }),
		plugin("gone", { hidden: entries(1) }),
	],
};
const lines = (over: Parameters<typeof panelState>[0], width = 120) => traceLines(panelState(over), width);
const momentLine = (last: PastMoment) => {
	const { run } = panelState();
	return lines({ run: { moments: { ...run.moments, last } } }, 400).at(-1);
};

test("the trace says of each plugin what it did to the last request, and how long it took", () => {
	expect(lines({ run: { trace } }).join("\n")).toBe(
		[
			"Request 7 of this session: a view of ~12,345 tokens, made in 0.15 ms.",
			"  plugin       view     other    what it did to the request",
			"  checkpoints  0.00 ms           nothing",
			"  rewind       0.10 ms  0.26 ms  hid 7 messages, ~700 tokens (entry e1, entry e2, entry e3, entry e4, entry e5 and 2",
			"                                 more); asked to hide 1 message that the kernel kept; keeps 2 notes in the view",
			"  shrink       0.05 ms           changed 1 message, ~4,100 → 12 tokens (entry c3)",
			"  cancel       0.00 ms           nothing",
			"  nudges       0.00 ms           added “[mulligan] Context is at ~71% of the window.”",
			"  audit        0.00 ms           nothing",
			"  gone         0.00 ms           hid 1 message, ~100 tokens (entry e1)",
			"view: the time that making this view took; other: that of all other hooks since the request before.",
			"Last moment: none since the session started here.",
		].join("\n"),
	);
});

test.each([40, 80, 120])("no line is longer than %i columns", (width) => {
	const { run } = panelState();
	const all = lines({ run: { trace, moments: { ...run.moments, last: moment() } } }, width);
	expect(Math.max(...all.map((line) => line.length))).toBeLessThanOrEqual(width);
});

test("before the first request there is none", () => {
	expect(lines({})).toEqual([
		"No request was made since the session started here.",
		"Last moment: none since the session started here.",
	]);
});

test("while mulligan is off it touches nothing", () => {
	expect(lines({ config: { settings: settingsWith({ enabled: false }) } })).toEqual([
		"Mulligan is off: it touches no request.",
	]);
});

describe("the last moment", () => {
	test.each<[Trigger, string]>([
		["volume", "at least 4,000 tokens waited"],
		["safety valve", "more than 16,000 tokens waited"],
		["second op", "a second change came in one turn"],
		["same turn", "another change of its turn had become active"],
		["audit", "the model called mulligan_audit"],
		["cancel", "a change was taken back"],
		["resume", "the session was resumed after a pause"],
		["compaction", "the context was compacted"],
		["model change", "the model was changed"],
	])("by %s", (trigger, why) => {
		expect(momentLine(moment({ trigger }))).toBe(
			`Last moment: 1 change (shrink of grep c3), ~4,100 tokens, because ${why}; one moment of the budget.`,
		);
	});

	test("that was free says so", () => {
		expect(momentLine(moment({ free: true }))).toContain("; at no cost: the prompt cache broke anyway.");
	});

	test("that was held back says by whom", () => {
		expect(momentLine(moment({ heldBy: "holder" }))).toBe(
			"Last moment: holder held back 1 change (shrink of grep c3), which would have become active because at least 4,000 tokens waited.",
		);
	});
});
