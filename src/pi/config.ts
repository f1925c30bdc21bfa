import { homedir } from "node:os";
import { type ExtensionAPI, type ExtensionContext, getAgentDir } from "@earendil-works/pi-coding-agent";
import { type LoadedConfig, loadConfig } from "../config/load.ts";
import { printableLines } from "../config/printable.ts";
import { projectFolders, projectRoot } from "../config/sources/places.ts";
import type { Gate } from "../config/trust/gate.ts";
import type { Plugin } from "../kernel/plugin.ts";
import { hasProjection } from "./attach.ts";
import { guardOf } from "./gate.ts";
import { tellHuman } from "./host.ts";

/** The config of a session, with what it was read by. */
export interface SessionConfig extends LoadedConfig {
	/** What the project's code came through. */
	readonly gate: Gate;
	/** Pi's folder for the user's own files. */
	readonly agentDir: string;
	/** The folder whose files are the project's; undefined where there is no project. */
	readonly projectRoot: string | undefined;
}

/** Reads the config anew, and tells the human what is wrong with it and what no longer has an effect. */
export async function configOf(
	pi: ExtensionAPI,
	builtIns: readonly Plugin[],
	context: ExtensionContext,
): Promise<SessionConfig> {
	const { cwd } = context;
	const agentDir = getAgentDir();
	const { gate, isProjectApproved } = guardOf(pi, context, {
		projectRoot: projectRoot(cwd, homedir()),
		agentDir,
		warn: ({ text }) => warn(context, text),
	});
	const config = await loadConfig({
		agentDir,
		cwd,
		isProjectTrusted: context.isProjectTrusted(),
		isProjectApproved,
		env: process.env,
		builtIns,
		gate,
	});
	const stranded = config.leftOut.length === 0 ? undefined : await strandedIn(context, config);
	tellAll(context, [...config.warnings.map(({ text }) => text), ...(stranded === undefined ? [] : [stranded])]);
	return { ...config, gate, agentDir, projectRoot: projectFolders(cwd, homedir()).at(-1) };
}

async function strandedIn(context: ExtensionContext, { leftOut }: LoadedConfig): Promise<string | undefined> {
	const { strandedText } = await import("../stranded.ts");
	return strandedText(context.sessionManager.getBranch(), leftOut, { appliesEdits: hasProjection(context) });
}

/** More warnings than this are one, which counts the rest. */
const MOST_WARNINGS = 30;

function tellAll(context: ExtensionContext, warnings: readonly string[]): void {
	for (const text of warnings.slice(0, MOST_WARNINGS)) warn(context, text);
	const rest = warnings.length - MOST_WARNINGS;
	if (rest > 0) warn(context, `the config has ${rest} more warnings.`);
}

function warn(context: ExtensionContext, text: string): void {
	tellHuman(context, `Mulligan: ${printableLines(text)}`, "warning");
}
