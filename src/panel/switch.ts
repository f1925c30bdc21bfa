import { isAbsolute, relative, resolve, sep } from "node:path";
import { isCodeFile } from "../config/sources/places.ts";
import { type Answer, answered, refused } from "./answer.ts";
import type { Where } from "./command.ts";
import { plain } from "./layout.ts";
import { shownPath } from "./paths.ts";
import type { Change } from "./set.ts";
import type { PanelState, PluginState } from "./state.ts";
import { folderOf, overriding, type Target, targetFor, targetIn } from "./target.ts";

/** What stands for the default set in a list of plugins. */
const REST = "...";

/** Which plugins are to be on and off, by name. */
export type Switches = ReadonlyMap<string, boolean>;

/** The list of plugins that is in force. */
export interface ListInForce {
	/** As the config says it; undefined where that is code. */
	readonly entries: readonly unknown[] | undefined;
	/** The config that says it; undefined: none does, and it is the default set. */
	readonly file: string | undefined;
}

/**
 * The change of the list of plugins that puts these on and off; or an answer why not, or that nothing is to be done.
 * The list is written in full, with `"..."` for the default set where all of it stands in it in its order. What is put
 * on goes to its place among the default set, else to the end. The list is changed where it is in force, if that is
 * data of ours; the plugins' options stay as they are.
 */
export function listChange(
	state: PanelState,
	switches: Switches,
	{ list, where }: { readonly list: ListInForce; readonly where: Where },
): Change | Answer {
	const wanted = [...switches].filter(([name, to]) => isListed(state, name) !== to);
	if (wanted.length === 0)
		return answered(`${[...switches].map(([name, to]) => standsAlready(state, name, to)).join(", ")}.`);
	const target = listTarget(state, { list, where });
	if ("why" in target) return refused(target.why);
	const overriddenBy = overriding(state, list.file, target);
	if (overriddenBy !== undefined) return refused(setElsewhere(overriddenBy, state));
	const entries = list.entries ? spread(list.entries, { list, target, state }) : namesOf(state);
	if (!entries) return refused(setElsewhere(list.file ?? "", state));
	const without = wanted.filter(([, to]) => !to).map(([name]) => name);
	const foreign = without.find((name) => !entries.some((entry) => nameIn(entry) === name));
	if (foreign !== undefined) return refused(notNamed(foreign, list.file, state));
	const kept = entries.filter((entry) => !without.includes(nameIn(entry) ?? ""));
	const added = wanted.filter(([, to]) => to).map(([name]) => name);
	const all = added.reduce<readonly unknown[]>((into, name) => inserted(into, name, state.defaults), kept);
	return {
		target,
		path: ["plugins"],
		value: gathered(all, state.defaults),
		what: wanted.map(([name, to]) => `${plain(name)} is ${to ? "on" : "off"}`).join(", "),
		overriddenBy: undefined,
	};
}

/** Whether a plugin is in the list, whatever became of it. */
export function isListed({ plugins }: PanelState, name: string): boolean {
	const plugin = plugins.find((each) => each.name === name);
	return plugin !== undefined && plugin.state !== "off";
}

function standsAlready({ plugins }: PanelState, name: string, to: boolean): string {
	const plugin = plugins.find((each) => each.name === name) as PluginState;
	if (!to || plugin.state === "on") return `${plain(name)} is ${to ? "on" : "off"} already`;
	return `${plain(name)} is in the list already, but ${plugin.state} (${plain(plugin.why ?? "no reason known")})`;
}

function listTarget(
	state: PanelState,
	{ list, where }: { readonly list: ListInForce; readonly where: Where },
): Target | { readonly why: string } {
	const inForce = where === undefined && list.file !== undefined ? targetIn(state, list.file) : undefined;
	return inForce ?? targetFor(state, where);
}

function setElsewhere(file: string, { host }: PanelState): string {
	const how = isCodeFile(file) ? "is code, which only its author can change" : "counts more";
	return `the list of plugins is set in ${shownPath(file, host)}, which ${how}. Change it there, then /reload.`;
}

function notNamed(name: string, file: string | undefined, { host }: PanelState): string {
	const where = file === undefined ? "the config" : shownPath(file, host);
	return `"plugins" in ${where} has ${plain(name)} under another name, by a path or a package. Take it out there, then /reload.`;
}

/** The entries, the default set in full, with paths as the target's file must say them. */
function spread(
	entries: readonly unknown[],
	{ list: { file }, target, state }: { list: ListInForce; target: Target; state: PanelState },
): readonly unknown[] {
	return entries
		.flatMap((entry): readonly unknown[] => (entry === REST ? state.defaults : [entry]))
		.map((entry) => (file === undefined ? entry : moved(entry, folderOf(file), folderOf(target.file))));
}

/** The list by the names of its plugins; undefined where one has a name that no config may say. */
function namesOf({ plugins }: PanelState): readonly string[] | undefined {
	const listed = plugins.filter(({ state }) => state !== "off");
	return listed.every(({ isBuiltIn }) => isBuiltIn) ? listed.map(({ name }) => name) : undefined;
}

/** An entry with a relative path, as another folder's file says it. */
function moved(entry: unknown, from: string, to: string): unknown {
	if (Array.isArray(entry)) return [moved(entry[0], from, to), ...entry.slice(1)];
	if (typeof entry !== "string" || !/^\.\.?[/\\]/.test(entry) || from === to) return entry;
	const path = relative(to, resolve(from, entry)).replaceAll(sep, "/");
	return isAbsolute(path) || path.startsWith("../") ? path : `./${path}`;
}

function nameIn(entry: unknown): string | undefined {
	const first = Array.isArray(entry) ? entry[0] : entry;
	return typeof first === "string" ? first : undefined;
}

/** The list with one more: after the nearest of the default set that comes before it there, else before the next one. */
function inserted(entries: readonly unknown[], name: string, defaults: readonly string[]): readonly unknown[] {
	const place = defaults.indexOf(name);
	if (place === -1) return [...entries, name];
	const names = entries.map(nameIn);
	const before = defaults.slice(0, place).findLast((other) => names.includes(other));
	const after = defaults.slice(place + 1).find((other) => names.includes(other));
	const at =
		before !== undefined ? names.lastIndexOf(before) + 1 : after !== undefined ? names.indexOf(after) : entries.length;
	return [...entries.slice(0, at), name, ...entries.slice(at)];
}

/** The list with `"..."` for the default set, where it stands in it whole and in its order. */
function gathered(entries: readonly unknown[], defaults: readonly string[]): readonly unknown[] {
	const start = entries.indexOf(defaults[0]);
	if (start === -1 || defaults.some((name, at) => entries[start + at] !== name)) return entries;
	return [...entries.slice(0, start), REST, ...entries.slice(start + defaults.length)];
}
