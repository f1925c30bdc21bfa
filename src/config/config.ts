import type { AuditOptions } from "../../plugins/audit/options.ts";
import type { NudgesOptions } from "../../plugins/nudges/options.ts";
import type { RewindOptions } from "../../plugins/rewind/options.ts";
import type { ShrinkOptions } from "../../plugins/shrink/options.ts";
import type { Plugin } from "../kernel/plugin.ts";
import type { Settings } from "./schema.ts";

/**
 * A plugin in the list: the name of a built-in, a path from the file that says it, a package, or the plugin itself.
 * `"..."` is the default set in its order.
 */
export type PluginName = "..." | "checkpoints" | "rewind" | "shrink" | "cancel" | "nudges" | "audit" | (string & {});

export type PluginEntry =
	| PluginName
	// Whatever a plugin's options are, they are its own matter.
	| Plugin<never>
	| readonly [plugin: PluginName | Plugin<never>, options: object];

/** A list of plugins in which the options beside a plugin object are those of its schema. */
export type Checked<Entries extends readonly PluginEntry[]> = {
	readonly [Index in keyof Entries]: Entries[Index] extends readonly [Plugin<infer Options>, object]
		? readonly [Plugin<Options>, Partial<Options>]
		: Entries[Index];
};

/** What a config may say; whatever it leaves out is the default, or what a lower source says. */
export interface Config {
	/** For editors: the schema of this file. */
	readonly $schema?: string;
	/** false: no plugin is loaded and the tools refuse. */
	readonly enabled?: boolean;
	/** view: nothing is written as Pi's own context edits. */
	readonly persistence?: Settings["persistence"];
	/** The plugins, in the order that they have in every hook. */
	readonly plugins?: readonly PluginEntry[];
	/** Other plugins in the place and under the name of some. */
	readonly replace?: Readonly<Record<string, PluginEntry>>;
	readonly rewrites?: Partial<Settings["rewrites"]>;
	readonly ui?: Partial<Settings["ui"]>;
	readonly log?: Partial<Settings["log"]>;
	readonly rewind?: Partial<RewindOptions>;
	readonly shrink?: Partial<ShrinkOptions>;
	readonly nudges?: Partial<NudgesOptions>;
	readonly audit?: Partial<AuditOptions>;
	/** Options of further plugins, by the plugin's name. */
	readonly [plugin: string]: unknown;
}
