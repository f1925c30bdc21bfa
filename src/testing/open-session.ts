import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type {
	AgentSessionRuntime,
	ExtensionContext,
	ExtensionError,
	ExtensionUIContext,
	InlineExtension,
	SessionManager,
} from "@earendil-works/pi-coding-agent";
import type { Config } from "../plugin.ts";
import { putConfig } from "./config-file.ts";
import { enterEnvironment } from "./environment.ts";
import { packageRoot } from "./package-root.ts";
import { loadPi, newestPi, type PiModules, type PiVersion } from "./pi-versions.ts";
import { nothingShown, recordingUi, type Shown } from "./recording-ui.ts";
import { createScriptedModel, type ModelSpec, SCRIPTED_PROVIDER } from "./scripted-model.ts";
import type { SessionLog } from "./session-log.ts";
import { type ToolRun, type ToolSpec, toolsExtension } from "./session-tools.ts";
import { type Folders, type TestSession, testSession } from "./test-session.ts";

const ownExtension = join(packageRoot, "src/index.ts");

export interface OpenSessionOptions {
	/** The newest installed unless given. */
	pi?: PiVersion;
	/** Working directory; a temporary one, removed on dispose, unless given. */
	cwd?: string;
	/** Pi's config folder, also `PI_CODING_AGENT_DIR` while the session is open; a temporary one unless given. */
	agentDir?: string;
	/** A session file to resume, in place. */
	sessionFile?: string;
	/** A session to resume, written to a file in `agentDir` first. */
	log?: SessionLog;
	/** `false` keeps the session in memory only. */
	persist?: boolean;
	/** Files or packages that Pi loads through its own loader, in this order; mulligan's own unless given. */
	extensionPaths?: readonly string[];
	/** Extensions given as functions; they come after `extensionPaths`. */
	extensions?: readonly InlineExtension[];
	/** Written to `settings.json` in `agentDir`, where Pi and extensions read it. Retry is off unless it says otherwise. */
	settings?: Record<string, unknown>;
	/** What a `mulligan.config.ts` in `agentDir` would export: plugins as objects, options, replacements. */
	config?: Config;
	/** Models of the provider `scripted`; the first is selected. One `model-a` unless given. */
	models?: readonly ModelSpec[];
	/** Tools by name, beside Pi's own or in place of them. */
	tools?: Readonly<Record<string, ToolRun | ToolSpec>>;
	/** Only these tools are active, Pi's and extensions' ones alike. */
	activeTools?: readonly string[];
	/** What extensions see as `ctx.mode`; `rpc` unless given. In `print` and `json` they have no user interface. */
	mode?: ExtensionContext["mode"];
	/** Parts of the user interface to replace, such as answers to dialogs. */
	uiContext?: Partial<ExtensionUIContext>;
}

/** Opens a real Pi session in this process whose model answers from a script. */
export async function openSession(options: OpenSessionOptions = {}): Promise<TestSession> {
	const folders = claimFolders(options);
	return start(options, folders).catch((error: unknown) => {
		folders.remove();
		throw error;
	});
}

function claimFolders(options: OpenSessionOptions): Folders {
	const made: string[] = [];
	const make = (name: string) => {
		const folder = mkdtempSync(join(tmpdir(), `mulligan-${name}-`));
		made.push(folder);
		return folder;
	};
	return {
		cwd: options.cwd ?? make("cwd"),
		agentDir: options.agentDir ?? make("agent"),
		remove: () => {
			for (const folder of made) rmSync(folder, { recursive: true, force: true });
		},
	};
}

async function start(options: OpenSessionOptions, folders: Folders): Promise<TestSession> {
	const { agentDir } = folders;
	const pi = options.pi ?? newestPi();
	const modules = await loadPi(pi);
	const restoreEnvironment = enterEnvironment({
		PI_CODING_AGENT_DIR: agentDir,
		PI_OFFLINE: "1",
		PI_TELEMETRY: "0",
		PI_SKIP_VERSION_CHECK: "1",
	});
	let takeConfigAway = () => {};
	const leave = () => {
		takeConfigAway();
		restoreEnvironment();
	};
	try {
		if (options.config) takeConfigAway = putConfig(agentDir, options.config);
		writeSettings(agentDir, options.settings ?? {});
		const model = createScriptedModel({
			createStream: modules.createStream,
			models: options.models ?? [{ id: "model-a" }],
		});
		const errors: ExtensionError[] = [];
		const shown = nothingShown();
		const runtime = await startRuntime({ modules, options, folders, provider: model.provider, errors, shown });
		const { log: _log, ...same } = options;
		return testSession({
			pi,
			folders,
			runtime,
			model,
			errors,
			ui: shown,
			leave,
			resume: (sessionFile, changes) => start({ ...same, ...changes, sessionFile }, folders),
		});
	} catch (error) {
		leave();
		throw error;
	}
}

function writeSettings(agentDir: string, settings: Record<string, unknown>): void {
	const file = join(agentDir, "settings.json");
	const before = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {};
	mkdirSync(agentDir, { recursive: true });
	writeFileSync(file, `${JSON.stringify({ retry: { enabled: false }, ...before, ...settings }, null, "\t")}\n`);
}

interface RuntimeParts {
	modules: PiModules;
	options: OpenSessionOptions;
	folders: Folders;
	provider: ReturnType<typeof createScriptedModel>["provider"];
	errors: ExtensionError[];
	shown: Shown;
}

async function startRuntime(parts: RuntimeParts): Promise<AgentSessionRuntime> {
	const { agent, clearExtensionCache, theme } = parts.modules;
	const { options, folders, provider } = parts;
	theme.initTheme("dark");
	clearExtensionCache();
	const runtime = await agent.createAgentSessionRuntime(
		async ({ cwd, agentDir, sessionManager, sessionStartEvent }) => {
			const modelRuntime = await agent.ModelRuntime.create({
				authPath: join(agentDir, "auth.json"),
				modelsPath: null,
				allowModelNetwork: false,
			});
			modelRuntime.registerProvider(SCRIPTED_PROVIDER, provider);
			const services = await agent.createAgentSessionServices({
				cwd,
				agentDir,
				modelRuntime,
				resourceLoaderOptions: {
					noExtensions: true,
					noSkills: true,
					noPromptTemplates: true,
					noThemes: true,
					noContextFiles: true,
					additionalExtensionPaths: [...(options.extensionPaths ?? [ownExtension])],
					extensionFactories: [toolsExtension(options.tools ?? {}), ...(options.extensions ?? [])],
				},
			});
			const failed = [
				...services.resourceLoader.getExtensions().errors,
				...services.diagnostics.filter(({ type }) => type === "error"),
			];
			if (failed.length > 0) throw new Error(`Pi couldn't load an extension: ${JSON.stringify(failed)}`);
			const created = await agent.createAgentSessionFromServices({
				services,
				sessionManager,
				model: selectedModel(modelRuntime, sessionManager, provider),
				...(options.activeTools ? { tools: [...options.activeTools] } : {}),
				...(sessionStartEvent ? { sessionStartEvent } : {}),
			});
			return { ...created, services, diagnostics: services.diagnostics };
		},
		{
			cwd: folders.cwd,
			agentDir: folders.agentDir,
			sessionManager: openManager(agent.SessionManager, options, folders),
		},
	);
	runtime.setRebindSession(() => bind(runtime, parts));
	await bind(runtime, parts);
	return runtime;
}

type Runtime = Awaited<ReturnType<PiModules["agent"]["ModelRuntime"]["create"]>>;

/** The model that the session last used if the script plays it, the first one otherwise: never a real one that a key in the environment would offer. */
function selectedModel(runtime: Runtime, sessionManager: SessionManager, provider: RuntimeParts["provider"]) {
	const used = sessionManager.buildSessionContext().model;
	const resumed = used?.provider === SCRIPTED_PROVIDER ? runtime.getModel(SCRIPTED_PROVIDER, used.modelId) : undefined;
	const model = resumed ?? runtime.getModel(SCRIPTED_PROVIDER, provider.models?.[0]?.id ?? "");
	if (!model) throw new Error("openSession needs at least one model.");
	return model;
}

function openManager(
	manager: PiModules["agent"]["SessionManager"],
	options: OpenSessionOptions,
	{ cwd, agentDir }: Folders,
): SessionManager {
	const sessionDir = join(agentDir, "sessions");
	if (options.log) return manager.open(options.log.write(join(sessionDir, "resumed.jsonl")), sessionDir, cwd);
	if (options.sessionFile) return manager.open(options.sessionFile, dirname(options.sessionFile), cwd);
	return options.persist === false ? manager.inMemory(cwd) : manager.create(cwd, sessionDir);
}

async function bind(runtime: AgentSessionRuntime, { modules, options, errors, shown }: RuntimeParts): Promise<void> {
	const { session } = runtime;
	const mode = options.mode ?? "rpc";
	const hasUi = mode === "rpc" || mode === "tui";
	await session.bindExtensions({
		mode,
		...(hasUi ? { uiContext: recordingUi(shown, modules.theme.theme, options.uiContext ?? {}) } : {}),
		onError: (error) => void errors.push(error),
		commandContextActions: {
			waitForIdle: () => session.waitForIdle(),
			newSession: (newOptions) => runtime.newSession(newOptions),
			fork: (entryId, forkOptions) => runtime.fork(entryId, forkOptions),
			navigateTree: (targetId, treeOptions) => session.navigateTree(targetId, treeOptions),
			switchSession: (path, switchOptions) => runtime.switchSession(path, switchOptions),
			reload: () => session.reload(),
		},
	});
}
