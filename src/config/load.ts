import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { type ParseError, parse, printParseErrorCode } from "jsonc-parser";
import { checkBlock, defaultsOf, type Warning } from "./check.ts";
import { KernelSections, type Sections, type Settings } from "./schema.ts";

export interface LoadedSettings {
	readonly settings: Settings;
	readonly warnings: readonly Warning[];
}

interface Source {
	readonly file: string;
	readonly block: unknown;
}

/**
 * The settings of a session: the defaults, then the `mulligan` block of Pi's global settings.json, then that of the
 * project's `.pi/settings.json` where the project is trusted, then the environment. Never throws; reads only.
 */
export function loadSettings({
	agentDir,
	cwd,
	isProjectTrusted,
	env,
	pluginSections,
}: {
	readonly agentDir: string;
	readonly cwd: string;
	readonly isProjectTrusted: boolean;
	readonly env: Readonly<Record<string, string | undefined>>;
	readonly pluginSections: Sections;
}): LoadedSettings {
	const sections = { ...KernelSections, ...pluginSections };
	const settings: Record<string, unknown> = { enabled: true };
	for (const [name, schema] of Object.entries(sections)) settings[name] = defaultsOf(schema);
	const warnings: Warning[] = [];
	const files = [join(agentDir, "settings.json"), ...(isProjectTrusted ? [join(cwd, ".pi", "settings.json")] : [])];
	for (const file of files) {
		const read = readSettings(file);
		if ("text" in read) warnings.push(read);
		else if (read.block !== undefined) warnings.push(...merge(settings, read, sections));
	}
	if (env.MULLIGAN_DISABLED === "1") settings.enabled = false;
	if (env.MULLIGAN_LOG) settings.log = { file: resolve(cwd, env.MULLIGAN_LOG) };
	return { settings: deepFreeze(settings) as unknown as Settings, warnings };
}

function merge(settings: Record<string, unknown>, { file, block }: Source, sections: Sections): readonly Warning[] {
	const { values, warnings } = checkBlock(block, sections, file);
	for (const [key, value] of Object.entries(values)) {
		if (key === "enabled") settings.enabled = value;
		else settings[key] = merged(settings[key], withAbsolutePaths(key, value as object, file));
	}
	return warnings;
}

/** Objects key by key, at any depth; any other value is replaced as a whole. */
function merged(base: unknown, over: unknown): unknown {
	if (!isPlainObject(base) || !isPlainObject(over)) return over;
	const result: Record<string, unknown> = { ...base };
	for (const [key, value] of Object.entries(over)) result[key] = merged(result[key], value);
	return result;
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A path in a config is relative to the file that says it. */
function withAbsolutePaths(section: string, values: object, file: string): object {
	const log = values as { readonly file?: unknown };
	return section === "log" && typeof log.file === "string" ? { file: resolve(dirname(file), log.file) } : values;
}

/** The `mulligan` block of a settings file; without the file or the block it is undefined. */
function readSettings(file: string): Source | Warning {
	let text: string;
	try {
		text = readFileSync(file, "utf8").replace(/^\uFEFF/, "");
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === "ENOENT") return { file, block: undefined };
		return unreadable(file, (error as Error).message);
	}
	const errors: ParseError[] = [];
	const parsed: unknown = parse(text, errors, { disallowComments: true });
	const [first] = errors;
	if (first) return unreadable(file, `${printParseErrorCode(first.error)} at ${placeOf(text, first.offset)}`);
	return { file, block: (parsed as { readonly mulligan?: unknown } | null | undefined)?.mulligan };
}

function unreadable(file: string, why: string): Warning {
	return { key: "mulligan", text: `${file} cannot be read, so its mulligan block is ignored: ${why}` };
}

/** An offset into a text as its reader counts: line and column from 1. */
function placeOf(text: string, offset: number): string {
	const before = text.slice(0, offset).split("\n");
	return `line ${before.length} column ${(before.at(-1) ?? "").length + 1}`;
}

function deepFreeze<T>(value: T): T {
	if (typeof value === "object" && value !== null) for (const part of Object.values(value)) deepFreeze(part);
	return Object.freeze(value);
}
