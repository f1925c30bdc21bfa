import { homedir } from "node:os";
import { type ExtensionAPI, type ExtensionContext, getAgentDir } from "@earendil-works/pi-coding-agent";
import { type LoadedConfig, loadConfig } from "../config/load.ts";
import { projectRoot } from "../config/sources/places.ts";
import type { Plugin } from "../kernel/plugin.ts";
import { gateOf, isApproved } from "./gate.ts";
import { tellHuman } from "./host.ts";

/** Reads the config anew, and tells the human what is wrong with it and what no longer has an effect. */
export async function configOf(
	pi: ExtensionAPI,
	builtIns: readonly Plugin[],
	context: ExtensionContext,
): Promise<LoadedConfig> {
	const { cwd } = context;
	const agentDir = getAgentDir();
	const config = await loadConfig({
		agentDir,
		cwd,
		isProjectTrusted: context.isProjectTrusted(),
		isProjectApproved: () => isApproved(pi, cwd),
		env: process.env,
		builtIns,
		gate: gateOf(pi, context, { projectRoot: projectRoot(cwd, homedir()), agentDir }),
	});
	const stranded = config.leftOut.length === 0 ? undefined : await strandedIn(context, config);
	tellAll(context, [...config.warnings.map(({ text }) => text), ...(stranded === undefined ? [] : [stranded])]);
	return config;
}

async function strandedIn(
	{ sessionManager }: ExtensionContext,
	{ leftOut }: LoadedConfig,
): Promise<string | undefined> {
	const { strandedText } = await import("../stranded.ts");
	return strandedText(sessionManager.getBranch(), leftOut);
}

/** More warnings than this are one, which counts the rest. */
const MOST_WARNINGS = 30;

function tellAll(context: ExtensionContext, warnings: readonly string[]): void {
	for (const text of warnings.slice(0, MOST_WARNINGS)) tellHuman(context, `Mulligan: ${text}`, "warning");
	const rest = warnings.length - MOST_WARNINGS;
	if (rest > 0) tellHuman(context, `Mulligan: the config has ${rest} more warnings.`, "warning");
}
