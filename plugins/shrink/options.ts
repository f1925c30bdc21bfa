import Type, { type Static } from "typebox";

export const ShrinkOptions = Type.Object({
	enabled: Type.Boolean({
		default: true,
		title: "Shrink",
		description: "false: no new shrinks; existing ones keep their effect.",
	}),
	maxActive: Type.Integer({
		default: 32,
		minimum: 1,
		title: "Active shrinks",
		description: "Most active shrinks; the one that exceeds it retires the oldest.",
	}),
	staleAfterFires: Type.Integer({
		default: 3,
		minimum: 1,
		title: "Stale after",
		description: "Requests in a row without the shrunk result in the context after which the shrink is retired.",
	}),
	notifyMaxChars: Type.Integer({
		default: 2048,
		minimum: 1,
		title: "Notification length",
		description: "Characters of a replacement that the human is shown.",
	}),
});
export type ShrinkOptions = Static<typeof ShrinkOptions>;
