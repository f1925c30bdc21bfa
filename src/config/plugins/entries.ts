import { type Spot, spotIn, type Warning, wrongAt } from "../check.ts";
import { isRecord } from "../read/block.ts";
import { snapshot } from "../read/snapshot.ts";
import type { Source } from "../sources/book.ts";

/** One item of `plugins`, or one replacement, as its file says it. */
export interface Entry {
	/** A name, a path, a package, `"..."`, or the plugin itself. */
	readonly what: string | object;
	readonly spot: Spot;
	readonly source: Pick<Source, "file" | "scope">;
	/** What stands beside it in `[entry, options]`. */
	readonly options?: { readonly given: unknown; readonly spot: Spot };
}

/** What one source says of plugins. */
export interface PluginWords {
	/** Undefined: it has no list. */
	readonly entries?: readonly Entry[];
	readonly replace: ReadonlyMap<string, Entry>;
	readonly warnings: readonly Warning[];
}

/** The default set, in its order. */
export const DEFAULT_SET = "...";

const LIST = 'a list of plugins: names, paths, packages, [plugin, options] or "..."';
const ITEM = "a name, a path, a package or [plugin, options]";

/** The `plugins` and `replace` of one source's block. */
export function pluginWords(source: Source, block: Readonly<Record<string, unknown>>, root: Spot): PluginWords {
	const warnings: Warning[] = [];
	const { plugins, replace } = block;
	const entries =
		plugins === undefined ? undefined : list(plugins, { source, spot: spotIn(root, "plugins"), warnings });
	const replacements =
		replace === undefined ? new Map() : table(replace, { source, spot: spotIn(root, "replace"), warnings });
	return { ...(entries ? { entries } : {}), replace: replacements, warnings };
}

interface Said {
	readonly source: Source;
	readonly spot: Spot;
	readonly warnings: Warning[];
}

function list(given: unknown, said: Said): readonly Entry[] | undefined {
	if (Array.isArray(given))
		return given.flatMap((item, index) => entry(item, { ...said, spot: spotIn(said.spot, index) }));
	said.warnings.push(wrongAt(said.spot, given, LIST));
	return undefined;
}

function table(given: unknown, said: Said): ReadonlyMap<string, Entry> {
	if (isRecord(given))
		return new Map(
			Object.entries(given).flatMap(([name, item]) =>
				entry(item, { ...said, spot: spotIn(said.spot, name) }).map((found) => [name, found] as const),
			),
		);
	said.warnings.push(wrongAt(said.spot, given, "an object of names and plugins"));
	return new Map();
}

/** No entry where it is of a wrong kind; then there is a warning. */
function entry(item: unknown, { source, spot, warnings }: Said): readonly Entry[] {
	const [what, ...rest] = Array.isArray(item) ? item : [item];
	const isWhole = Array.isArray(item) ? rest.length <= 1 && what !== DEFAULT_SET : true;
	const isPlugin = source.isCode && typeof what === "object" && isRecord(what);
	if (!isWhole || !(isPlugin || (typeof what === "string" && what !== ""))) {
		warnings.push(wrongAt(spot, item, ITEM));
		return [];
	}
	const [given] = rest;
	if (given === undefined) return [{ what, spot, source }];
	const optionsSpot = spotIn(spot, 1);
	if (isRecord(given)) return [{ what, spot, source, options: { given: snapshot(given), spot: optionsSpot } }];
	warnings.push(wrongAt(optionsSpot, given, "an object of options"));
	return [{ what, spot, source }];
}
