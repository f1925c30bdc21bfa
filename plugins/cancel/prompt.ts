import Type, { type Static } from "typebox";
import { Target, type ToolDeclaration } from "../../src/plugin.ts";

/** What the model reads of the tool, line by line, each with the reason why it is there. Only the lines are sent. */
export const LINES = [
	["Take back a rewind or shrink: the originals return to your context.", "What it does, in the model's terms."],
	["Use it when you need the full text after all.", "When: it is cheaper than running the tool again."],
	["It is safe; files and commands are not undone.", "What it does not touch, so that it is not feared or overrated."],
	["Give target or markerId.", "One of the two is required, which the schema does not say."],
] as const;

export const CancelParams = Type.Object({
	target: Type.Optional(Target),
	markerId: Type.Optional(Type.String()),
});
export type CancelParams = Static<typeof CancelParams>;

export const cancelTool: ToolDeclaration = {
	name: "mulligan_cancel",
	label: "Mulligan cancel",
	description: LINES.map(([line]) => line).join(" "),
	parameters: CancelParams,
};
