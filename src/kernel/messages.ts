/** The messages and session entries of Pi, as far as the kernel reads them: structural, so that one shape serves every Pi version. */

export interface TextBlock {
	readonly type: "text";
	readonly text: string;
}

export interface ImageBlock {
	readonly type: "image";
	readonly data: string;
	readonly mimeType: string;
}

export interface ThinkingBlock {
	readonly type: "thinking";
	readonly thinking: string;
}

export interface ToolCallBlock {
	readonly type: "toolCall";
	readonly id: string;
	readonly name: string;
	readonly arguments: unknown;
}

export type Block = TextBlock | ImageBlock | ThinkingBlock | ToolCallBlock;
export type Content = string | readonly Block[];

export interface Usage {
	readonly input: number;
	readonly output: number;
	readonly cacheRead: number;
	readonly cacheWrite: number;
}

interface Timed {
	/** Milliseconds since the epoch. */
	readonly timestamp: number;
}

export interface UserMessage extends Timed {
	readonly role: "user";
	readonly content: Content;
}

export interface AssistantMessage extends Timed {
	readonly role: "assistant";
	readonly content: Content;
	readonly provider?: string;
	readonly model?: string;
	readonly usage?: Usage;
	readonly stopReason?: string;
	/** The provider's, where the response ended in one. */
	readonly errorMessage?: string;
}

export interface NestedCall {
	readonly name: string;
	readonly arguments?: unknown;
	readonly status?: string;
}

export interface ToolResultMessage extends Timed {
	readonly role: "toolResult";
	readonly toolCallId: string;
	readonly toolName: string;
	readonly content: Content;
	readonly details?: unknown;
	readonly isError?: boolean;
	readonly nestedCalls?: { readonly calls: readonly NestedCall[] };
}

export interface CustomMessage extends Timed {
	readonly role: "custom";
	readonly customType: string;
	readonly content: Content;
	readonly display: boolean;
	readonly details?: unknown;
}

export interface BashExecutionMessage extends Timed {
	readonly role: "bashExecution";
	readonly command: string;
	readonly output: string;
	/** The human kept it from the model. */
	readonly excludeFromContext?: boolean;
}

export interface SummaryMessage extends Timed {
	readonly role: "branchSummary" | "compactionSummary";
	readonly summary: string;
}

/** Prompt and tool declarations inside the list (Pi 0.86 and later); never part of the view. */
export interface SystemMessage extends Timed {
	readonly role: "system";
}

export type Message =
	| UserMessage
	| AssistantMessage
	| ToolResultMessage
	| CustomMessage
	| BashExecutionMessage
	| SummaryMessage
	| SystemMessage;

export type EntryId = string;

/** What an edit of Pi (0.87 and later) sends in an entry's place: other content, or nothing. */
export type Replacement = { readonly content: Content } | null;

interface EntryBase {
	readonly id: EntryId;
	readonly parentId: EntryId | null;
	/** ISO 8601. */
	readonly timestamp: string;
}

/** One line of a session file. Entry types that the kernel does not know are passed over. */
export type SessionEntry = EntryBase &
	(
		| { readonly type: "message"; readonly message: Message }
		| { readonly type: "custom"; readonly customType: string; readonly data?: unknown }
		| {
				readonly type: "custom_message";
				readonly customType: string;
				readonly content: Content;
				readonly display: boolean;
				readonly details?: unknown;
		  }
		| { readonly type: "compaction"; readonly summary: string; readonly firstKeptEntryId?: EntryId | null }
		| { readonly type: "branch_summary"; readonly summary: string }
		| { readonly type: "context_edit"; readonly targetId: EntryId; readonly replacement: Replacement }
		| { readonly type: "label" | "model_change" | "thinking_level_change" | "session_info" | "usage" }
	);

/**
 * Whether Pi sends a message of the context to the model: neither what the human ran with `!!`, nor a response that
 * broke off (`error`, `aborted`); one that was cut at its length is sent.
 */
export function reachesModel(message: Message): boolean {
	if (message.role === "assistant") return message.stopReason !== "error" && message.stopReason !== "aborted";
	return message.role !== "bashExecution" || message.excludeFromContext !== true;
}

/**
 * Whether a message is the agent's own: a response or a tool result. Prompts and `!` commands are the human's, summaries
 * are Pi's, custom messages an extension's.
 */
export function isOfAgent({ role }: Message): boolean {
	return role === "assistant" || role === "toolResult";
}

/** Whether a message is a note of ours: one that is hidden belongs to a change that was taken back, and had no place before it. */
export function isOwnNote(message: Message): boolean {
	return message.role === "custom" && message.customType.startsWith("mulligan:");
}

/** A content as its blocks: a string is one text block, anything that is no content has none. */
export function blocksOf(content: Content | undefined): readonly Block[] {
	if (typeof content === "string") return [{ type: "text", text: content }];
	return Array.isArray(content) ? content : [];
}

/** The tool calls of a message; empty for every role but the assistant's. */
export function toolCallsOf(message: Message): readonly ToolCallBlock[] {
	if (message.role !== "assistant") return [];
	return blocksOf(message.content).filter((block): block is ToolCallBlock => block.type === "toolCall");
}

/** All text blocks of a content, one after the other. */
export function textOf(content: Content | undefined): string {
	return blocksOf(content)
		.map((block) => (block.type === "text" ? block.text : ""))
		.join("");
}

/** The text of a message, whatever carries it: content, a summary, a command with its output. */
export function shownText(message: Message): string {
	switch (message.role) {
		case "bashExecution":
			return `${message.command}\n${message.output}`;
		case "branchSummary":
		case "compactionSummary":
			return message.summary;
		case "system":
			return "";
		default:
			return textOf(message.content);
	}
}
