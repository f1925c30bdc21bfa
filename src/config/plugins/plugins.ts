import { join } from "node:path";
import { messageOfError } from "../../kernel/isolate.ts";
import type { Plugin } from "../../kernel/plugin.ts";
import { placeText, type Spot, type Warning, warningAt } from "../check.ts";
import { closest } from "../closest.ts";
import { placeless } from "../read/block.ts";
import { load } from "../read/code.ts";
import type { Scope } from "../sources/book.ts";
import type { Gate } from "../trust/gate.ts";
import { DEFAULT_SET, type Entry } from "./entries.ts";
import { lineUp, type Placed } from "./line-up.ts";
import { isPath, locate } from "./locate.ts";
import { type Parsed, parsePlugin, passportProblem, schemaProblem } from "./passport.ts";

/** What the config says of plugins, all files taken together. */
export interface Wanted {
	/** Undefined: the default set. */
	readonly entries: readonly Entry[] | undefined;
	/** What stands in the place of a plugin, by the name of that one. */
	readonly replace: ReadonlyMap<string, Entry>;
}

export interface LoadOptions {
	/** The default set, in its order. */
	readonly builtIns: readonly Plugin[];
	readonly agentDir: string;
	/** The project's, a real path. */
	readonly root: string;
	readonly gate: Gate;
	readonly warn: (warning: Warning) => void;
}

/** The plugins that the config wants, in their order. Each that cannot be had is one warning, and the others stay. */
export async function loadPlugins({ entries, replace }: Wanted, options: LoadOptions): Promise<readonly Placed[]> {
	const list = expanded(entries ?? [defaultSet], options);
	const aims = await aimsOf([...list, ...replace.values()], options);
	const plugins = await broughtBy(aims, options);
	const placed = list.flatMap((entry) => {
		const plugin = plugins.get(entry);
		return plugin ? [placedAs(plugin, entry)] : [];
	});
	const replaced = placed.map((one) => replacedBy(one, { replace, plugins }));
	await warnOfStrangers(replace, placed, options);
	const { plugins: kept, out } = lineUp(replaced);
	for (const { placed: one, why } of out) leaveOut(one.spot, one.plugin.name, why, options);
	return kept;
}

/** Where the default set stands while no file says anything of plugins. */
const defaultSet: Entry = {
	what: DEFAULT_SET,
	spot: { key: "plugins", file: "the default set", path: [], placeOf: placeless(undefined).placeOf },
	source: { file: "", scope: "user" },
};

/** `"..."` as the plugins it stands for; where it is said again, only the last counts. */
function expanded(entries: readonly Entry[], { builtIns, warn }: LoadOptions): readonly Entry[] {
	const last = entries.findLast(({ what }) => what === DEFAULT_SET);
	return entries.flatMap((entry) => {
		if (entry.what !== DEFAULT_SET) return [entry];
		if (entry === last) return builtIns.map((plugin) => ({ ...entry, what: plugin }));
		warn(warningAt(entry.spot, `"..." is listed twice, and the later one counts: not ${whereOf(entry.spot)}.`));
		return [];
	});
}

/** Where a plugin comes from, before any of its code has run. */
type Aim =
	| { readonly builtIn: Plugin }
	| { readonly given: object }
	| { readonly file: string; readonly saidBy: Scope };

async function aimsOf(entries: readonly Entry[], options: LoadOptions): Promise<ReadonlyMap<Entry, Aim>> {
	const aims = new Map<Entry, Aim>();
	for (const entry of entries) {
		const aim = await aimOf(entry, options);
		if ("problem" in aim) leaveOut(entry.spot, nameOf(entry), aim.problem, options);
		else aims.set(entry, aim);
	}
	return aims;
}

async function aimOf(
	{ what, source }: Entry,
	{ builtIns, agentDir, root }: LoadOptions,
): Promise<Aim | { readonly problem: string }> {
	const builtIn = builtIns.find((plugin) => plugin === what || plugin.name === what);
	if (builtIn) return { builtIn };
	if (typeof what !== "string") return { given: what };
	const isOfProject = source.scope === "project";
	const located = await locate(what, {
		file: source.file,
		within: isOfProject ? root : undefined,
		packageFolders: isOfProject ? [] : [join(agentDir, "npm")],
	});
	if ("file" in located) return { ...located, saidBy: source.scope };
	if (isPath(what)) return located;
	const meant = await closest(
		what,
		builtIns.map(({ name }) => name),
	);
	return meant === undefined ? located : { problem: `${located.problem}; did you mean "${meant}"?` };
}

/** The plugins that could be had; the human is asked once for all code that needs it. */
async function broughtBy(aims: ReadonlyMap<Entry, Aim>, options: LoadOptions): Promise<ReadonlyMap<Entry, Plugin>> {
	const { gate, warn } = options;
	const ofProject = [...aims.values()].flatMap((aim) => ("file" in aim && aim.saidBy === "project" ? [aim.file] : []));
	const files = [...new Set(ofProject)];
	if (files.length > 0)
		await gate.prepare(files).catch((error) => warn({ key: "plugins", text: messageOfError(error) }));
	const plugins = new Map<Entry, Plugin>();
	for (const [entry, aim] of aims) {
		const brought = await bring(aim, gate);
		if ("plugin" in brought) plugins.set(entry, brought.plugin);
		else leaveOut(entry.spot, nameOf(entry), brought.problem, options);
	}
	return plugins;
}

async function bring(aim: Aim, gate: Gate): Promise<Parsed> {
	if ("builtIn" in aim) return { plugin: aim.builtIn };
	const loaded = "file" in aim ? await load(aim.file, { gate, saidBy: aim.saidBy }) : { value: aim.given };
	if ("problem" in loaded) return loaded;
	try {
		const parsed = parsePlugin(loaded.value);
		if ("problem" in parsed) return parsed;
		const problem = (await passportProblem(parsed.plugin)) ?? schemaProblem(parsed.plugin);
		return problem === undefined ? parsed : { problem };
	} catch (error) {
		return { problem: messageOfError(error) };
	}
}

function placedAs(plugin: Plugin, { spot, options }: Entry): Placed {
	return { plugin, spot, ...(options ? { options } : {}) };
}

/** The plugin that the config puts in the place of this one, under its name; without one that could be had, this one. */
function replacedBy(
	placed: Placed,
	{ replace, plugins }: { readonly replace: Wanted["replace"]; readonly plugins: ReadonlyMap<Entry, Plugin> },
): Placed {
	const { name } = placed.plugin;
	const entry = replace.get(name);
	const plugin = entry && plugins.get(entry);
	if (!entry || !plugin) return placed;
	return { ...placed, ...placedAs({ ...plugin, name }, entry), ownName: plugin.name };
}

async function warnOfStrangers(
	replace: Wanted["replace"],
	placed: readonly Placed[],
	{ warn }: LoadOptions,
): Promise<void> {
	const names = placed.map(({ plugin }) => plugin.name);
	for (const [name, { spot }] of replace) {
		if (names.includes(name)) continue;
		const meant = await closest(name, names);
		const hint = meant === undefined ? "" : ` Did you mean "${meant}"?`;
		const text = `${whereOf(spot)} replaces nothing: no plugin "${name}" is in the list.${hint}`;
		warn(warningAt(spot, text, meant === undefined ? {} : { didYouMean: meant }));
	}
}

function leaveOut(spot: Spot, name: string, why: string, { warn }: LoadOptions): void {
	warn(warningAt(spot, `the plugin "${name}" of ${whereOf(spot)} is left out: ${why.replace(/\.$/, "")}.`));
}

function whereOf(spot: Spot): string {
	return `${spot.key} in ${placeText(spot)}`;
}

/** What an entry says, or the name of the plugin that it is. */
function nameOf({ what }: Entry): string {
	if (typeof what === "string") return what;
	const name: unknown = Object.getOwnPropertyDescriptor(what, "name")?.value;
	return typeof name === "string" && name !== "" ? name : "without a name";
}
