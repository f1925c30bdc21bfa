import { resolve } from "node:path";
import type { TObject } from "typebox";
import type { PluginWithOptions } from "../kernel/kernel.ts";
import type { Plugin } from "../kernel/plugin.ts";
import { spotIn, unknownKeys, type Warning, warningAt } from "./check.ts";
import { hintsFor } from "./closest.ts";
import type { ConfigOptions, LoadedConfig, WholeOptions } from "./load.ts";
import { logSection } from "./log-file.ts";
import { Layers, type SectionSchemas } from "./merge.ts";
import type { Placed } from "./plugins/line-up.ts";
import { loadPlugins, type Wanted } from "./plugins/plugins.ts";
import { deepFreeze } from "./read/snapshot.ts";
import { type Saying, sayingOf } from "./saying.ts";
import { KernelSections, RESERVED, type Settings } from "./schema.ts";
import type { SourceReport } from "./sources/book.ts";
import { projectRoot } from "./sources/places.ts";
import { importCosmiconfig } from "./sources/search.ts";
import { readSources } from "./sources/sources.ts";

/** The config of a session in which some source speaks: the defaults, then each source on top of those before it. */
export async function readConfig(options: WholeOptions): Promise<LoadedConfig> {
	const { env, builtIns, agentDir, gate, cosmiconfig = importCosmiconfig } = options;
	const isDisabled = env.MULLIGAN_DISABLED === "1";
	const book = await readSources({ ...options, cosmiconfig, runsCode: !isDisabled });
	const said = book.sources.map(sayingOf);
	const warnings = [...book.warnings, ...said.flatMap((saying) => saying.warnings)];
	const warn = (warning: Warning) => void warnings.push(warning);
	const root = projectRoot(options.cwd, options.home);
	const isEnabled = !isDisabled && isSwitchedOn(said);
	const placed = isEnabled ? await loadPlugins(wantedBy(said), { builtIns, agentDir, root, gate, warn }) : [];
	const layers = layersOf({ said, placed, root }, options);
	const hints = isEnabled ? await hintsFor(layers.unknown) : [];
	const settings = deepFreeze(layers.values()) as Settings;
	return {
		settings,
		plugins: placed.map((one) => withOptions(one, settings)),
		warnings: [...warnings, ...layers.warnings, ...hints],
		sources: [...book.reports, ...environmentReports(env)],
		origins: layers.origins,
		leftOut: isEnabled ? missing(builtIns, placed) : [],
	};
}

function isSwitchedOn(said: readonly Saying[]): boolean {
	return said.findLast(({ tops }) => tops.has("enabled"))?.tops.get("enabled") !== false;
}

/** Everything that is said of knobs, the lowest first; the options beside a plugin in the list win over its section. */
function layersOf(
	{
		said,
		placed,
		root,
	}: { readonly said: readonly Saying[]; readonly placed: readonly Placed[]; readonly root: string },
	{ builtIns, env, cwd, isProjectApproved }: WholeOptions,
): Layers {
	const layers = new Layers(sectionsOf(builtIns, placed));
	for (const saying of said) putSaying(layers, saying, { root, isProjectApproved });
	for (const { plugin, options } of placed)
		if (options) layers.put(plugin.name, options.given, { ...options.spot, key: plugin.name });
	putEnvironment(layers, env, cwd);
	return layers;
}

function withOptions({ plugin, ownName }: Placed, settings: Settings): PluginWithOptions {
	return { plugin, options: settings[plugin.name], ...(ownName === undefined ? {} : { ownName }) };
}

function missing(builtIns: readonly Plugin[], placed: readonly Placed[]): readonly string[] {
	const names = placed.map(({ plugin }) => plugin.name);
	return builtIns.map(({ name }) => name).filter((name) => !names.includes(name));
}

/** The list of the highest source that has one, and every replacement. */
function wantedBy(said: readonly Saying[]): Wanted {
	return {
		entries: said.findLast(({ entries }) => entries !== undefined)?.entries,
		replace: new Map(said.flatMap(({ replace }) => [...replace])),
	};
}

function sectionsOf(builtIns: readonly Plugin[], placed: readonly Placed[]): SectionSchemas {
	const plugins = [...builtIns, ...placed.map(({ plugin }) => plugin)];
	return new Map<string, TObject | undefined>([
		...Object.entries(KernelSections),
		...plugins.map(({ name, options }) => [name, options as TObject | undefined] as const),
	]);
}

function putSaying(
	layers: Layers,
	saying: Saying,
	trust: { readonly root: string; readonly isProjectApproved: () => boolean },
): void {
	const { source, spot, block } = saying;
	const warn = (warning: Warning) => void layers.warnings.push(warning);
	putOrigins(layers, saying);
	for (const name of layers.names()) {
		if (!Object.hasOwn(block, name) || block[name] === undefined) continue;
		const at = spotIn(spot, name);
		const isLog = name === "log";
		layers.put(name, isLog ? logSection(block.log, { ...trust, source, spot: at, warn }) : block[name], at);
	}
	const unknown = unknownKeys(block, [...RESERVED, ...layers.names()], spot);
	layers.unknown.push(...unknown);
	if (source.isCode && unknown.length > 0 && unknown.length === Object.keys(block).length) warn(missesDefault(saying));
}

function putOrigins(layers: Layers, { source, tops, entries, replace }: Saying): void {
	for (const [name, value] of tops) layers.setTop(name, value, source.file);
	if (entries) layers.origins.set("plugins", source.file);
	for (const name of replace.keys()) layers.origins.set(`replace.${name}`, source.file);
}

/** Code that says nothing known has most likely forgotten its default export. */
function missesDefault({ source: { file }, spot, block }: Saying): Warning {
	const names = Object.keys(block).join(", ");
	return warningAt(
		{ ...spot, key: "mulligan" },
		`${file} exports nothing that mulligan knows (${names}); write "export default defineConfig({ … })".`,
	);
}

function putEnvironment(layers: Layers, { MULLIGAN_DISABLED, MULLIGAN_LOG }: ConfigOptions["env"], cwd: string): void {
	if (MULLIGAN_DISABLED === "1") layers.setTop("enabled", false, "MULLIGAN_DISABLED");
	if (MULLIGAN_LOG) layers.set("log", { file: resolve(cwd, MULLIGAN_LOG) }, "MULLIGAN_LOG");
}

function environmentReports(env: ConfigOptions["env"]): readonly SourceReport[] {
	const names = ["MULLIGAN_DISABLED", "MULLIGAN_LOG"].filter((name) => env[name]);
	return names.map((file) => ({ file, scope: "environment", state: "read" }));
}
