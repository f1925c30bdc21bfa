import type { AssistantMessage, Usage, WireMessage } from "./messages.ts";
import type { RawRequest } from "./scripted-model.ts";

export interface PromptCache {
	/**
	 * What a provider would report for this request: tokens (four characters each) read from the cache are the longest
	 * common prefix with the previous request under the same key, in the order tools, prompt, messages. Without a key nothing is cached.
	 */
	measure(request: RawRequest, answer: AssistantMessage["content"], key: string | undefined): Partial<Usage>;
}

export function createPromptCache(): PromptCache {
	const previous = new Map<string, string[]>();
	return {
		measure(request, answer, key) {
			const prompt = promptParts(request);
			const promptTokens = tokens(prompt.reduce((sum, part) => sum + part.length, 0));
			const output = tokens(JSON.stringify(answer).length);
			if (key === undefined) return { input: promptTokens, output };
			const cacheRead = tokens(commonPrefixLength(previous.get(key) ?? [], prompt));
			previous.set(key, prompt);
			return { output, cacheRead, cacheWrite: promptTokens - cacheRead };
		},
	};
}

function promptParts(request: RawRequest): string[] {
	return [JSON.stringify(request.tools ?? []), request.systemPrompt ?? "", ...request.messages.map(sentPart)];
}

/** What of a message travels to a provider: none of its times, figures and details. */
function sentPart(message: WireMessage): string {
	if (message.role === "system")
		return JSON.stringify([message.content, message.sections, message.toolsAdded, message.toolsRemoved]);
	if (message.role === "toolResult") return JSON.stringify([message.toolCallId, message.isError, message.content]);
	return JSON.stringify([message.role, message.content]);
}

function commonPrefixLength(before: readonly string[], now: readonly string[]): number {
	let length = 0;
	for (const [index, part] of now.entries()) {
		const earlier = before[index] ?? "";
		if (part !== earlier) return length + commonCharacters(part, earlier);
		length += part.length;
	}
	return length;
}

function commonCharacters(a: string, b: string): number {
	let index = 0;
	while (index < a.length && a[index] === b[index]) index++;
	return index;
}

function tokens(characters: number): number {
	return Math.ceil(characters / 4);
}
