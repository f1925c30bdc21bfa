import Type, { type Static } from "typebox";
import type { ToolDeclaration } from "../../src/plugin.ts";

/** What the model reads of the tool, line by line, each with the reason why it is there. Only the lines are sent. */
export const LINES = [
	[
		"See what fills your context: its size, the largest messages, what could go.",
		"What it does, in the model's terms.",
	],
	["Use it when the window fills up, before you shrink or rewind.", "When: it tells which of them is worth it."],
	[
		"It activates queued changes: call it once, not routinely.",
		"Each activation may cost a break of the prompt cache.",
	],
] as const;

export const AuditParams = Type.Object({
	top: Type.Optional(Type.Number({ description: "how many to list, default 8" })),
});
export type AuditParams = Static<typeof AuditParams>;

export const auditTool: ToolDeclaration = {
	name: "mulligan_audit",
	label: "Mulligan audit",
	description: LINES.map(([line]) => line).join(" "),
	parameters: AuditParams,
};
