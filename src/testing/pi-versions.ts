import { existsSync, readdirSync, readFileSync } from "node:fs";
import { findPackageJSON } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { StreamSimple } from "./messages.ts";

const PI = "@earendil-works/pi-coding-agent";
const repository = fileURLToPath(new URL("../../", import.meta.url));

/** An installed Pi. */
export interface PiVersion {
	/** `oldest`, `newest`, or the version itself. */
	name: string;
	version: string;
	/** Folder of its package. */
	root: string;
}

/** Every Pi the tests can run, oldest first. Those in `.pi-versions/` are there only after its install script ran. */
export function piVersions(): PiVersion[] {
	const aliases = ["oldest", "newest"].flatMap((name) => piAt(name, join(repository, "node_modules", `pi-${name}`)));
	const installed = installedVersions().flatMap((version) =>
		piAt(version, join(repository, ".pi-versions", version, "node_modules", PI)),
	);
	const found = [...aliases, ...installed].sort(byVersion);
	return found.length > 0 ? found : hostPi();
}

/** The last of `piVersions()`. */
export function newestPi(): PiVersion {
	const newest = piVersions().at(-1);
	if (!newest) throw new Error(`No Pi is installed: expected pi-oldest and pi-newest, or ${PI}, in node_modules.`);
	return newest;
}

function installedVersions(): string[] {
	const folder = join(repository, ".pi-versions");
	return existsSync(folder) ? readdirSync(folder) : [];
}

function hostPi(): PiVersion[] {
	const manifest = findPackageJSON(PI, import.meta.url);
	return manifest ? piAt("installed", dirname(manifest)) : [];
}

function piAt(name: string, root: string): PiVersion[] {
	const manifest = join(root, "package.json");
	if (!existsSync(manifest)) return [];
	const { version } = JSON.parse(readFileSync(manifest, "utf8")) as { version: string };
	return [{ name, version, root }];
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
