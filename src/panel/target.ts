import { basename, dirname, extname, join } from "node:path";
import type { SourceReport as Source } from "../config/sources/book.ts";
import { isCodeFile } from "../config/sources/places.ts";
import type { Where } from "./command.ts";
import { shownPath } from "./paths.ts";
import type { PanelState } from "./state.ts";

/** The file that a change is written to, and where in it the config stands. */
export interface Target {
	readonly file: string;
	readonly scope: "user" | "project";
	/** `rc`: JSON or YAML, as what stands in it shows. */
	readonly format: "json" | "yaml" | "rc";
	/** The way to the config's block. */
	readonly at: readonly string[];
}

/** The name of a config that the panel makes. */
const NEW = "mulligan.config.json";

/**
 * The file for a change: the project's config where it is data, else the user's, or the one that is asked for. Never
 * Pi's own settings, which Pi writes, nor code; then it says why not.
 */
export function targetFor(state: PanelState, where: Where): Target | { readonly why: string } {
	const ofProject = configOf(state, "project");
	if (where === "project") return projectTarget(state, ofProject);
	if (where === undefined && ofProject?.state === "read" && !isCodeFile(ofProject.file)) return target(ofProject);
	const ofUser = configOf(state, "user");
	if (!ofUser) return target({ file: join(state.host.agentDir, NEW), scope: "user" });
	return isCodeFile(ofUser.file) ? isCodeItself(state, ofUser) : target(ofUser);
}

/** The target of a file that is data and may be written; undefined for Pi's settings, code and the environment. */
export function targetIn({ config }: PanelState, file: string): Target | undefined {
	const source = config.sources.find((each) => each.file === file);
	if (!source || source.scope === "environment" || isPiSettings(source) || isCodeFile(file)) return undefined;
	return target(source as Located);
}

/** The source that keeps a change in a target from counting, because it says the same and counts more. */
export function overriding({ config }: PanelState, origin: string | undefined, { file, scope }: Target) {
	const { sources } = config;
	if (origin === undefined || origin === file) return undefined;
	const rank = (of: string) => sources.findIndex((source) => source.file === of);
	const own = rank(file);
	const below = sources.findLastIndex((source) => source.scope === scope || source.scope === "user");
	const originRank = rank(origin);
	if (originRank === -1) return isVariable(origin) ? origin : undefined;
	return originRank > (own === -1 ? below : own) ? origin : undefined;
}

/** Whether an origin is a variable of the environment and no file. */
export function isVariable(origin: string): boolean {
	return /^MULLIGAN_[A-Z_]+$/.test(origin);
}

type Located = Pick<Source, "file"> & { readonly scope: Target["scope"] };

function target({ file, scope }: Located): Target {
	const isManifest = basename(file) === "package.json";
	const extension = extname(file);
	const format = extension === ".json" ? "json" : /^\.ya?ml$/.test(extension) ? "yaml" : "rc";
	return { file, scope, format, at: isManifest ? ["mulligan"] : [] };
}

function projectTarget(state: PanelState, config: (Source & Located) | undefined): Target | { readonly why: string } {
	const { isProjectTrusted, projectRoot } = state.host;
	if (!isProjectTrusted)
		return { why: "Pi does not trust this project, so its config is not read. Trust it first: /trust." };
	if (projectRoot === undefined) return { why: "there is no project here: the home folder has none." };
	if (!config) return target({ file: join(projectRoot, NEW), scope: "project" });
	return isCodeFile(config.file) ? isCodeItself(state, config) : target(config);
}

function isCodeItself({ host }: PanelState, { file }: Located): { readonly why: string } {
	return { why: `${shownPath(file, host)} is code, which only its author can change. Set it there, then /reload.` };
}

/** The config of a scope that counts, beside Pi's own settings. */
function configOf({ config }: PanelState, scope: Target["scope"]): (Source & Located) | undefined {
	const isIts = (source: Source): source is Source & Located =>
		source.scope === scope && !isPiSettings(source) && !["absent", "shadowed", "untrusted"].includes(source.state);
	return config.sources.filter(isIts).at(-1);
}

/** Pi's own settings, of the agent folder or a project: Pi writes them, so nobody else does. */
function isPiSettings({ file }: Pick<Source, "file">): boolean {
	return basename(file) === "settings.json";
}

/** The folder that relative paths in a file start from. */
export function folderOf(file: string): string {
	return dirname(file);
}
