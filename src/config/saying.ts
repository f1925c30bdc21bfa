import { checkKnob, type Spot, spotIn, type Warning, wrongAt } from "./check.ts";
import { type Entry, pluginWords } from "./plugins/entries.ts";
import { isRecord } from "./read/block.ts";
import { Enabled } from "./schema.ts";
import type { Source } from "./sources/book.ts";

/** What one source says, as far as it can be understood before the plugins are known. */
export interface Saying {
	readonly source: Source;
	/** The root of its block. */
	readonly spot: Spot;
	readonly block: Readonly<Record<string, unknown>>;
	readonly isEnabled?: boolean;
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
		return { source, spot, block: {}, replace: new Map(), warnings };
	}
	const words = pluginWords(source, block.value, spot);
	const { isEnabled, warnings } = switchOf(block.value, spot);
	return {
		...{ source, spot, block: block.value, replace: words.replace, warnings: [...warnings, ...words.warnings] },
		...(words.entries ? { entries: words.entries } : {}),
		...(isEnabled === undefined ? {} : { isEnabled }),
	};
}

/** The master switch; undefined where the block does not say, or says it wrongly. */
function switchOf(
	block: Readonly<Record<string, unknown>>,
	root: Spot,
): { readonly isEnabled?: boolean; readonly warnings: readonly Warning[] } {
	if (!Object.hasOwn(block, "enabled") || block.enabled === undefined) return { warnings: [] };
	const { isTaken, value, warnings } = checkKnob(Enabled, block.enabled, spotIn(root, "enabled"));
	return isTaken ? { isEnabled: value === true, warnings } : { warnings };
}
