import { basename, join } from "node:path";
import { messageOfError } from "../../kernel/isolate.ts";
import { type Block, isProblem, type Problem, placeless, within } from "../read/block.ts";
import { unusable, withoutMark } from "../read/file.ts";
import { readJson } from "../read/json.ts";
import { readYaml } from "../read/yaml.ts";
import { isCodeFile, occupied } from "./places.ts";

/** Evaluates a code file and gives what it exports. Rejects with why not. */
export type LoadCode = (file: string) => Promise<Block | Problem>;

/** cosmiconfig's search, as far as it is used here. */
interface Explorer {
	search(folder: string): Promise<{ readonly filepath: string; readonly config?: Block | Problem } | null>;
}
export interface Cosmiconfig {
	readonly Explorer: new (options: object) => Explorer;
}

/**
 * cosmiconfig's explorer without its front door: that one first looks for a config of cosmiconfig itself in the working
 * directory, and would run a `.config/config.js` there before anybody was asked.
 */
export async function importCosmiconfig(): Promise<Cosmiconfig> {
	return (await import("cosmiconfig/dist/Explorer.js")) as unknown as Cosmiconfig;
}

/** What a folder's places hold. */
export interface Findings {
	/** The config that counts; undefined: the folder has none. */
	readonly found?: { readonly file: string; readonly read: Block | Problem };
	/** Files that stand in a place and cannot be taken, with why. */
	readonly passedOver: readonly { readonly file: string; readonly why: string }[];
	/** Configs that would have counted without the found one. */
	readonly shadowed: readonly string[];
}

/** The first config of a folder, by the order of the places. Imports cosmiconfig only where something stands in one. */
export async function searchFolder(
	folder: string,
	{
		places,
		mustBeOwn,
		cosmiconfig,
		loadCode,
		beforeCode,
	}: {
		readonly places: readonly string[];
		/** Files of other users are passed over. */
		readonly mustBeOwn: boolean;
		readonly cosmiconfig: () => Promise<Cosmiconfig>;
		readonly loadCode: LoadCode;
		/** Called with the code file that is about to be loaded. */
		readonly beforeCode: (file: string) => Promise<void>;
	},
): Promise<Findings> {
	const standing = occupied(folder, places).map((place) => ({ place, file: join(folder, place) }));
	const judged = standing.map((at) => ({ ...at, why: unusable(at.file, { mustBeOwn }) }));
	const passedOver = judged.flatMap(({ file, why }) => (why === undefined ? [] : [{ file, why }]));
	const usable = judged.filter(({ why }) => why === undefined);
	const [first] = usable;
	if (!first) return { passedOver, shadowed: [] };
	if (isCodeFile(first.file)) await beforeCode(first.file);
	const { Explorer } = await cosmiconfig();
	const explorer = new Explorer(
		optionsFor(
			usable.map(({ place }) => place),
			loadCode,
		),
	);
	const hit = await explorer.search(folder);
	if (!hit) return { passedOver, shadowed: [] };
	const { filepath: file, config: read = placeless({}) } = hit;
	return {
		found: { file, read },
		passedOver,
		shadowed: usable.map(({ file }) => file).filter((other) => other !== file),
	};
}

function optionsFor(places: readonly string[], loadCode: LoadCode): object {
	const json = (file: string, text: string) => (basename(file) === "package.json" ? manifest(text) : relaxed(text));
	const rc = (_file: string, text: string) =>
		withoutMark(text).trimStart().startsWith("{") ? relaxed(text) : yaml("", text);
	const loaders = {
		...Object.fromEntries([".ts", ".mts", ".js", ".mjs", ".cjs"].map((extension) => [extension, loadCode])),
		...{ ".json": json, ".yaml": yaml, ".yml": yaml, noExt: rc },
	};
	return {
		...{ moduleName: "mulligan", searchPlaces: places, loaders, searchStrategy: "none", cache: false },
		...{ ignoreEmptySearchPlaces: false, metaConfigFilePath: null, transform: (hit: unknown) => hit },
	};
}

const relaxed = (text: string) => readJson(withoutMark(text), "relaxed");

/** In the shape of a package.json, from which cosmiconfig takes the block. */
function manifest(text: string): { readonly mulligan?: Block | Problem | undefined } {
	const read = readJson(withoutMark(text), "strict");
	return { mulligan: isProblem(read) ? read : within(read, "mulligan") };
}

async function yaml(_file: string, text: string): Promise<Block | Problem> {
	try {
		return await readYaml(withoutMark(text));
	} catch (error) {
		return { problem: messageOfError(error) };
	}
}
