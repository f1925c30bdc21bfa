import { type Block, blocksOf, type Content, type Message, reachesModel, type Usage } from "./messages.ts";

/** Characters that count as one token in the plain estimate. */
export const CHARS_PER_TOKEN = 4;
/** Tokens of one image, as Pi counts them. */
export const IMAGE_TOKENS = 1200;

/** Plain estimate of a text in tokens: characters / 4. */
export function textTokens(text: string): number {
	return Math.ceil(text.length / CHARS_PER_TOKEN);
}

/** Plain estimate of a content in characters: text, thinking, tool arguments as JSON; an image as its tokens' worth. */
export function contentChars(content: Content | undefined): number {
	let chars = 0;
	for (const block of blocksOf(content)) chars += blockChars(block);
	return chars;
}

/** Plain estimate of a content in tokens. */
export function contentTokens(content: Content | undefined): number {
	return Math.ceil(contentChars(content) / CHARS_PER_TOKEN);
}

/** Plain estimate of what one message adds to a request, in tokens; with `content`: were that its content. */
export function messageTokens(message: Message, content?: Content): number {
	return reachesModel(message) ? Math.ceil(messageChars(message, content) / CHARS_PER_TOKEN) : 0;
}

function messageChars(message: Message, content: Content | undefined): number {
	switch (message.role) {
		case "bashExecution":
			return message.command.length + message.output.length;
		case "branchSummary":
		case "compactionSummary":
			return message.summary.length;
		case "system":
			return 0;
		default:
			return contentChars(content ?? message.content);
	}
}

function blockChars(block: Block): number {
	switch (block.type) {
		case "text":
			return block.text?.length ?? 0;
		case "thinking":
			return block.thinking?.length ?? 0;
		case "toolCall":
			return block.name.length + (JSON.stringify(block.arguments)?.length ?? 0);
		case "image":
			return IMAGE_TOKENS * CHARS_PER_TOKEN;
		default:
			return 0;
	}
}

/** Responses in a row whose ratios must agree before a calibration is believed. */
const AGREEING = 3;
/** How far apart agreeing ratios may lie. */
const TOLERANCE = 0.1;
const LOWEST = 0.5;
const HIGHEST = 3;

/** What a calibration has learned, by model: plain data, so that it may outlive the code that learned it. */
export interface Learned {
	/** The newest ratios of reported to plain tokens, oldest first. */
	readonly recent: Map<string, readonly number[]>;
	readonly factors: Map<string, number>;
}

export function nothingLearned(): Learned {
	return { recent: new Map(), factors: new Map() };
}

/**
 * What one plain token is worth on each model, learned from the provider's reported usage. A factor counts once three
 * responses in a row agree within 10 %; it is kept by model and clamped to 0.5–3.
 */
export class Calibration {
	readonly #learned: Learned;

	/** Goes on from what was learned before, and adds to it. */
	constructor(learned: Learned = nothingLearned()) {
		this.#learned = learned;
	}

	/**
	 * Learn from one response. `plainTokens` is the plain estimate of all that was sent, prompt and tools included.
	 * A response without usage teaches nothing.
	 */
	observe(model: string, plainTokens: number, usage: Usage | undefined): void {
		const reported = (usage?.input ?? 0) + (usage?.cacheRead ?? 0) + (usage?.cacheWrite ?? 0);
		if (reported <= 0 || plainTokens <= 0) return;
		const recent = [...(this.#learned.recent.get(model) ?? []), reported / plainTokens].slice(-AGREEING);
		this.#learned.recent.set(model, recent);
		if (recent.length < AGREEING || Math.max(...recent) > Math.min(...recent) * (1 + TOLERANCE)) return;
		const mean = recent.reduce((sum, ratio) => sum + ratio, 0) / recent.length;
		this.#learned.factors.set(model, Math.min(HIGHEST, Math.max(LOWEST, mean)));
	}

	/** Reported tokens per plain token on this model; undefined while uncalibrated. */
	factor(model: string): number | undefined {
		return this.#learned.factors.get(model);
	}

	/** A plain estimate in the provider's tokens where the model is calibrated, else unchanged. */
	apply(model: string, plainTokens: number): number {
		return Math.round(plainTokens * (this.#learned.factors.get(model) ?? 1));
	}
}
