import { checkKnob, type Spot, spotIn, type Warning, wrongAt } from "./check.ts";
import { type Entry, pluginWords } from "./plugins/entries.ts";
import { isRecord } from "./read/block.ts";
import { TopKnobs } from "./schema.ts";
import type { Source } from "./sources/book.ts";

/** What one source says, as far as it can be understood before the plugins are known. */
export interface Saying {
	readonly source: Source;
	/** The root of its block. */
	readonly spot: Spot;
	readonly block: Readonly<Record<string, unknown>>;
	/** What it says of the knobs beside the sections: valid values, by name. */
	readonly tops: ReadonlyMap<string, unknown>;
	/** Undefined: it has no list of plugins. */
	readonly entries?: readonly Entry[];
	readonly replace: ReadonlyMap<string, Entry>;
	readonly warnings: readonly Warning[];
}

/** Files in which a config is one key among others. */
const BESIDE_OTHERS = /(?:^|[\\/])(?:settings|package)\.json$/;

export function sayingOf(source: Source): Saying {
	const { file, block } = source;
	const spot: Spot = { key: "", file, path: [], placeOf: block.placeOf };
	if (!isRecord(block.value)) {
		const isBlock = BESIDE_OTHERS.test(file);
		const key = isBlock ? "mulligan" : "the config";
		const warnings = [{ ...wrongAt({ ...spot, key }, block.value, "an object"), key: "mulligan" }];
		return { source, spot, block: {}, tops: new Map(), replace: new Map(), warnings };
	}
	const words = pluginWords(source, block.value, spot);
	const { tops, warnings } = topsOf(block.value, spot);
	return {
		...{ source, spot, block: block.value, tops, replace: words.replace },
		warnings: [...warnings, ...words.warnings],
		...(words.entries ? { entries: words.entries } : {}),
	};
}

/** The knobs beside the sections; none that the block does not say, or says wrongly. */
function topsOf(
	block: Readonly<Record<string, unknown>>,
	root: Spot,
): { readonly tops: ReadonlyMap<string, unknown>; readonly warnings: readonly Warning[] } {
	const tops = new Map<string, unknown>();
	const warnings: Warning[] = [];
	for (const [name, knob] of Object.entries(TopKnobs)) {
		if (!Object.hasOwn(block, name) || block[name] === undefined) continue;
		const checked = checkKnob(knob, block[name], spotIn(root, name));
		warnings.push(...checked.warnings);
		if (checked.isTaken) tops.set(name, checked.value);
	}
	return { tops, warnings };
}
