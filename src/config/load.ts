import { homedir } from "node:os";
import type { PluginWithOptions } from "../kernel/kernel.ts";
import type { Plugin } from "../kernel/plugin.ts";
import type { Warning } from "./check.ts";
import { defaultSettings } from "./defaults.ts";
import { deepFreeze } from "./read/snapshot.ts";
import type { Settings } from "./schema.ts";
import { silentSources } from "./silence.ts";
import type { SourceReport } from "./sources/book.ts";
import type { Cosmiconfig } from "./sources/search.ts";
import type { Gate } from "./trust/gate.ts";

/** The config of one session. */
export interface LoadedConfig {
	/** Checked, merged and frozen: the defaults, and what the sources say on top of them. */
	readonly settings: Settings;
	/** In their order, each with its options; none while mulligan is disabled. */
	readonly plugins: readonly PluginWithOptions[];
	readonly warnings: readonly Warning[];
	/** Where config was looked for, the lowest first. */
	readonly sources: readonly SourceReport[];
	/** What a knob's value comes from: `rewind.maxDepth` to a file, or a variable of the environment; none: the default. */
	readonly origins: ReadonlyMap<string, string>;
	/** Plugins of the default set that are not among `plugins`, by name. */
	readonly leftOut: readonly string[];
}

export interface ConfigOptions {
	/** Pi's folder for the user's own files. */
	readonly agentDir: string;
	readonly cwd: string;
	/** Whether Pi trusts the project. Without it nothing of the project is read. */
	readonly isProjectTrusted: boolean;
	/** Whether the human has approved all of the project; it may then log outside of itself. */
	readonly isProjectApproved?: () => boolean;
	readonly env: Readonly<Record<string, string | undefined>>;
	/** The default set, in its order. */
	readonly builtIns: readonly Plugin[];
	readonly gate: Gate;
	readonly home?: string;
	readonly cosmiconfig?: () => Promise<Cosmiconfig>;
}

/** The same, with what may be left out filled in. */
export type WholeOptions = ConfigOptions & Required<Pick<ConfigOptions, "home" | "isProjectApproved">>;

/**
 * The config of a session: the defaults, then each source on top of those before it. Whatever is wrong with a source is a
 * warning, and the rest counts. It reads only, and runs no code but what the gate lets through. Where nothing is
 * configured it loads nothing to find that out.
 */
export async function loadConfig(options: ConfigOptions): Promise<LoadedConfig> {
	const whole = { home: homedir(), isProjectApproved: () => false, ...options };
	const silent = silentSources(whole);
	if (silent) return defaultConfig(options.builtIns, silent);
	const { readConfig } = await import("./read-config.ts");
	return readConfig(whole);
}

function defaultConfig(builtIns: readonly Plugin[], sources: readonly SourceReport[]): LoadedConfig {
	const settings = deepFreeze(defaultSettings(builtIns));
	const plugins = builtIns.map((plugin) => ({ plugin, options: settings[plugin.name] }));
	return { settings, plugins, sources, warnings: [], origins: new Map(), leftOut: [] };
}
