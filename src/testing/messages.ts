import type { ProviderConfig, SessionMessageEntry } from "@earendil-works/pi-coding-agent";

export type StreamSimple = NonNullable<ProviderConfig["streamSimple"]>;
/** A message as a provider gets it. */
export type WireMessage = Parameters<StreamSimple>[1]["messages"][number];
export type SystemMessage = Extract<WireMessage, { role: "system" }>;
export type AssistantMessage = Extract<WireMessage, { role: "assistant" }>;
export type ToolResultMessage = Extract<WireMessage, { role: "toolResult" }>;
export type Content = Exclude<ToolResultMessage["content"], string>;
export type ToolCall = Extract<AssistantMessage["content"][number], { type: "toolCall" }>;
export type ToolArguments = ToolCall["arguments"];
export type Usage = AssistantMessage["usage"];
/** A message as a session stores it, or as a provider gets it. */
export type AnyMessage = SessionMessageEntry["message"] | WireMessage;

/** The text a message carries, its blocks joined by newlines; an image reads `[image]`, thinking and calls read nothing. */
export function textOf(message: AnyMessage): string {
	if (message.role === "bashExecution") return `$ ${message.command}\n${message.output}`;
	if (message.role === "branchSummary" || message.role === "compactionSummary") return message.summary;
	if (typeof message.content === "string") return message.content;
	return message.content.flatMap(blockText).join("\n");
}

function blockText(block: { type: string; text?: unknown }): string[] {
	if (block.type === "image") return ["[image]"];
	return block.type === "text" ? [String(block.text)] : [];
}

/**
 * One short line per message, for comparing whole conversations: `user: fix it`, `assistant: looking → grep#c1, read#c2`,
 * `result grep#c1: 3 matches`, `failed read#c2: no such file`, `bash: $ ls`, `custom note: …`, `system`. Whitespace is collapsed and texts are
 * cut to `width` characters.
 */
export function shape(messages: readonly AnyMessage[], width = 80): string[] {
	return messages.map((message) => {
		const text = clip(textOf(message).replace(/\s+/g, " ").trim(), width);
		return text && message.role !== "system"
			? `${heading(message)}: ${text}${callsOf(message)}`
			: `${heading(message)}${callsOf(message)}`;
	});
}

function heading(message: AnyMessage): string {
	if (message.role === "toolResult")
		return `${message.isError ? "failed" : "result"} ${message.toolName}#${message.toolCallId}`;
	if (message.role === "custom") return `custom ${message.customType}`;
	if (message.role === "bashExecution") return "bash";
	return message.role === "branchSummary" || message.role === "compactionSummary" ? "summary" : message.role;
}

function callsOf(message: AnyMessage): string {
	const calls = toolCalls(message).map((call) => `${call.name}#${call.id}`);
	return calls.length > 0 ? ` → ${calls.join(", ")}` : "";
}

function clip(text: string, width: number): string {
	return text.length > width ? `${text.slice(0, width - 1)}…` : text;
}

function toolCalls(message: AnyMessage) {
	return message.role === "assistant" ? message.content.filter((block) => block.type === "toolCall") : [];
}

export interface Orphans {
	/** Ids of tool calls that no result follows before the next assistant message. */
	calls: string[];
	/** Tool call ids of results that answer no open call. */
	results: string[];
}

/** Call and result halves that a provider would refuse. Aborted and failed responses count for nothing: Pi doesn't send them. */
export function orphans(messages: readonly AnyMessage[]): Orphans {
	const found: Orphans = { calls: [], results: [] };
	let open: string[] = [];
	for (const message of messages) {
		if (message.role === "assistant") {
			found.calls.push(...open);
			const sent = message.stopReason !== "aborted" && message.stopReason !== "error";
			open = sent ? toolCalls(message).map((call) => call.id) : [];
		}
		if (message.role !== "toolResult") continue;
		if (!open.includes(message.toolCallId)) found.results.push(message.toolCallId);
		open = open.filter((id) => id !== message.toolCallId);
	}
	found.calls.push(...open);
	return found;
}

/** Whether any string anywhere inside `value` (a request, a message, an entry) contains `needle`. */
export function containsText(value: unknown, needle: string): boolean {
	if (typeof value === "string") return value.includes(needle);
	if (typeof value !== "object" || value === null) return false;
	return Object.values(value).some((inner) => containsText(inner, needle));
}
