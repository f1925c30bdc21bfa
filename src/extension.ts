import { readFileSync } from "node:fs";
import { type ExtensionAPI, type ExtensionContext, getAgentDir, VERSION } from "@earendil-works/pi-coding-agent";
import { type LoadedSettings, loadSettings } from "./config/load.ts";
import { Enabled, KernelSections, type Sections } from "./config/schema.ts";
import { DEFAULT_PLUGINS } from "./default-set.ts";
import { highestSeq } from "./kernel/journal.ts";
import { createKernel, type Kernel, REFUSED } from "./kernel/kernel.ts";
import type { Plugin } from "./kernel/plugin.ts";
import { type Installation, type PanelSession, registerPanel } from "./panel/index.ts";
import { Alignment } from "./pi/align.ts";
import { type Attached, attach, LiveSurroundings, sourceOf } from "./pi/attach.ts";
import { hostOf, tellHuman } from "./pi/host.ts";
import { statusText } from "./pi/status.ts";
import { registerTool } from "./pi/tools.ts";
import { Witness } from "./pi/witness.ts";

const OLDEST = [0, 84] as const;

/** The extension with the default set. */
export default function mulligan(pi: ExtensionAPI): void {
	mulliganWith(DEFAULT_PLUGINS, pi);
}

/** The extension with a set of plugins of one's own: one session start, then config → kernel → events. */
export function mulliganWith(plugins: readonly Plugin[], pi: ExtensionAPI): void {
	if (isTooOld(VERSION)) {
		process.stderr.write(
			`Mulligan needs Pi ${OLDEST.join(".")}.0 or newer; this is ${VERSION}. Nothing is registered.\n`,
		);
		return;
	}
	let attached: Attached | undefined;
	let panel: PanelSession | undefined;
	const witness = new Witness();
	let context: ExtensionContext;
	let log: (line: string) => void = () => {};
	const enter = (latest: ExtensionContext) => {
		context = latest;
	};
	const surroundings = new LiveSurroundings(pi, () => context);
	attach(pi, { current: () => attached, enter, surroundings, log: (line) => log(line) });
	registerPanel(pi, {
		installation: () => installationOf(plugins),
		session: () => panel,
		enter(latest) {
			enter(latest);
			panel?.kernel.enter(sourceOf(latest), surroundings);
		},
		refresh: (latest) => latest.ui.setStatus("mulligan", attached && statusText(attached.kernel)),
	});
	pi.on("session_start", async ({ reason }, startContext) => {
		enter(startContext);
		attached = undefined;
		const { settings, warnings } = settingsOf(plugins, startContext);
		const host = hostOf({ pi, context: () => context, logFile: settings.log.file });
		log = host.log;
		const kernel = await createKernel({
			plugins: settings.enabled ? plugins.map((plugin) => ({ plugin, options: settings[plugin.name] })) : [],
			settings,
			host,
			rules: settings.rewrites,
			lastSeq: highestSeq(startContext.sessionManager.getEntries()),
		});
		panel = {
			config: { settings, warnings, sources: [], origins: new Map() },
			listed: plugins.map(({ name }) => name),
			...{ kernel, witness, gate: undefined, agentDir: getAgentDir(), projectRoot: startContext.cwd },
		};
		if (!settings.enabled) return registerStub(plugins, pi);
		const enterKernel = (latest: ExtensionContext) => {
			enter(latest);
			kernel.enter(sourceOf(latest), surroundings);
		};
		for (const { declaration, run, render } of kernel.tools) {
			const runInContext = (call: Parameters<typeof run>[0], callContext: ExtensionContext) => {
				enterKernel(callContext);
				return run(call);
			};
			registerTool(pi, declaration, runInContext, render);
		}
		for (const { name, definition } of kernel.commands)
			pi.registerCommand(name, {
				description: definition.description,
				getArgumentCompletions: (prefix) =>
					definition.complete?.(prefix).map((value) => ({ value, label: value })) ?? null,
				handler: async (args, commandContext) => {
					enterKernel(commandContext);
					await definition.run(args);
				},
			});
		enterKernel(startContext);
		attached = { kernel, alignment: new Alignment(), riding: { ops: [] }, witness };
		if (reason !== "reload" && isLate(kernel)) kernel.moments.rideNow("resume");
		await kernel.hooks.onSession.promise({ reason });
	});
}

/** Reads the config; each wrong value is one warning and falls back to its default. */
function settingsOf(plugins: readonly Plugin[], context: ExtensionContext): LoadedSettings {
	const loaded = loadSettings({
		agentDir: getAgentDir(),
		cwd: context.cwd,
		isProjectTrusted: context.isProjectTrusted(),
		env: process.env,
		pluginSections: sectionsOf(plugins),
	});
	for (const { text } of loaded.warnings) tellHuman(context, `Mulligan: ${text}`, "warning");
	return loaded;
}

function sectionsOf(plugins: readonly Plugin[]): Sections {
	const sections = plugins.flatMap(({ name, options }) => (options ? [[name, options] as const] : []));
	return Object.fromEntries(sections) as Sections;
}

/** What the panel says of this installation. This file lies one folder below package.json, as source and bundled. */
function installationOf(plugins: readonly Plugin[]): Installation {
	const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
	const names = plugins.map(({ name }) => name);
	return {
		...{ version, piVersion: VERSION, builtIns: names, defaults: names },
		loadedFrom: import.meta.url.endsWith("/dist/extension.js") ? "bundle" : "source",
		schemas: { top: { enabled: Enabled }, sections: { ...sectionsOf(plugins), ...KernelSections } },
	};
}

/** What stands in for every plugin while mulligan is disabled: the declarations, and one refusal. */
function registerStub(plugins: readonly Plugin[], pi: ExtensionAPI): void {
	const refusal = { text: `${REFUSED}Mulligan is disabled.`, details: { refused: "disabled" } };
	for (const { tools, commands } of plugins) {
		for (const declaration of tools ?? []) registerTool(pi, declaration, () => refusal);
		for (const [name, description] of Object.entries(commands ?? {}))
			pi.registerCommand(name, {
				description,
				handler: async (_args, context) => tellHuman(context, refusal.text, "warning"),
			});
	}
}

/** After this pause a provider has let go of its prompt cache. */
const CACHE_MINUTES = 5;

/** Whether the session's newest message is so old that its prompt cache has expired. */
function isLate({ branch }: Kernel): boolean {
	const newest = branch.context().at(-1)?.message.timestamp;
	return newest !== undefined && Date.now() - newest > CACHE_MINUTES * 60_000;
}

function isTooOld(version: string): boolean {
	const [major = 0, minor = 0] = version.split(".").map(Number);
	return major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1]);
}
