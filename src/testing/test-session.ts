import { existsSync, readFileSync } from "node:fs";
import type {
	AgentSession,
	AgentSessionRuntime,
	ExtensionError,
	FileEntry,
	PromptOptions,
	SessionEntry,
	SessionManager,
} from "@earendil-works/pi-coding-agent";
import type { Usage } from "./messages.ts";
import type { OpenSessionOptions } from "./open-session.ts";
import type { PiVersion } from "./pi-versions.ts";
import type { Shown } from "./recording-ui.ts";
import { type createScriptedModel, type ModelRequest, SCRIPTED_PROVIDER, type Step } from "./scripted-model.ts";

/** What may differ when a session is opened again. */
export type ReopenChanges = Pick<
	OpenSessionOptions,
	"pi" | "extensionPaths" | "extensions" | "settings" | "config" | "models" | "tools"
>;

export interface TestSession extends AsyncDisposable {
	readonly pi: PiVersion;
	readonly cwd: string;
	readonly agentDir: string;
	/** Pi's session; another object after `fork` and `newSession`. */
	readonly session: AgentSession;
	readonly sessionManager: SessionManager;
	/** Undefined for a session in memory. The file appears with the first message. */
	readonly sessionFile: string | undefined;
	/** Every request that the model got, in order. */
	readonly requests: ModelRequest[];
	/** The last of `requests`; throws if there is none. */
	readonly lastRequest: ModelRequest;
	/** The usage of each answer, in order. */
	readonly usage: Usage[];
	/** What extensions threw, as Pi reports it. */
	readonly errors: ExtensionError[];
	/** What extensions showed to the human. */
	readonly ui: Shown;
	/** Queues answers of the model, one for each request. */
	script(...steps: Step[]): void;
	/** Answers every request for which no step is queued. */
	otherwise(step: Step): void;
	/** Sends a message or runs a `/command`, and waits until the run is over. Rejects if the script had no answer. */
	prompt(text: string, options?: PromptOptions): Promise<void>;
	/** Queues a message into the running turn. */
	steer(text: string): Promise<void>;
	/** Queues a message for when the run would end. */
	followUp(text: string): Promise<void>;
	/** Stops the run and waits until it has ended. */
	abort(): Promise<void>;
	/** Waits until no run is active. */
	idle(): Promise<void>;
	/** Runs a command as the human does with `!`, or with `!!` when `hidden`. */
	bash(command: string, options?: { hidden?: boolean }): Promise<void>;
	/** Compacts; the summary takes one step of the script. */
	compact(instructions?: string): Promise<void>;
	/** Moves to another entry of the tree, as `/tree` does; a summary takes one step of the script. */
	navigateTree(entryId: string, options?: { summarize?: boolean }): Promise<void>;
	/** Continues in a new session that holds the branch up to before a user message, or `at` any entry. */
	fork(entryId: string, position?: "before" | "at"): Promise<void>;
	newSession(): Promise<void>;
	/** As `/reload`: loads extensions and settings again. */
	reload(): Promise<void>;
	setModel(id: string): Promise<void>;
	/** All entries of the session, every branch. */
	entries(): SessionEntry[];
	/** The entries from the root to the leaf. */
	branch(): SessionEntry[];
	/** The session file as it is on disk, header first; empty while there is none. */
	lines(): FileEntry[];
	/** Closes this session and resumes its file, also with another Pi. The new one owns the folders; its script and records start empty. */
	reopen(changes?: ReopenChanges): Promise<TestSession>;
	/** Ends the session as quitting does, and removes its temporary folders. */
	dispose(): Promise<void>;
}

export interface Folders {
	cwd: string;
	agentDir: string;
	/** Removes those that were made here. */
	remove(): void;
}

interface SessionParts {
	pi: PiVersion;
	folders: Folders;
	runtime: AgentSessionRuntime;
	model: ReturnType<typeof createScriptedModel>;
	errors: ExtensionError[];
	ui: Shown;
	leave: () => void;
	resume(sessionFile: string, changes: ReopenChanges): Promise<TestSession>;
}

/** The face that tests see of a running Pi. */
export function testSession({ pi, folders, runtime, model, errors, ui, leave, resume }: SessionParts): TestSession {
	let closed = false;
	let movedOn = false;
	const now = () => runtime.session;
	const manager = () => runtime.session.sessionManager;
	const answered = async (work: Promise<unknown>): Promise<void> => {
		const before = model.unanswered.length;
		await work;
		if (model.unanswered.length > before)
			throw new Error(`The script had no answer for ${model.unanswered.length - before} request(s).`);
	};
	const close = async () => {
		if (closed) return;
		closed = true;
		await runtime.dispose().finally(leave);
	};
	const dispose = () =>
		close().finally(() => {
			if (!movedOn) folders.remove();
		});

	return {
		pi,
		cwd: folders.cwd,
		agentDir: folders.agentDir,
		get session() {
			return now();
		},
		get sessionManager() {
			return manager();
		},
		get sessionFile() {
			return manager().getSessionFile();
		},
		requests: model.requests,
		get lastRequest() {
			const last = model.requests.at(-1);
			if (!last) throw new Error("The model was not asked yet.");
			return last;
		},
		get usage() {
			return model.requests.flatMap(({ usage }) => usage ?? []);
		},
		errors,
		ui,
		script: model.script,
		otherwise: model.otherwise,
		prompt: (text, promptOptions) => answered(now().prompt(text, promptOptions)),
		steer: async (text) => void (await now().steer(text)),
		followUp: async (text) => void (await now().followUp(text)),
		abort: () => now().abort(),
		idle: () => now().waitForIdle(),
		bash: async (command, { hidden = false } = {}) =>
			void (await now().executeBash(command, undefined, { excludeFromContext: hidden })),
		compact: async (instructions) => void (await now().compact(instructions)),
		navigateTree: async (entryId, treeOptions) => void (await now().navigateTree(entryId, treeOptions)),
		fork: async (entryId, position = "before") => void (await runtime.fork(entryId, { position })),
		newSession: async () => void (await runtime.newSession()),
		reload: () => now().reload(),
		setModel: async (id) => {
			const target = now().modelRuntime.getModel(SCRIPTED_PROVIDER, id);
			if (!target) throw new Error(`The script has no model "${id}".`);
			await now().setModel(target);
		},
		entries: () => manager().getEntries(),
		branch: () => manager().getBranch(),
		lines: () => readLines(manager().getSessionFile()),
		reopen: async (changes = {}) => {
			const sessionFile = manager().getSessionFile();
			if (!sessionFile || !existsSync(sessionFile)) throw new Error("Only a session with a file can be reopened.");
			await close();
			const resumed = await resume(sessionFile, changes);
			movedOn = true;
			return resumed;
		},
		dispose,
		[Symbol.asyncDispose]: dispose,
	};
}

function readLines(file: string | undefined): FileEntry[] {
	if (!file || !existsSync(file)) return [];
	return readFileSync(file, "utf8")
		.trimEnd()
		.split("\n")
		.map((line) => JSON.parse(line) as FileEntry);
}
