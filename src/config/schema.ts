import Type, { type Static } from "typebox";

/** The knobs that belong to no plugin. Every plugin's own section is the schema in its folder's options.ts. */
export const KernelSections = {
	rewrites: Type.Object({
		maxMoments: Type.Integer({
			default: 1,
			minimum: 0,
			title: "Moments per session",
			description:
				"Times that a session may spend a break of the prompt cache on its ops. 0: rewind and shrink refuse.",
		}),
		flushShedTokens: Type.Number({
			default: 4000,
			minimum: 0,
			title: "Flush volume",
			description: "While the budget lasts, ops wait until they shed this many tokens. 0: every op at once.",
		}),
		safetyValveTokens: Type.Number({
			default: 16000,
			minimum: 0,
			title: "Safety valve",
			description: "Once the budget is spent, more than this many waiting tokens are worth one more moment.",
		}),
	}),
	ui: Type.Object({
		activeCheckpointBanner: Type.Boolean({
			default: true,
			title: "Checkpoint banner",
			description: "A line above the editor for each active checkpoint.",
		}),
	}),
	log: Type.Object({
		file: Type.Union([Type.String({ minLength: 1 }), Type.Null()], {
			default: null,
			title: "Log file",
			description: "Append-only JSONL log: an absolute path, or relative to the file that names it. null: none.",
		}),
	}),
};

/** The knobs beside the sections. */
export const TopKnobs = {
	enabled: Type.Boolean({
		default: true,
		title: "Master switch",
		description: "false: no plugin is loaded and the tools refuse.",
	}),
	persistence: Type.Unsafe<"auto" | "view">({
		type: "string",
		enum: ["auto", "view"],
		default: "auto",
		title: "Persistence",
		description:
			"auto: on Pi 0.87 and later what is hidden or shrunk becomes Pi's own context edits as well. view: no new ones are written.",
	}),
};

/** Keys of a config that are no section of a plugin. */
export const RESERVED: readonly string[] = [
	...["plugins", "replace", "$schema"],
	...Object.keys(TopKnobs),
	...Object.keys(KernelSections),
];

export interface Settings {
	readonly enabled: boolean;
	readonly persistence: Static<typeof TopKnobs.persistence>;
	readonly rewrites: Static<typeof KernelSections.rewrites>;
	readonly ui: Static<typeof KernelSections.ui>;
	readonly log: Static<typeof KernelSections.log>;
	/** A section for each plugin, by its name. */
	readonly [plugin: string]: unknown;
}
