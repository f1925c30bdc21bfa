import { existsSync, readdirSync, realpathSync } from "node:fs";
import nodePath, { basename, dirname, join, type PlatformPath, resolve } from "node:path";
import { isProblem, isRecord } from "../read/block.ts";
import { readText } from "../read/file.ts";

const EXTENSIONS = ["ts", "mts", "js", "mjs", "cjs", "json", "yaml", "yml"];
const configsIn = (folder: string) => EXTENSIONS.map((extension) => `${folder}mulligan.config.${extension}`);

/** Where Pi's agent folder may hold a config; the first that is there counts. */
export const AGENT_PLACES: readonly string[] = configsIn("");

/** Where a folder of a project may hold one, in the same way. */
export const PROJECT_PLACES: readonly string[] = [
	...configsIn(""),
	...configsIn(".pi/"),
	...configsIn(".config/"),
	...[".mulliganrc", ".mulliganrc.json", ".mulliganrc.yaml", ".mulliganrc.yml"],
	"package.json",
];

/** The formats that are code, and run only if they may. */
export function isCodeFile(file: string): boolean {
	return /\.[mc]?[jt]s$/.test(file);
}

/**
 * The folders in which a project's config may lie, nearest first: from a working directory up to the nearest folder
 * with `.git`, else with `package.json`, else the working directory alone. Never the home folder or one above it.
 */
export function projectFolders(cwd: string, home: string): readonly string[] {
	const homeFolder = realFolder(home);
	const isAllowed = (folder: string) => !isInside(homeFolder, folder);
	const folders = [...upwards(realFolder(cwd))];
	const firstForbidden = folders.findIndex((folder) => !isAllowed(folder));
	const allowed = firstForbidden === -1 ? folders : folders.slice(0, firstForbidden);
	const rootBy = (name: string) => allowed.findIndex((folder) => existsSync(join(folder, name)));
	const root = [rootBy(".git"), rootBy("package.json"), 0].find((index) => index >= 0) ?? 0;
	return allowed.slice(0, root + 1);
}

/** The folder whose files are the project's: the last of its folders, or the working directory where it has none. */
export function projectRoot(cwd: string, home: string): string {
	return projectFolders(cwd, home).at(-1) ?? realFolder(cwd);
}

/** The places of a folder at which something stands, in their order; nothing is opened but a package.json. */
export function occupied(folder: string, places: readonly string[]): readonly string[] {
	const listings = new Map<string, ReadonlySet<string>>();
	const stands = (place: string) => {
		const parent = dirname(join(folder, place));
		const names = listings.get(parent) ?? namesIn(parent);
		listings.set(parent, names);
		return names.has(basename(place));
	};
	return places.filter((place) => stands(place) && (place !== "package.json" || mayConfigure(join(folder, place))));
}

/** Whether a path is a folder or lies in it. Both must be real paths; `paths` are the rules of a platform, this one's unless given. */
export function isInside(path: string, folder: string, paths: PlatformPath = nodePath): boolean {
	const way = paths.relative(folder, path);
	return !(way === ".." || way.startsWith(`..${paths.sep}`) || paths.isAbsolute(way));
}

/** A path with its links resolved as far as it exists, and where the disk ignores case with its names as they are stored. */
export function realFolder(path: string): string {
	const absolute = resolve(path);
	try {
		return realpathSync.native(absolute);
	} catch {
		const parent = dirname(absolute);
		return parent === absolute ? absolute : join(realFolder(parent), basename(absolute));
	}
}

function* upwards(folder: string): Generator<string> {
	yield folder;
	const parent = dirname(folder);
	if (parent !== folder) yield* upwards(parent);
}

function namesIn(folder: string): ReadonlySet<string> {
	try {
		return new Set(readdirSync(folder));
	} catch {
		return new Set();
	}
}

/** Most projects have a package.json that does not speak of mulligan; one that cannot be read may. */
function mayConfigure(manifest: string): boolean {
	const read = readText(manifest);
	if (read === undefined || isProblem(read) || !/"mulligan"\s*:/.test(read.text)) return false;
	try {
		const parsed: unknown = JSON.parse(read.text);
		return isRecord(parsed) && Object.hasOwn(parsed, "mulligan");
	} catch {
		return true;
	}
}
