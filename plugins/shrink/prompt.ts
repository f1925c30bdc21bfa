import Type, { type Static } from "typebox";
import { Target, type ToolDeclaration } from "../../src/plugin.ts";

/** What the model reads of the tool, line by line, each with the reason why it is there. Only the lines are sent. */
export const LINES = [
	["Replace one long tool result with your summary of it.", "What it does, in the model's terms."],
	["Use it once you have what you need from a long output.", "When: the gain is all later requests."],
	["Keep results you will quote or edit from.", "When not: what is gone is re-read at full price."],
	["Only results of the current prompt can be shrunk.", "Older ones are refused; knowing it saves the call."],
	[
		"The replacement becomes your only memory of it: name paths, lines and figures you need.",
		"It is taken as ground truth, so it must be complete.",
	],
] as const;

export const ShrinkParams = Type.Object({
	target: Target,
	replacement: Type.String(),
	reason: Type.Optional(Type.String()),
});
export type ShrinkParams = Static<typeof ShrinkParams>;

export const shrinkTool: ToolDeclaration = {
	name: "mulligan_shrink",
	label: "Mulligan shrink",
	description: LINES.map(([line]) => line).join(" "),
	parameters: ShrinkParams,
};
