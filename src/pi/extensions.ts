import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { parse } from "jsonc-parser";

/** Another extension, as far as Pi lets one see it. */
export interface OtherExtension {
	/** Its file, or a package as Pi's settings name it. */
	readonly path: string;
	readonly knownBy: readonly string[];
	/** The events by which it can change what the model is sent, that its file names; undefined: it can't be read. */
	readonly handles: readonly string[] | undefined;
}

/** By these an extension can change what the model, or the summariser, is sent. */
const EVENTS =
	/\.on\(\s*["'`](context|context_with_system|before_provider_request|session_before_compact|session_before_tree)["'`]/g;
const EDITS = /\b(?:context_edit|appendContextEdit)\b/;
/** Mulligan itself, as a package of Pi's settings. */
const OWN_PACKAGE = /(?:^|[/\\:])pi-mulligan(?:$|[@#/\\]|\.git)/;
/** Larger files are not read. */
const MOST_BYTES = 4_000_000;

/**
 * The other extensions that can be found: by their tools and commands, in the extensions folders, on the command line
 * and in Pi's settings. Pi lists them nowhere, and shows no handlers.
 */
export function otherExtensions(
	pi: Pick<ExtensionAPI, "getAllTools" | "getCommands">,
	{
		folders,
		args,
		cwd,
	}: { readonly folders: readonly string[]; readonly args: readonly string[]; readonly cwd: string },
): readonly OtherExtension[] {
	const commands = pi.getCommands().filter(({ source }) => source === "extension");
	const own = commands.find(({ name }) => name === "mulligan")?.sourceInfo.path;
	const tools = pi.getAllTools().filter(({ sourceInfo }) => !["builtin", "sdk"].includes(sourceInfo.source));
	const found = [
		...counts(tools, "tool"),
		...counts(commands, "command"),
		...folders.flatMap((folder) =>
			filesIn(join(folder, "extensions")).map((path) => [path, "extensions folder"] as const),
		),
		...named(args).map((path) => [resolve(cwd, path), "-e"] as const),
		...folders.flatMap(packagesIn).map((name) => [name, "package"] as const),
	];
	const byPath = new Map<string, string[]>();
	for (const [path, how] of found) byPath.set(path, [...(byPath.get(path) ?? []), how]);
	return [...byPath]
		.filter(([path]) => path !== own && !isWithin(own, path))
		.map(([path, knownBy]) => ({ path, knownBy: [...new Set(knownBy)], handles: handledIn(path) }));
}

/** A folder or package that our own file lies in is ours. */
function isWithin(own: string | undefined, path: string): boolean {
	return own?.startsWith(join(path, "/")) ?? false;
}

function counts(all: readonly { readonly sourceInfo: { readonly path: string } }[], thing: string) {
	const byPath = new Map<string, number>();
	for (const { sourceInfo } of all) byPath.set(sourceInfo.path, (byPath.get(sourceInfo.path) ?? 0) + 1);
	return [...byPath].map(([path, count]) => [path, `${count} ${thing}${count === 1 ? "" : "s"}`] as const);
}

/** What Pi loads of an extensions folder: its files of code, and its folders with an index. */
function filesIn(folder: string): readonly string[] {
	return attempt(() => readdirSync(folder, { withFileTypes: true }), []).flatMap((entry) => {
		const path = join(folder, entry.name);
		if (/\.[jt]s$/.test(entry.name)) return [path];
		const index = ["index.ts", "index.js"].map((name) => join(path, name)).find((file) => sizeOf(file) !== undefined);
		return index === undefined ? [] : [index];
	});
}

/** The extensions that the command line gives. */
function named(args: readonly string[]): readonly string[] {
	return args.flatMap((arg, at) => (["-e", "--extension"].includes(args[at - 1] ?? "") ? [arg] : []));
}

function packagesIn(folder: string): readonly string[] {
	const settings = attempt(() => parse(readFileSync(join(folder, "settings.json"), "utf8")) as unknown, undefined);
	const { packages } = (settings ?? {}) as { readonly packages?: unknown };
	if (!Array.isArray(packages)) return [];
	return packages
		.map((each: unknown) => (typeof each === "object" && each !== null ? (each as { source?: unknown }).source : each))
		.filter((name): name is string => typeof name === "string" && !OWN_PACKAGE.test(name));
}

function handledIn(path: string): readonly string[] | undefined {
	const size = sizeOf(path);
	if (size === undefined || size > MOST_BYTES) return undefined;
	const text = attempt(() => readFileSync(path, "utf8"), undefined);
	if (text === undefined) return undefined;
	const events = [...text.matchAll(EVENTS)].map(([, event = ""]) => event);
	return [...new Set([...events, ...(EDITS.test(text) ? ["context_edit"] : [])])];
}

/** Of a file, in bytes; undefined for all else. */
function sizeOf(path: string): number | undefined {
	const stat = attempt(() => statSync(path), undefined);
	return stat?.isFile() ? stat.size : undefined;
}

function attempt<T>(code: () => T, otherwise: T): T {
	try {
		return code();
	} catch {
		return otherwise;
	}
}
