import { expect, test } from "vitest";
import { noteText } from "./note.ts";
import { noteLines, rewindLines } from "./render.ts";

const rewind = {
	id: "r1",
	granularity: "last_tool_call_group",
	excludeToolCallId: "c1",
	hideEntryIds: ["a", "b"],
	note: { what_happened: "too wide\nand too long", true_current_state: "unchanged", next: "narrow" },
	ledger: { filesRead: ["a.ts"], filesModified: [], bashSideEffects: [] },
} as const;

test("a rewind tells what left the agent's view, and that nothing is undone", () => {
	expect(rewindLines(rewind)).toEqual([
		"Mulligan: the agent rewound the last tool call group: 2 messages left its view.",
		"You still see them, and the session file keeps them. Effects on disk persist.",
	]);
	expect(rewindLines({ ...rewind, granularity: "checkpoint", checkpoint: "start", hideEntryIds: ["a"] })?.[0]).toBe(
		'Mulligan: the agent rewound all since the checkpoint "start": 1 message left its view.',
	);
});

test("a note is its heading and what happened, and all of it when expanded", () => {
	const content = noteText(rewind);
	expect(noteLines({ content, isExpanded: false })).toEqual([
		"Note to the agent: Rewound: the last tool call group left your context.",
		"What happened: too wide",
		"and too long",
	]);
	expect(noteLines({ content, isExpanded: true }).join("\n")).toBe(`Note to the agent: ${content}`);
	expect(noteLines({ content: "a\nb\nc", isExpanded: false })).toEqual(["Note to the agent: a", "b"]);
	expect(noteLines({ content: "", isExpanded: false })).toEqual(["Note to the agent: "]);
});
