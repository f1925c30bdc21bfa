import { accessSync, constants, existsSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import type { ExtensionAPI, ExtensionCommandContext } from "@earendil-works/pi-coding-agent";
import type { TObject } from "typebox";
import { KernelSections, TopKnobs } from "../config/schema.ts";
import { messageOfError } from "../kernel/isolate.ts";
import type { Plugin } from "../kernel/plugin.ts";
import { hasProjection } from "../pi/attach.ts";
import { otherExtensions } from "../pi/extensions.ts";
import { tellHuman } from "../pi/host.ts";
import { reloadAndTell } from "../pi/reload.ts";
import { MULLIGAN_VERSION } from "../version.ts";
import { AUDIT_COMMAND } from "./audit.ts";
import { type Completion, completions } from "./complete.ts";
import type { DoctorFacts } from "./doctor.ts";
import type { PanelOptions, PanelSession } from "./index.ts";
import { type Effects, run } from "./run.ts";
import { pluginStates, runState } from "./snapshot.ts";
import type { HostState, PanelState, Schemas } from "./state.ts";

interface Opened extends PanelOptions {
	readonly pi: ExtensionAPI;
	readonly context: ExtensionCommandContext;
	readonly current: PanelSession;
}

/** Columns where there is no terminal. */
const USUAL_WIDTH = 80;

/** Runs what was typed after `/mulligan`, on the session that runs. */
export function openPanel(args: string, opened: Opened): Promise<void> {
	const { context, current, pi, refresh } = opened;
	const { kernel, config } = current;
	const audit = kernel.commands.find(({ name }) => name === AUDIT_COMMAND);
	return run(args, {
		state: { ...known(current, opened), ...shown(opened) },
		width: widthOf(context),
		tell: ({ text, level }) => tellHuman(context, text, level),
		select: context.mode === "tui" ? (title, options) => context.ui.select(title, [...options]) : undefined,
		takeBack(ops) {
			const ids = new Set(ops.map(({ id }) => id));
			const takenBack = kernel.takeBack(
				kernel.standing().filter(({ id }) => ids.has(id)),
				"taken back by the user",
			);
			refresh(context);
			return takenBack;
		},
		audit: audit && (async (typed) => audit.definition.run(typed)),
		approve: () => config.gate.approve(),
		diagnose: () => diagnosis(pi, opened),
		canReload: context.isIdle(),
		reload: ({ reloaded, refused }) =>
			reloadAndTell(context, { reloaded: reloaded.text, refused: refused.text }, reloaded.level),
	} satisfies Effects);
}

/** Completions of what was typed after `/mulligan `. */
export function complete(
	typed: string,
	current: PanelSession,
	{ installation }: Pick<PanelOptions, "installation">,
): Completion[] {
	return [...completions(typed, known(current, { installation }))];
}

/** The part of the state that needs no context of Pi's. */
function known(
	{ kernel, config }: PanelSession,
	{ installation: { builtIns } }: Pick<PanelOptions, "installation">,
): Pick<PanelState, "plugins" | "schemas" | "run" | "config"> {
	const plugins = config.plugins.map(({ plugin }) => plugin);
	const listed = plugins.map(({ name }) => name);
	return {
		config,
		schemas: schemasOf([...builtIns, ...plugins]),
		plugins: pluginStates({ listed, running: kernel.plugins, builtIns: builtIns.map(({ name }) => name) }),
		run: runState(kernel),
	};
}

/** The schemas of all knobs; of a plugin in the place of another it is its own that counts. */
function schemasOf(plugins: readonly Plugin[]): Schemas {
	const sections = new Map(plugins.map(({ name, options }) => [name, options as TObject | undefined]));
	const named = [...sections].flatMap(([name, schema]) => (schema ? [[name, schema] as const] : []));
	return { top: TopKnobs, sections: { ...Object.fromEntries(named), ...KernelSections } };
}

function shown({ context, current, installation }: Opened): Pick<PanelState, "defaults" | "pending" | "host"> {
	const { agentDir, projectRoot, gate } = current.config;
	const { loadedFrom, piVersion, builtIns } = installation;
	const { model } = context;
	const host: HostState = {
		...{ home: homedir(), cwd: context.cwd, agentDir, projectRoot },
		...{ version: MULLIGAN_VERSION, loadedFrom, piVersion, regime: regimeOf(context, piVersion) },
		...{ nodeVersion: process.versions.node, platform: `${process.platform} ${process.arch}` },
		...{ mode: context.mode, isProjectTrusted: context.isProjectTrusted() },
		model: model && `${model.provider}/${model.id}`,
	};
	return { defaults: builtIns.map(({ name }) => name), pending: gate.pending, host };
}

/** How requests reach us on this Pi. */
function regimeOf(context: ExtensionCommandContext, piVersion: string): string {
	if (hasProjection(context)) return "requests by context_with_system, built from Pi's projection of the session";
	const [major = 0, minor = 0] = piVersion.split(".").map(Number);
	return major > 0 || minor >= 86 ? "requests by context, system messages among them" : "requests by context";
}

/** Columns for text: a terminal leaves one blank on each side. */
function widthOf({ mode }: ExtensionCommandContext): number {
	if (mode === "tui") return (process.stdout.columns ?? USUAL_WIDTH) - 2;
	return process.stderr.columns ?? USUAL_WIDTH;
}

function diagnosis(pi: ExtensionAPI, { context, current: { config, witness } }: Opened): DoctorFacts {
	const ofProject = context.isProjectTrusted() ? [join(context.cwd, ".pi")] : [];
	const branch = context.sessionManager.getBranch() as readonly {
		readonly type: string;
		readonly customType?: string;
	}[];
	const { seen } = witness;
	witness.watch();
	return {
		extensions: otherExtensions(pi, { folders: [config.agentDir, ...ofProject], args: process.argv, cwd: context.cwd }),
		request: seen,
		contextEdits: hasProjection(context) ? branch.filter(({ type }) => type === "context_edit").length : undefined,
		log: logState(config.settings.log.file),
		entries: countsOf(branch),
	};
}

/** Entries by type; those of ours by their own type, since what others call theirs is not ours to tell. */
function countsOf(branch: readonly { readonly type: string; readonly customType?: string }[]): Record<string, number> {
	const counts: Record<string, number> = {};
	for (const { type, customType } of branch) {
		const name = customType?.startsWith("mulligan:") ? customType : type;
		counts[name] = (counts[name] ?? 0) + 1;
	}
	return counts;
}

function logState(file: string | null): DoctorFacts["log"] {
	if (file === null) return { file };
	try {
		accessSync(existsSync(file) ? file : dirname(file), constants.W_OK);
		return { file };
	} catch (error) {
		return { file, problem: (error as NodeJS.ErrnoException).code ?? messageOfError(error) };
	}
}
