import { describe, expect, test } from "vitest";
import { defineNudge, definePlugin } from "../plugin.ts";
import { piVersions } from "./pi-versions.ts";
import { type FiringCase, pluginTable, type ValidCase } from "./plugin-table.ts";

const greps = defineNudge({
	name: "greps",
	when: (view) => view.calls("grep").length >= 3,
	say: "Three greps: read the file instead.",
});
const tools = { grep: () => "a.ts: total" };
const grep = (id: string) => ({ calls: [{ id, name: "grep", args: {} }] });
const prompts = (count: number): ValidCase["prompts"] => [
	["go", ...["a", "b", "c", "d"].slice(0, count).map(grep), "done"],
];
const two: ValidCase = { name: "two greps", tools, prompts: prompts(2) };
const three: FiringCase = { name: "three greps", tools, prompts: prompts(3), says: "Three greps" };

describe.each(piVersions())("a table with Pi $version", (pi) => {
	test.each(pluginTable(greps, { valid: [two], fires: [three, { ...three, name: "four", says: /read the file/g }] }))(
		"holds: $name",
		({ run }) => run(pi),
	);

	const redactor = definePlugin({
		name: "redactor",
		setup: ({ hooks }) =>
			hooks.onToolResult.tap("redactor", (result) => ({ ...result, content: [{ type: "text", text: "[redacted]" }] })),
	});
	test.each(
		pluginTable(redactor, {
			valid: [{ name: "no result", prompts: [["go", "done"]] }],
			fires: [{ name: "a result", tools, prompts: prompts(1), hides: "total", says: "[redacted]" }],
		}),
	)("of what is hidden holds: $name", ({ run }) => run(pi));
});

const failing = async (rows: readonly { run(): Promise<void> }[]) => {
	const outcomes = await Promise.allSettled(rows.map(({ run }) => run()));
	return outcomes.map((outcome) => (outcome.status === "rejected" ? String(outcome.reason.message) : "passed"));
};

describe("a row that the plugin does not keep to", () => {
	test.each<[string, { valid?: ValidCase; fires?: FiringCase; plugin?: Parameters<typeof pluginTable>[0] }, RegExp]>([
		[
			"it speaks where it should not",
			{ valid: { ...two, name: "three", prompts: prompts(3) } },
			/greps, valid: three\n- request 4, message 8: expected what is sent without the plugin, "nothing"; sent was "user: Three greps: read the file instead\."/,
		],
		[
			"it is silent",
			{ fires: { ...three, name: "one", prompts: prompts(1) } },
			/fires: one\n- expected Three greps in a request; the last messages were \["user: go",/,
		],
		[
			"what it should say is there anyway",
			{ fires: { ...three, says: "total" } },
			/- total is sent without the plugin as well/,
		],
		[
			"what it should hide stays",
			{ fires: { ...three, hides: "total" } },
			/- expected no total in the last request; it is there/,
		],
		[
			"what it should hide was never there",
			{ fires: { ...three, hides: "secret" } },
			/- secret is not in the last request without the plugin either/,
		],
		[
			"it can't be set up",
			{ plugin: definePlugin({ name: "greps", setup: () => Promise.reject(new Error("no disk")) }) },
			/- .*"greps" is left out: its set-up failed: no disk/,
		],
	])("is told: %s", async (_what, { valid = two, fires = three, plugin = greps }, expected) => {
		const told = await failing(
			pluginTable(plugin, { valid: [valid], fires: [fires] }).filter((_, at) => (valid === two) === (at === 1)),
		);
		expect(told).toEqual([expect.stringMatching(expected)]);
	});
});

describe("a table that is wrong", () => {
	test.each<[string, unknown, string]>([
		[
			"without a valid row",
			{ valid: [], fires: [three] },
			'"valid" is []; give at least one session in which it keeps still',
		],
		["without a firing row", { valid: [two], fires: [] }, '"fires" is []; give at least one session in which it acts'],
		["without either", {}, '"valid" is undefined'],
		["with a name twice", { valid: [two], fires: [{ ...three, name: "two greps" }] }, 'two rows are named "two greps"'],
		["without a name", { valid: [{ ...two, name: "" }], fires: [three] }, "a row needs a name"],
		["without prompts", { valid: [{ ...two, prompts: [] }], fires: [three] }, '"two greps" needs prompts'],
		[
			"with a prompt without an answer",
			{ valid: [{ ...two, prompts: [["go"]] }], fires: [three] },
			'"two greps" needs prompts',
		],
		["with nothing to look for", { valid: [two], fires: [{ ...two, name: "x" }] }, '"x" fires: give "says" or "hides"'],
	])("is refused: %s", (_what, table, message) => {
		expect(() => pluginTable(greps, table as never)).toThrow(`pluginTable("greps"): ${message}`);
	});
});
