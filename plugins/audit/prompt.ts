import Type, { type Static } from "typebox";
import type { ToolDeclaration } from "../../src/plugin.ts";

/** What the model reads of the tool, line by line, each with the reason why it is there. Only the lines are sent. */
const LINES = [
	[
		"Show what fills your context: the largest messages with sizes and call ids.",
		"What it does, in the model's terms.",
	],
	["Use it before you decide what to shrink; it also activates queued ops.", "When, and the one effect that it has."],
] as const;

export const AuditParams = Type.Object({
	top: Type.Optional(Type.Integer({ description: "how many, default 8" })),
});
export type AuditParams = Static<typeof AuditParams>;

export const auditTool: ToolDeclaration = {
	name: "mulligan_audit",
	label: "Mulligan audit",
	description: LINES.map(([line]) => line).join(" "),
	parameters: AuditParams,
};
