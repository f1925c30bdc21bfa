import Type, { type Static } from "typebox";

export const AuditOptions = Type.Object({
	estimateConfidence: Type.Unsafe<"low" | "medium" | "high">({
		type: "string",
		enum: ["low", "medium", "high"],
		default: "medium",
		title: "Confidence",
		description: "The label of estimates while they are not calibrated by the provider's own counts.",
	}),
});
export type AuditOptions = Static<typeof AuditOptions>;
