import { describe, expect, test } from "vitest";
import type { Branch, ToolGroup } from "./branch.ts";
import { wholeGroups } from "./groups.ts";

/** A branch with the groups A (a1, a2) and B (b1), as far as the rule reads it. */
const groups: readonly ToolGroup[] = [
	{ assistantId: "A", calls: [], resultIds: ["a1", "a2"] },
	{ assistantId: "B", calls: [], resultIds: ["b1"] },
];
const branch = {
	groupOf: (id: string) => groups.find(({ assistantId, resultIds }) => [assistantId, ...resultIds].includes(id)),
} as Branch;

describe("a tool group is hidden whole or not at all", () => {
	test.each<[string, readonly string[], readonly string[], readonly string[]]>([
		["nothing asked, nothing hidden", [], [], []],
		["what is in no group is hidden by itself", ["u"], ["u"], []],
		["the call takes its results along", ["A"], ["A", "a1", "a2"], []],
		["the call and some of its results are the whole", ["a2", "A"], ["A", "a1", "a2"], []],
		["a result whose call stays is kept", ["a1"], [], ["a1"]],
		["all results whose call stays are kept", ["a1", "a2"], [], ["a1", "a2"]],
		["each group goes by its own call", ["a1", "B", "u"], ["B", "b1", "u"], ["a1"]],
		["what is asked twice counts once", ["a1", "a1", "u", "u"], ["u"], ["a1"]],
	])("%s", (_what, asked, hidden, halves) => {
		const outcome = wholeGroups(asked, branch);
		expect([...outcome.hidden].sort()).toEqual([...hidden].sort());
		expect(outcome.halves).toEqual(halves);
	});
});
