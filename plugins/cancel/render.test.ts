import { expect, test } from "vitest";
import type { QueuedBody } from "../../src/plugin.ts";
import { cancelLines, queuedLines } from "./render.ts";

const op = {
	plugin: "rewind",
	describe: "rewind of the last tool call group",
	effect: "hide",
	type: "mulligan:rewind",
	body: {},
	entryIds: ["a"],
	shedTokens: 120,
	toolCallId: "c1",
} as const;
const onBranch: Record<string, readonly object[]> = {
	"mulligan:rewind": [{ id: "r1" }],
	"mulligan:shrink": [{ id: "s1" }],
	"mulligan:queued": [
		{ id: "q1", status: "queued", op },
		{ id: "q1", status: "dropped" },
	],
};
const journal = { read: (type: string) => (onBranch[type] ?? []) as never };

test.each([
	["r1", "a rewind"],
	["s1", "a shrink"],
	["other", "a rewind or shrink"],
])("the cancel of %s tells what was taken back", (targetId, kind) => {
	expect(cancelLines({ targetId }, journal)).toEqual([
		`Mulligan: ${kind} is taken back: the agent sees the originals again, as far as they are in its context.`,
	]);
});

test.each<[QueuedBody, string]>([
	[
		{ id: "q1", status: "queued", op },
		"Mulligan: queued: rewind of the last tool call group (~120 tokens). Nothing has left the agent's view yet.",
	],
	[
		{ id: "q1", status: "queued", op: { ...op, shedTokens: -37 } },
		"Mulligan: queued: rewind of the last tool call group (~0 tokens). Nothing has left the agent's view yet.",
	],
	[
		{ id: "q1", status: "dropped", reason: "it has left" },
		"Mulligan: the queued rewind of the last tool call group is dropped: it has left.",
	],
	[{ id: "other", status: "dropped" }, "Mulligan: the queued change of the agent's view is dropped."],
	[
		{ id: "q1", status: "cancelled" },
		"Mulligan: the queued rewind of the last tool call group is taken back before it had any effect.",
	],
])("what became of a waiting op: %j", (body, line) => {
	expect(queuedLines(body, journal)).toEqual([line]);
});

test("an activated op is shown by its own record only", () => {
	expect(queuedLines({ id: "q1", status: "activated" }, journal)).toBeUndefined();
});
