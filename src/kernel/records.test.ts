import { describe, expect, test } from "vitest";
import { coveredIds, parseRecord as parse, type RewindBody, type ShrinkBody } from "./records.ts";

/** Parsing where no result is found by content. */
const parseRecord = (type: string, data: unknown) => parse(type, data, () => undefined);

const header = { schema: "pi-mulligan", v: 1, seq: 1, ts: 1 };
const op = {
	plugin: "shrink",
	describe: "shrink of bash c1",
	effect: "replace",
	type: "mulligan:shrink",
	body: { id: "m1", target: {}, replacement: "short", pinnedEntryId: "e1" },
	entryIds: ["e1"],
	shedTokens: 12.5,
	toolCallId: "c2",
};
const note = { what_happened: "a", true_current_state: "b", next: "c" };
const ledger = { filesRead: ["a.ts"], filesModified: [], bashSideEffects: ["rm -rf dist"] };

const VALID: Readonly<Record<string, Record<string, unknown>>> = {
	"mulligan:rewind": {
		...header,
		kind: "rewind",
		id: "m1",
		granularity: "last_turn",
		excludeToolCallId: "c1",
		hideEntryIds: ["e1", "e2"],
		note,
		ledger,
	},
	"mulligan:shrink": {
		...header,
		kind: "shrink",
		id: "m1",
		target: { by_tool_name: "bash", occurrence: "last" },
		replacement: "short",
		pinnedEntryId: "e1",
	},
	"mulligan:cancel": { ...header, kind: "cancel", targetId: "m1" },
	"mulligan:checkpoint": { ...header, kind: "checkpoint", name: "start" },
	"mulligan:queued": { ...header, kind: "queued", id: "m1", status: "queued", op },
};

/** What is well-formed beside the above. */
const ALSO_VALID: readonly [string, string, Record<string, unknown>][] = [
	["mulligan:rewind", "to a checkpoint", { granularity: "checkpoint", checkpoint: "here", options: { protect: [] } }],
	["mulligan:rewind", "of a group", { granularity: "last_tool_call_group" }],
	["mulligan:rewind", "that hides nothing", { hideEntryIds: [] }],
	["mulligan:rewind", "with empty texts", { note: { what_happened: "", true_current_state: "", next: "" } }],
	["mulligan:rewind", "with fields of a later version", { later: true }],
	["mulligan:shrink", "with a target of an earlier version", { target: { by_content_includes: "needle" } }],
	["mulligan:shrink", "with a reason", { reason: "done with it" }],
	["mulligan:shrink", "to nothing", { replacement: "" }],
	["mulligan:queued", "that was activated", { status: "activated", op: undefined }],
	["mulligan:queued", "that was dropped", { status: "dropped", op: undefined, reason: "gone" }],
	["mulligan:queued", "that was cancelled", { status: "cancelled", op: undefined }],
	["mulligan:queued", "of a team's own type", { op: { ...op, type: "team:mark", body: { any: "thing" } } }],
	["mulligan:queued", "that hides", { op: { ...op, effect: "hide", shedTokens: -3 } }],
];

/** A field and what must not stand in it, by type; a field that stands here must not be missing either. */
const WRONG: readonly [type: string, field: string, values: readonly unknown[]][] = [
	["mulligan:rewind", "id", ["", 3, null, ["m1"]]],
	["mulligan:rewind", "granularity", ["last", "", 1, null]],
	["mulligan:rewind", "excludeToolCallId", [3, null]],
	["mulligan:rewind", "hideEntryIds", ["e1", null, [1], ["e1", ""], [null], {}]],
	[
		"mulligan:rewind",
		"note",
		[
			"text",
			null,
			[],
			{},
			{ ...note, next: 3 },
			{ ...note, what_happened: undefined },
			{ ...note, true_current_state: null },
		],
	],
	[
		"mulligan:rewind",
		"ledger",
		[
			"text",
			null,
			[],
			{},
			{ ...ledger, filesRead: "a.ts" },
			{ ...ledger, filesModified: [3] },
			{ ...ledger, bashSideEffects: undefined },
		],
	],
	["mulligan:shrink", "id", ["", 3, null]],
	["mulligan:shrink", "target", ["bash", null, []]],
	["mulligan:shrink", "replacement", [3, null, ["short"]]],
	["mulligan:shrink", "pinnedEntryId", ["", 3, null]],
	["mulligan:cancel", "targetId", ["", 3, null, ["m1"]]],
	["mulligan:checkpoint", "name", ["", 3, null]],
	["mulligan:queued", "id", ["", 3, null]],
	["mulligan:queued", "status", ["waiting", "", 1, null]],
];

const WRONG_IN_OP: readonly [field: string, values: readonly unknown[]][] = [
	["plugin", ["", 3, null]],
	["describe", [3, null]],
	["effect", ["remove", "", null]],
	["type", ["", 3, null]],
	["body", ["text", null, [], {}, { ...op.body, pinnedEntryId: 3 }]],
	["entryIds", ["e1", null, [1], [""]]],
	["shedTokens", ["12", null, Number.NaN, Number.POSITIVE_INFINITY]],
	["toolCallId", [3, null]],
];

describe("a record is read", () => {
	test.each(Object.entries(VALID))("where it is a whole %s", (type, data) => {
		expect(parseRecord(type, data)).toEqual({ body: data });
	});

	test.each(ALSO_VALID)("where it is a %s %s", (type, _what, more) => {
		const data = { ...VALID[type], ...more };
		expect(parseRecord(type, data)).toEqual({ body: data });
	});

	test("of a type that the kernel does not know, whatever its fields", () => {
		const data = { ...header, kind: "turn-metric", turnIndex: "?" };
		expect(parseRecord("mulligan:turn-metric", data)).toEqual({ body: data });
	});
});

test("a marker covers what it hides, or what it replaces", () => {
	expect(coveredIds(VALID["mulligan:rewind"] as unknown as RewindBody)).toEqual(["e1", "e2"]);
	expect(coveredIds(VALID["mulligan:shrink"] as unknown as ShrinkBody)).toEqual(["e1"]);
});

describe("a record is passed over", () => {
	test.each([undefined, null, 0, "text", true, [], [VALID["mulligan:cancel"]]])("that is %j, no object", (data) => {
		expect(parseRecord("mulligan:cancel", data)).toEqual({ wrong: "no object" });
	});

	test.each(["other", "", undefined, null, 1])("of the schema %j", (schema) => {
		expect(parseRecord("mulligan:cancel", { ...VALID["mulligan:cancel"], schema })).toEqual({
			wrong: `schema ${JSON.stringify(schema)}, expected "pi-mulligan"`,
		});
	});

	test.each([0, 2, "1", 1.5, undefined, null])("of the version %j", (v) => {
		expect(parseRecord("mulligan:cancel", { ...VALID["mulligan:cancel"], v })).toEqual({
			wrong: `version ${JSON.stringify(v)}, expected 1`,
		});
	});

	const cases = WRONG.flatMap(([type, field, values]) =>
		[undefined, ...values].map((value) => [type, field, value] as const),
	);
	test.each(cases)("whose %s has for %s: %j", (type, field, value) => {
		expect(parseRecord(type, { ...VALID[type], [field]: value })).toEqual({ wrong: `field ${field}` });
	});

	test.each(["text", null, [], {}])("whose op is %j", (given) => {
		expect(parseRecord("mulligan:queued", { ...VALID["mulligan:queued"], op: given })).toEqual({ wrong: "field op" });
	});

	const inOp = WRONG_IN_OP.flatMap(([field, values]) => [undefined, ...values].map((value) => [field, value] as const));
	test.each(inOp)("whose op has for %s: %j", (field, value) => {
		const data = { ...VALID["mulligan:queued"], op: { ...op, [field]: value } };
		expect(parseRecord("mulligan:queued", data)).toEqual({ wrong: "field op" });
	});

	const inHeader = ["seq", "ts"].flatMap((field) =>
		[undefined, null, "1", Number.NaN].map((value) => [field, value] as const),
	);
	test.each(inHeader)("whose header has for %s: %j", (field, value) => {
		expect(parseRecord("mulligan:cancel", { ...VALID["mulligan:cancel"], [field]: value })).toEqual({
			wrong: `field ${field}`,
		});
	});
});
