import { expect, test } from "vitest";
import { shrinkLines } from "./render.ts";

const shrink = {
	schema: "pi-mulligan",
	v: 1,
	kind: "shrink",
	seq: 1,
	ts: 1,
	id: "s1",
	target: { by_tool_name: "bash", occurrence: "last" },
	replacement: "All tests\npass.",
	pinnedEntryId: "a",
};

test.each([
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

test("the marker of an earlier version that names its result by content is shown as well", () => {
	const { pinnedEntryId: _pinned, ...old } = { ...shrink, target: { by_content_includes: "needle" } };
	expect(shrinkLines(old)?.[0]).toContain("in place of a result");
});

test.each([undefined, null, "x", [], {}, { ...shrink, v: 2 }, { ...shrink, replacement: 3 }, { ...shrink, target: 3 }])(
	"the malformed record %j is not shown",
	(data) => {
		expect(shrinkLines(data)).toBeUndefined();
	},
);
