import { describe, expect, test } from "vitest";
import { strandedText } from "./stranded.ts";

const header = { schema: "pi-mulligan", v: 1, kind: "x", seq: 1, ts: 1 };
const entry = (customType: string, data: unknown) =>
	({ type: "custom", customType, data, id: "e", parentId: null, timestamp: "" }) as never;
const rewind = (id: string) => entry("mulligan:rewind", { ...header, id, hideEntryIds: ["a"] });
const shrink = (id: string, more: object = { pinnedEntryId: "b" }) =>
	entry("mulligan:shrink", { ...header, id, target: {}, replacement: "x", ...more });
const cancel = (targetId: string) => entry("mulligan:cancel", { ...header, targetId });
const old = shrink("s2", { target: { by_content_includes: "x" } });

describe("markers without their plugin", () => {
	test.each([
		["of a plugin that is there", [rewind("r"), shrink("s")], ["audit", "nudges"], 0],
		["of rewind", [rewind("r"), shrink("s")], ["rewind"], 1],
		["of both", [rewind("r"), shrink("s"), rewind("r2")], ["shrink", "rewind"], 3],
		["that are cancelled", [rewind("r"), rewind("r2"), cancel("r")], ["rewind"], 1],
		["of an earlier version", [shrink("s"), old], ["shrink"], 2],
		[
			"that are malformed",
			[entry("mulligan:rewind", { ...header, id: 3 }), entry("mulligan:shrink", null)],
			["rewind"],
			0,
		],
	])("%s are counted", (_what, branch, leftOut, count) => {
		const text = strandedText(branch, leftOut, { appliesEdits: false });
		if (count === 0) expect(text).toBeUndefined();
		else expect(text).toMatch(new RegExp(`^${count} marker`));
	});
});

test("the human is told how many have no effect, and why", () => {
	expect(strandedText([rewind("r")], ["audit", "rewind"], { appliesEdits: false })).toBe(
		'1 marker of this session has no effect, because "rewind" is left out of the plugins: what it hid or replaced is in the view again.',
	);
	expect(strandedText([rewind("r"), shrink("s"), shrink("s2")], ["shrink", "rewind"], { appliesEdits: false })).toBe(
		'3 markers of this session have no effect, because "rewind" and "shrink" are left out of the plugins: what they hid or replaced is in the view again.',
	);
});

test("what Pi itself holds back is no longer in the view: the human is told how to get it", () => {
	const edit = {
		type: "context_edit",
		id: "e",
		parentId: null,
		timestamp: "",
		targetId: "x",
		replacement: null,
	} as const;
	expect(strandedText([rewind("r"), edit], ["rewind"], { appliesEdits: true })).toMatch(
		/: what it hid or replaced is in the view again, but for what Pi itself holds back: \/mulligan restore gives that back\.$/,
	);
	expect(strandedText([rewind("r"), edit], ["rewind"], { appliesEdits: false })).toMatch(/is in the view again\.$/);
	expect(strandedText([rewind("r")], ["rewind"], { appliesEdits: true })).toMatch(/is in the view again\.$/);
});
