import Type, { type Static } from "typebox";

export const RewindOptions = Type.Object({
	enabled: Type.Boolean({
		default: true,
		title: "Rewind",
		description: "false: no new rewinds; existing ones keep their effect.",
	}),
	protectedRoles: Type.Array(
		Type.Unsafe<"first:user" | "latest:user">({ type: "string", enum: ["first:user", "latest:user"] }),
		{
			default: ["first:user", "latest:user"],
			title: "Protected prompts",
			description: "User messages that a rewind to a checkpoint keeps. first:user holds even if left out.",
		},
	),
	maxDepth: Type.Integer({
		default: 5,
		minimum: 1,
		title: "Active rewinds",
		description: "Most active rewinds on a branch.",
	}),
	maxRetriesPerPrompt: Type.Integer({
		default: 5,
		minimum: 1,
		title: "Rewinds per prompt",
		description: "Most rewinds that re-land at one user prompt.",
	}),
	abortContextFraction: Type.Number({
		default: 0.9,
		exclusiveMinimum: 0,
		maximum: 1,
		title: "Fullest window",
		description: "No rewind at or above this fraction of the model's window.",
	}),
	requireMutationWarning: Type.Boolean({
		default: true,
		title: "Mutation warning",
		description: "Warn the model when what it hides changed files or ran commands with effects.",
	}),
});
export type RewindOptions = Static<typeof RewindOptions>;
