/** The environment variable that names the file to which the provider appends each request, a line of JSON each. */
export const REQUESTS_FILE = "MULLIGAN_DEMO_REQUESTS";

/** A model request as the scripted provider received it. */
export interface SentRequest {
	/** Pi before 0.86; later the prompt and the tools are in messages of role `system`. */
	readonly systemPrompt?: string;
	readonly tools?: readonly DeclaredTool[];
	readonly messages: readonly SentMessage[];
}

interface DeclaredTool {
	readonly name: string;
}

export interface SentMessage {
	readonly role: "system" | "user" | "assistant" | "toolResult";
	readonly content: string | readonly Block[];
	readonly sections?: Readonly<Record<string, string | null>>;
	readonly toolsAdded?: readonly DeclaredTool[];
	readonly toolCallId?: string;
	readonly toolName?: string;
	readonly isError?: boolean;
}

export type Block =
	| { readonly type: "text"; readonly text: string }
	| { readonly type: "thinking"; readonly thinking: string }
	| { readonly type: "image"; readonly mimeType: string; readonly data: string }
	| { readonly type: "toolCall"; readonly id: string; readonly name: string; readonly arguments: unknown };

/** The messages of a request without the system prompt. */
export function conversation(request: SentRequest): SentMessage[] {
	return request.messages.filter((message) => message.role !== "system");
}

/** The names of the tools that a request declares. */
export function declaredTools(request: SentRequest): string[] {
	const added = request.messages.flatMap((message) => message.toolsAdded ?? []);
	return [...(request.tools ?? []), ...added].map((tool) => tool.name);
}

/** The blocks of a message; a plain string counts as one text. */
export function blocksOf(message: SentMessage): readonly Block[] {
	return typeof message.content === "string" ? [{ type: "text", text: message.content }] : message.content;
}

/** The text blocks of a message, joined without a separator. */
export function textOf(message: SentMessage): string {
	return blocksOf(message)
		.map((block) => (block.type === "text" ? block.text : ""))
		.join("");
}

/** The result of a tool call in a request, if it is there. */
export function resultOf(request: SentRequest, toolCallId: string): SentMessage | undefined {
	return request.messages.find((message) => message.role === "toolResult" && message.toolCallId === toolCallId);
}
