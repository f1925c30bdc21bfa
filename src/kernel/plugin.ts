import type { TSchema } from "typebox";
import type { ContextEntry, ToolGroup } from "./branch.ts";
import type { Hooks } from "./hooks.ts";
import type { EntryId } from "./messages.ts";
import type { Fate, MomentRules, Op } from "./moments.ts";
import type { JournalRecord, MarkerType, RecordBodies, RecordHeader, RecordType } from "./records.ts";
import type { Standing } from "./take-back.ts";
import type { ResultEntry, Target } from "./target.ts";

/** What the model reads of a tool, and nothing else: sent with every request. */
export interface ToolDeclaration {
	readonly name: string;
	/** Shown to the human. */
	readonly label: string;
	readonly description: string;
	readonly parameters: TSchema;
}

/** A line on the screen. Where it is too long it goes on below: a row's text beside its lead, a plain line at the margin. */
export type ScreenLine = string | { readonly lead: string; readonly text: string };

/** How the human sees a result of a tool. */
export type ResultLines = (result: {
	readonly text: string;
	readonly details: unknown;
	readonly isExpanded: boolean;
}) => readonly ScreenLine[];

/** What a tool of ours answers: always a text. */
export interface ToolAnswer {
	readonly text: string;
	/** Kept in the session file, not sent to the model. */
	readonly details: object;
}

export interface ToolCall<Params> {
	readonly toolCallId: string;
	readonly params: Params;
}

export type NotifyLevel = "info" | "warning" | "answer";

export interface CommandDefinition {
	readonly description: string;
	run(args: string): void | Promise<void>;
	/** Completions of the argument that is being typed. */
	complete?(prefix: string): readonly string[];
}

/** One surviving message, as the view has it. */
export interface ViewedEntry {
	readonly entry: ContextEntry;
	/** Plain estimate of what the view shows of it, in tokens. */
	readonly tokens: number;
	/** The view shows other content than the original. */
	readonly isReplaced: boolean;
	/** Bytes (UTF-8) of the text that the view shows. */
	readonly textBytes: number;
}

/** A place that the human set. `placeId` is undefined where it has left the context. */
export interface Checkpoint {
	readonly name: string;
	/** The entries of this branch that carry its label, oldest first: earlier versions labelled messages. */
	readonly labelledIds: readonly EntryId[];
	readonly placeId: EntryId | undefined;
}

/** Reading the session: the current branch, its groups and prompt spans, and the view. Ids, never positions. */
export interface SessionReader {
	/** The working directory. */
	readonly cwd: string;
	/** Plain estimate of the view, in tokens. */
	readonly viewTokens: number;
	/** The part of `viewTokens` that is the agent's own: its responses and the results of its calls. */
	readonly agentTokens: number;
	/** The model's window in tokens; undefined where it is not known. */
	readonly window: number | undefined;
	/** Plain estimate of the prompt and the tool declarations, in tokens. */
	readonly promptTokens: number;
	/** The provider's tokens per plain token on this model; undefined while uncalibrated. */
	readonly calibration: number | undefined;
	/** Requests of this session so far. */
	readonly requests: number;
	/** Share of the model's window that the view takes, calibrated once it can be; undefined without a window. */
	readonly share: number | undefined;
	/** Entries in the context, oldest first, hidden ones included. */
	context(): readonly ContextEntry[];
	/** The context entries after an entry of the branch. */
	after(id: EntryId): readonly ContextEntry[];
	entry(id: EntryId): ContextEntry | undefined;
	inContext(id: EntryId): boolean;
	/** In the context, not hidden, and nothing that Pi leaves out of its requests (see `reachesModel`). */
	isVisible(id: EntryId): boolean;
	/** On the branch, at a place before another. */
	isBefore(a: EntryId, b: EntryId): boolean;
	groupOf(id: EntryId): ToolGroup | undefined;
	groupOfCall(toolCallId: string): ToolGroup | undefined;
	/** The branch's first user message. */
	firstUser(): ContextEntry | undefined;
	/** The user message that the current prompt span starts at. */
	latestUser(): ContextEntry | undefined;
	/** The result that a target names: of this prompt span and still to be seen, or anywhere in the context. */
	resolve(target: Target, scope: { readonly span: string } | "context"): ResultEntry | undefined;
	/** The survivors as the view has them, oldest first. Walks the context: not for every request. */
	viewed(): readonly ViewedEntry[];
	/** The newest entry that contributes to the context; undefined in an empty session. */
	newestContextEntry(): ContextEntry | undefined;
	/** Where the human set a checkpoint on this branch; undefined where there is none of this name. */
	checkpoint(name: string): Checkpoint | undefined;
	/** All checkpoints of this branch, oldest first. Kept until a label changes or the branch does otherwise than by growth. */
	checkpoints(): readonly Checkpoint[];
	/** Names of the tools that the model can call now. */
	activeTools(): readonly string[];
	/** The custom messages of one type on the branch, oldest first. */
	notes(customType: string): readonly ContextEntry[];
}

/** Reading and writing records. Reading is typed and checked; a malformed record is passed over. */
export interface PluginJournal {
	read<T extends RecordType>(type: T): readonly JournalRecord<RecordBodies[T]>[];
	/** Records of a type of the plugin's own: what it wrote, with the header; nobody checks it. */
	read<Body extends object>(type: string): readonly JournalRecord<Body>[];
	/** Records of a marker type that no cancel on the branch retires. */
	active<T extends MarkerType>(type: T): readonly JournalRecord<RecordBodies[T]>[];
	/** Write a record of a type that the plugin declares in `records`. Returns the id of its entry. */
	append(type: string, body: object): EntryId;
	/** Retire a rewind or shrink by marker id; `why` goes to the log. The view changes from the next request. */
	retire(markerId: string, why: string): void;
	/** A value derived from records, made again when one of the records it read was added or lost. */
	memo<T>(derive: () => T): () => T;
	/** Store a message that the model and the human see, after the current turn's results; it causes no request. */
	note(note: { readonly customType: string; readonly content: string; readonly details: object }): void;
	/** Set or (undefined) clear an entry's label. An entry has one. */
	label(id: EntryId, label: string | undefined): void;
}

/** Handing in ops, and those that wait. */
export interface PluginMoments {
	/** The most moments a session may have; 0: no op is taken. */
	readonly maxMoments: number;
	/** Moments that were spent so far. */
	readonly spent: number;
	/** Hand in an op. `tell` completes the text of its result once the turn's ops are decided. */
	submit(op: Omit<Op, "plugin">, tell: (fate: Fate) => string): void;
	waiting(): readonly Op[];
	/** All that can be taken back, newest first: the ops that wait, then active rewinds and shrinks. */
	standing(): readonly Standing[];
	/** Plain estimate of what all that waits sheds together, in tokens. */
	readonly volumeTokens: number;
	/** Take a waiting op back; false if none has this id. */
	cancel(opId: string): boolean;
	/** Let go of a waiting op that has become pointless, and say why; false if none has this id. */
	drop(opId: string, reason: string): boolean;
	/**
	 * Let go of every waiting op for which `reasonOf` gives a reason: at the start of a turn, and before each decision.
	 * Synchronous, and a function of the session: it is asked often.
	 */
	dropWhen(reasonOf: (op: Op) => string | undefined): void;
	/**
	 * The model audits: what waits may activate with it. `report` makes the whole text of the call's result once that is
	 * decided, the view being then that of the next request; it gets what became active.
	 */
	audit(toolCallId: string, report: (activated: readonly Op[]) => string): void;
}

/** Lines above the editor, and how records look in the transcript. */
export interface Screen {
	/** Lines above the editor under a name; undefined takes them away. */
	widget(name: string, lines: readonly string[] | undefined): void;
	/** How a well-formed record of this type is shown to the human: one line each; undefined shows nothing. */
	renderRecord<T extends RecordType>(
		type: T,
		lines: (record: RecordBodies[T] & RecordHeader) => readonly string[] | undefined,
	): void;
	renderRecord(type: string, lines: (record: RecordHeader) => readonly string[] | undefined): void;
	/** How a stored message of this type is shown to the human; collapsed, then expanded. */
	renderMessage(
		type: string,
		lines: (message: { readonly content: string; readonly isExpanded: boolean }) => readonly string[],
	): void;
}

/** The whole config: the kernel's own sections, and each plugin's under its name. */
export interface Settings {
	readonly rewrites: MomentRules;
	readonly ui: { readonly activeCheckpointBanner: boolean };
	readonly log: { readonly file: string | null };
	readonly [plugin: string]: unknown;
}

/** What a plugin gets in `setup`. */
export interface PluginApi<Options = unknown> {
	/** The plugin's own options: checked, defaulted, frozen. */
	readonly options: Options;
	/** The whole config, frozen. */
	readonly settings: Settings;
	/** The kernel's hooks; tap them in `setup`, under the plugin's name or `name:part`. */
	readonly hooks: Hooks;
	readonly session: SessionReader;
	readonly journal: PluginJournal;
	readonly moments: PluginMoments;
	/** A fresh unique id for a marker. */
	newId(): string;
	/** What stays on the human's screen. Where the mode has none, nothing happens. */
	readonly screen: Screen;
	/**
	 * Tell the human. Without a UI only warnings arrive, and the answers to a command that the human gave: both on
	 * standard error.
	 */
	notify(text: string, level?: NotifyLevel): void;
	/** One line to the log file, where one is configured. */
	log(line: string): void;
	/** Answer for a declared tool. A throw becomes a refusal; the turn goes on. */
	tool<Params>(
		declaration: ToolDeclaration,
		run: (call: ToolCall<Params>) => ToolAnswer | Promise<ToolAnswer>,
		render?: ResultLines,
	): void;
	command(name: string, definition: CommandDefinition): void;
	/** The refusal of an op: its text, and the `onOp` event. `code` names the reason in `details.refused`. */
	refuse(reason: string, code: string): ToolAnswer;
	/**
	 * Pi's raw API, for what the kernel does not cover. A throw in a handler registered through it is blamed on the
	 * plugin and passed on to Pi; once the plugin is switched off its handlers answer undefined, `tool_call` excepted.
	 */
	readonly pi: unknown;
}

/** A feature: its name is its folder, its options' section and the prefix of its taps. */
export interface Plugin<Options = unknown> {
	readonly name: string;
	/** The versions of mulligan that it works with, as a semver range such as `"^2"`; checked before `setup` runs. */
	readonly mulligan?: string;
	/** Names of plugins without which it is left out. */
	readonly dependencies?: readonly string[];
	/** Schema of the options, with a default for each. */
	readonly options?: TSchema;
	/** The tools that `setup` answers for. */
	readonly tools?: readonly ToolDeclaration[];
	/** The commands that `setup` answers for, with their descriptions. */
	readonly commands?: Readonly<Record<string, string>>;
	/** The record types that the plugin writes. */
	readonly records?: readonly string[];
	/** Taps hooks and answers for tools. Once all plugins are set up, the hooks are frozen. */
	setup(api: PluginApi<Options>): void | Promise<void>;
}
