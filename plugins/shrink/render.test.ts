import { expect, test } from "vitest";
import type { ShrinkBody } from "../../src/plugin.ts";
import { shrinkLines } from "./render.ts";

const shrink = {
	id: "s1",
	target: { by_tool_name: "bash", occurrence: "last" },
	replacement: "All tests\npass.",
	pinnedEntryId: "a",
} as const;

test.each<[ShrinkBody["target"], string]>([
	[{ by_tool_name: "bash", occurrence: "last" }, "the last result of bash"],
	[{ by_tool_name: "bash" }, "the last result of bash"],
	[{ by_tool_call_id: "c1" }, "the result of call c1"],
	[{}, "a result"],
])("a shrink of %j tells which result and what stands in its place", (target, which) => {
	expect(shrinkLines({ ...shrink, target })).toEqual([
		`Mulligan: the agent now sees a summary in place of ${which}; you still see all of it.`,
		"All tests pass.",
	]);
});

test("a long replacement is cut to one line", () => {
	expect(shrinkLines({ ...shrink, replacement: "x".repeat(100) })?.[1]).toBe("x".repeat(100));
	expect(shrinkLines({ ...shrink, replacement: "x".repeat(101) })?.[1]).toBe(`${"x".repeat(99)}…`);
});
