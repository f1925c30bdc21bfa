import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { SessionEntry, SessionHeader, SessionMessageEntry } from "@earendil-works/pi-coding-agent";
import type { AssistantMessage, Content, ToolArguments, Usage } from "./messages.ts";
import { type Call, SCRIPTED_PROVIDER } from "./scripted-model.ts";

export interface SessionLogOptions {
	/** Stands in the header. */
	cwd?: string;
	id?: string;
	/** Milliseconds since 1970 of the header; each entry comes a second later than the one before. */
	startedAt?: number;
	provider?: string;
	model?: string;
}

export interface AssistantReply {
	thinking?: string;
	text?: string;
	calls?: readonly Call[];
	usage?: Partial<Omit<Usage, "cost">>;
	stopReason?: AssistantMessage["stopReason"];
	errorMessage?: string;
}

/** A finished tool call. */
export interface Exchange {
	name: string;
	args?: Record<string, unknown>;
	result: string | Content;
	/** `c1`, `c2`, … unless given. */
	id?: string;
	isError?: boolean;
}

/** Ids of the entries that a batch of calls left. */
export interface Batch {
	assistant: string;
	results: string[];
	calls: string[];
}

type SystemMessage = Extract<SessionMessageEntry["message"], { role: "system" }>;
type JsonValue = ToolArguments[string];

/**
 * Builds a session file of Pi's format 3, entry by entry; each method appends one below the leaf and returns its id, unless
 * it says otherwise. Ids and times depend on nothing but the calls made.
 */
export interface SessionLog {
	user(content: string | Content): string;
	assistant(reply: string | AssistantReply): string;
	/** A result of the call `callId`; the tool's name is looked up in the calls made so far. */
	result(callId: string, content: string | Content, options?: { isError?: boolean; details?: JsonValue }): string;
	/** One assistant message with all these calls, then their results in this order. */
	batch(exchanges: readonly Exchange[], reply?: Omit<AssistantReply, "calls">): Batch;
	/** A command the human ran with `!`, or with `!!` when `hidden`. */
	bash(command: string, output: string, options?: { hidden?: boolean; exitCode?: number }): string;
	/** A message of an extension, which the model reads. */
	customMessage(
		customType: string,
		content: string | Content,
		options?: { display?: boolean; details?: unknown },
	): string;
	/** A record of an extension, which the model doesn't read. */
	custom(customType: string, data?: unknown): string;
	label(targetId: string, label: string | undefined): string;
	compaction(summary: string, options: { firstKept: string; tokensBefore?: number; details?: unknown }): string;
	/** Moves the leaf to `branchFrom` and appends the summary of what was left there. */
	branchSummary(summary: string, options: { branchFrom: string; details?: unknown }): string;
	/** A change of Pi (≥ 0.87) to what an earlier entry sends; null leaves it out. */
	contextEdit(targetId: string, content: string | Content | null): string;
	/** What Pi ≥ 0.86 writes for a prompt or a change of it. */
	system(message: Partial<Omit<SystemMessage, "role">>): string;
	modelChange(modelId: string, provider?: string): string;
	thinkingLevel(level: string): string;
	sessionName(name: string): string;
	/** Puts the leaf on an earlier entry, or before all of them: the next entry starts another branch there. Writes nothing. */
	branchFrom(entryId: string | null): void;
	readonly leaf: string | null;
	readonly header: SessionHeader;
	/** The entries so far, without the header. */
	entries(): SessionEntry[];
	/** Writes the file and its folders, and returns its path. */
	write(file: string): string;
}

export function sessionLog(options: SessionLogOptions = {}): SessionLog {
	const {
		cwd = "/project",
		id = "00000000-0000-7000-8000-000000000000",
		startedAt = Date.UTC(2026, 0, 5, 9),
		provider = SCRIPTED_PROVIDER,
	} = options;
	let { model = "model-a" } = options;
	let currentProvider = provider;
	let leaf: string | null = null;
	let calls = 0;
	const entries: SessionEntry[] = [];
	const toolNames = new Map<string, string>();
	const header: SessionHeader = { type: "session", version: 3, id, timestamp: new Date(startedAt).toISOString(), cwd };

	const nextTime = () => startedAt + (entries.length + 1) * 1000;
	const append = (fields: EntryFields): string => {
		const entryId: string = (entries.length + 1).toString(16).padStart(8, "0");
		const place = { id: entryId, parentId: leaf, timestamp: new Date(nextTime()).toISOString() };
		const { type, ...rest } = fields;
		entries.push({ type, ...place, ...rest } as SessionEntry);
		leaf = entryId;
		return entryId;
	};
	const message = (fields: MessageFields) =>
		append({ type: "message", message: { ...fields, timestamp: nextTime() } as Message });

	const log: SessionLog = {
		user: (content) => message({ role: "user", content: blocks(content) }),
		assistant: (given) => {
			const reply = typeof given === "string" ? { text: given } : given;
			for (const call of reply.calls ?? []) toolNames.set(call.id, call.name);
			return message({ ...assistantFields(reply), api: currentProvider, provider: currentProvider, model });
		},
		result: (toolCallId, content, { isError = false, details } = {}) => {
			const toolName = toolNames.get(toolCallId);
			if (toolName === undefined) throw new Error(`No call "${toolCallId}" stands before its result.`);
			return message({
				role: "toolResult",
				toolCallId,
				toolName,
				content: blocks(content),
				isError,
				...(details === undefined ? {} : { details }),
			});
		},
		batch: (exchanges, reply = {}) => {
			const made = exchanges.map(({ id: callId = `c${++calls}`, name, args = {} }) => ({ id: callId, name, args }));
			const assistant = log.assistant({ ...reply, calls: made });
			const results = exchanges.map(({ result, isError = false }, index) =>
				log.result(made[index]?.id ?? "", result, { isError }),
			);
			return { assistant, results, calls: made.map((call) => call.id) };
		},
		bash: (command, output, { hidden = false, exitCode = 0 } = {}) =>
			message({
				role: "bashExecution",
				command,
				output,
				exitCode,
				cancelled: false,
				truncated: false,
				...(hidden ? { excludeFromContext: true } : {}),
			}),
		customMessage: (customType, content, { display = true, details } = {}) =>
			append({ type: "custom_message", customType, content, display, ...(details === undefined ? {} : { details }) }),
		custom: (customType, data) => append({ type: "custom", customType, ...(data === undefined ? {} : { data }) }),
		label: (targetId, label) => append({ type: "label", targetId, label }),
		compaction: (summary, { firstKept, tokensBefore = 50_000, details }) =>
			append({
				type: "compaction",
				summary,
				firstKeptEntryId: firstKept,
				tokensBefore,
				...(details === undefined ? {} : { details }),
			}),
		branchSummary: (summary, { branchFrom, details }) => {
			leaf = branchFrom;
			return append({
				type: "branch_summary",
				fromId: branchFrom,
				summary,
				...(details === undefined ? {} : { details }),
			});
		},
		contextEdit: (targetId, content) =>
			append({ type: "context_edit", targetId, replacement: content === null ? null : { content } }),
		system: (fields) => message({ role: "system", content: "", ...fields }),
		modelChange: (modelId, newProvider = provider) => {
			model = modelId;
			currentProvider = newProvider;
			return append({ type: "model_change", provider: newProvider, modelId });
		},
		thinkingLevel: (level) => append({ type: "thinking_level_change", thinkingLevel: level }),
		sessionName: (name) => append({ type: "session_info", name }),
		branchFrom: (entryId) => {
			leaf = entryId;
		},
		get leaf() {
			return leaf;
		},
		header,
		entries: () => [...entries],
		write: (file) => {
			mkdirSync(dirname(file), { recursive: true });
			writeFileSync(file, `${[header, ...entries].map((entry) => JSON.stringify(entry)).join("\n")}\n`);
			return file;
		},
	};
	return log;
}

type Message = SessionMessageEntry["message"];
type Without<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;
type EntryFields = Without<SessionEntry, "id" | "parentId" | "timestamp">;
type MessageFields = Without<Message, "timestamp">;

function blocks(content: string | Content): Content {
	return typeof content === "string" ? [{ type: "text", text: content }] : content;
}

function assistantFields(reply: AssistantReply) {
	const content: AssistantMessage["content"] = [];
	if (reply.thinking) content.push({ type: "thinking", thinking: reply.thinking });
	if (reply.text) content.push({ type: "text", text: reply.text });
	for (const { id, name, args } of reply.calls ?? [])
		content.push({ type: "toolCall", id, name, arguments: args as ToolArguments });
	const { input = 100, output = 10, cacheRead = 0, cacheWrite = 0 } = reply.usage ?? {};
	return {
		role: "assistant" as const,
		content,
		usage: {
			input,
			output,
			cacheRead,
			cacheWrite,
			totalTokens: reply.usage?.totalTokens ?? input + output + cacheRead + cacheWrite,
			cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
		},
		stopReason: reply.stopReason ?? (reply.calls?.length ? ("toolUse" as const) : ("stop" as const)),
		...(reply.errorMessage === undefined ? {} : { errorMessage: reply.errorMessage }),
	};
}

/** A PNG of one pixel. */
export const onePixel: Extract<Content[number], { type: "image" }> = {
	type: "image",
	mimeType: "image/png",
	data: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
};
