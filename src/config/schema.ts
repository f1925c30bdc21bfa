import Type, { type Static, type TObject } from "typebox";

/** The knobs that belong to no plugin. Every plugin's own section is the schema in its folder's options.ts. */
export const KernelSections = {
	rewrites: Type.Object({
		maxMoments: Type.Integer({
			default: 1,
			minimum: 0,
			title: "Moments per session",
			description: "0: rewind and shrink refuse. Above 0 every op is active at once.",
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

/** The master switch, beside the sections. */
export const Enabled = Type.Boolean({
	default: true,
	title: "Master switch",
	description: "false: no plugin is loaded and the tools refuse.",
});

export interface Settings {
	readonly enabled: boolean;
	readonly rewrites: Static<typeof KernelSections.rewrites>;
	readonly log: Static<typeof KernelSections.log>;
	/** A section for each plugin, by its name. */
	readonly [plugin: string]: unknown;
}

/** Sections by name: the kernel's and those of the plugins. */
export type Sections = Readonly<Record<string, TObject>>;
