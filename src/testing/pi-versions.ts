import { existsSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { findPackageJSON } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import type { StreamSimple } from "./messages.ts";
import { packageRoot } from "./package-root.ts";

const PI = "@earendil-works/pi-coding-agent";

/** An installed Pi. */
export interface PiVersion {
	/** `oldest`, `newest`, or the version itself. */
	name: string;
	version: string;
	/** Folder of its package. */
	root: string;
}

/**
 * Every Pi that tests can run, oldest first: in this repository the pinned ones, and those in `.pi-versions/` once its
 * install script ran; elsewhere the one that is installed in the project.
 */
export function piVersions(): PiVersion[] {
	const aliases = ["oldest", "newest"].flatMap((name) => piAt(name, join(packageRoot, "node_modules", `pi-${name}`)));
	const installed = installedVersions().flatMap((version) =>
		piAt(version, join(packageRoot, ".pi-versions", version, "node_modules", PI)),
	);
	const found = [...aliases, ...installed].sort(byVersion);
	return found.length > 0 ? found : hostPi();
}

/** The last of `piVersions()`. */
export function newestPi(): PiVersion {
	const newest = piVersions().at(-1);
	if (!newest)
		throw new Error(`No Pi is installed. Add it to the project that is tested: npm install --save-dev ${PI}`);
	return newest;
}

function installedVersions(): string[] {
	const folder = join(packageRoot, ".pi-versions");
	return existsSync(folder) ? readdirSync(folder) : [];
}

/** The Pi beside the tests, else beside this package: the latter is somewhere else where it is only linked. */
function hostPi(): PiVersion[] {
	const places = [pathToFileURL(join(process.cwd(), "package.json")).href, import.meta.url];
	const manifest = places.map(manifestFrom).find((path) => path !== undefined);
	return manifest ? piAt("installed", dirname(manifest)) : [];
}

function manifestFrom(place: string): string | undefined {
	try {
		return findPackageJSON(PI, place);
	} catch {
		return undefined;
	}
}

function piAt(name: string, root: string): PiVersion[] {
	const manifest = join(root, "package.json");
	if (!existsSync(manifest)) return [];
	const { version } = JSON.parse(readFileSync(manifest, "utf8")) as { version: string };
	// Where packages are links, as pnpm makes them, only their real place has their dependencies beside it.
	return [{ name, version, root: realpathSync(root) }];
}

function byVersion(a: PiVersion, b: PiVersion): number {
	return a.version.localeCompare(b.version, "en", { numeric: true });
}

type Agent = typeof import("@earendil-works/pi-coding-agent");

/** The modules of one Pi, all from that Pi's own dependency tree. */
export interface PiModules {
	agent: Agent;
	/** `createAssistantMessageEventStream` of its pi-ai. */
	createStream: () => ReturnType<StreamSimple>;
	/** Forgets extensions loaded before, whose modules Pi would use again for the same working directory. */
	clearExtensionCache: () => void;
	theme: { theme: import("@earendil-works/pi-coding-agent").Theme; initTheme(name?: string): void };
}

export async function loadPi(pi: PiVersion): Promise<PiModules> {
	const [agent, ai, loader, theme] = await Promise.all([
		importFile(join(pi.root, "dist/index.js")),
		importFile(dependency(pi, "@earendil-works/pi-ai", "dist/index.js")),
		importFile(join(pi.root, "dist/core/extensions/loader.js")),
		importFile(join(pi.root, "dist/modes/interactive/theme/theme.js")),
	]);
	const { createAssistantMessageEventStream: createStream } = ai;
	return { agent, createStream, clearExtensionCache: loader.clearExtensionCache, theme } as unknown as PiModules;
}

function dependency(pi: PiVersion, name: string, file: string): string {
	const manifest = findPackageJSON(name, pathToFileURL(join(pi.root, "dist/index.js")));
	if (!manifest) throw new Error(`Pi ${pi.version} at ${pi.root} has no ${name}.`);
	return join(dirname(manifest), file);
}

async function importFile(file: string): Promise<Record<string, unknown>> {
	return import(pathToFileURL(file).href);
}
