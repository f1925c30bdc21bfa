import { type Block, blocksOf, conversation, type SentMessage, type SentRequest } from "./request.ts";

const CHARS_PER_TOKEN = 4;
const TOKENS_PER_IMAGE = 1200;

/** What a provider bills for a token, in input tokens: a usual price list for cached prompts. */
export const price = { cacheRead: 0.1, cacheWrite: 1.25 };

export interface Size {
	readonly messages: number;
	readonly tokens: number;
}

/** Tokens of a request that the simulated cache knew, and those that it had to take in. */
export interface CacheUse {
	readonly read: number;
	readonly written: number;
}

/** What a whole run cost. */
export interface Bill extends CacheUse {
	readonly requests: number;
	readonly tokens: number;
	/** The price of all requests, in input tokens. */
	readonly weighted: number;
}

/** The size of a request: messages without the system prompt, tokens with it and with the tool declarations. */
export function sizeOf(request: SentRequest): Size {
	return {
		messages: conversation(request).length,
		tokens: headTokens(request) + messagesTokens(conversation(request)),
	};
}

/** The plain estimate of the system prompt and the tool declarations. */
export function headTokens(request: SentRequest): number {
	return toTokens(headParts(request).join("").length);
}

/** The plain estimate of messages: characters / 4, an image 1,200, tool arguments as JSON. */
export function messagesTokens(messages: readonly SentMessage[]): number {
	return messages.reduce((tokens, message) => tokens + toTokens(sum(blocksOf(message), charsOf)), 0);
}

/** For each request of a conversation: its common prefix with the one before is read, the rest is written. */
export function simulateCache(requests: readonly SentRequest[]): CacheUse[] {
	const texts = requests.map(serialise);
	return texts.map((text, index) => {
		const read = toTokens(commonPrefixLength(texts[index - 1] ?? "", text));
		return { read, written: toTokens(text.length) - read };
	});
}

/** What all requests of a run cost together. */
export function billOf(requests: readonly SentRequest[]): Bill {
	const cache = simulateCache(requests);
	const read = sum(cache, (use) => use.read);
	const written = sum(cache, (use) => use.written);
	return {
		requests: requests.length,
		tokens: sum(requests, (request) => sizeOf(request).tokens),
		read,
		written,
		weighted: Math.round(read * price.cacheRead + written * price.cacheWrite),
	};
}

/** The sum of a number taken from each item. */
export function sum<T>(items: readonly T[], of: (item: T) => number): number {
	return items.reduce((total, item) => total + of(item), 0);
}

function toTokens(chars: number): number {
	return Math.ceil(chars / CHARS_PER_TOKEN);
}

function charsOf(block: Block): number {
	switch (block.type) {
		case "text":
			return block.text.length;
		case "thinking":
			return block.thinking.length;
		case "image":
			return TOKENS_PER_IMAGE * CHARS_PER_TOKEN;
		case "toolCall":
			return block.name.length + JSON.stringify(block.arguments).length;
	}
}

/** The prompt and the tools stand first, as providers place them, whatever the shape in which Pi hands them over. */
function serialise(request: SentRequest): string {
	const parts = conversation(request).map((message) => `${message.role}:${blocksOf(message).map(spell).join("\n")}`);
	return [...headParts(request), ...parts].join("\n\n");
}

function headParts(request: SentRequest): string[] {
	const system = request.messages.filter((message) => message.role === "system");
	return [
		request.systemPrompt ?? "",
		...(request.tools ?? []).map((tool) => JSON.stringify(tool)),
		...system.flatMap((message) => [
			...blocksOf(message).map(spell),
			...Object.values(message.sections ?? {}).map((section) => section ?? ""),
			...(message.toolsAdded ?? []).map((tool) => JSON.stringify(tool)),
		]),
	].filter((part) => part !== "");
}

function spell(block: Block): string {
	switch (block.type) {
		case "text":
			return block.text;
		case "thinking":
			return block.thinking;
		case "image":
			return `[image:${block.mimeType}:${block.data.length}]`;
		case "toolCall":
			return `${block.name}:${JSON.stringify(block.arguments)}`;
	}
}

function commonPrefixLength(a: string, b: string): number {
	const end = Math.min(a.length, b.length);
	let length = 0;
	while (length < end && a[length] === b[length]) length++;
	return length;
}
