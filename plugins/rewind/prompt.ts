import Type, { type Static } from "typebox";
import type { ToolDeclaration } from "../../src/plugin.ts";

/** What the model reads of the tool, line by line, each with the reason why it is there. Only the lines are sent. */
export const LINES = [
	["Hide your own mistake from your context and leave a note in its place.", "What it does, in the model's terms."],
	[
		"Use it when output was useless or a direction wrong, as soon as you see it.",
		"When: early is cheap, late is dear.",
	],
	["Keep results you still need: shrink those.", "When not: hidden findings are re-read at full price."],
	["Call it alone.", "Sibling calls of the same message stay, so the mistake among them would stay too."],
	[
		"last_tool_call_group hides your newest call with its results, last_turn all you did since the user's message, checkpoint all after a point that only the user sets with /mulligan_checkpoint, their later prompts included.",
		"Which granularity reaches how far, and that a checkpoint is the user's consent.",
	],
	["Effects on disk persist; the user still sees the hidden text.", "A rewind is no undo, and nothing is deleted."],
] as const;

const text = (description: string) => Type.String({ description });

export const RewindParams = Type.Object({
	note: Type.Object({
		what_happened: text("what you tried and why it failed"),
		true_current_state: text("files and findings as they are now"),
		next: text("what you do now"),
	}),
	granularity: Type.Unsafe<"last_tool_call_group" | "last_turn" | "checkpoint">({
		type: "string",
		enum: ["last_tool_call_group", "last_turn", "checkpoint"],
	}),
	checkpoint: Type.Optional(text("its name, with granularity checkpoint")),
});
export type RewindParams = Static<typeof RewindParams>;

export const rewindTool: ToolDeclaration = {
	name: "mulligan_rewind",
	label: "Mulligan rewind",
	description: LINES.map(([line]) => line).join(" "),
	parameters: RewindParams,
};
