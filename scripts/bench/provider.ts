import type { InlineExtension } from "@earendil-works/pi-coding-agent";
import type { AssistantMessage, StreamSimple } from "../../src/testing/messages.ts";

export const PROVIDER = "bench";

/** Requests that one prompt makes: tool calls, then an answer. */
export const REQUESTS_PER_PROMPT = 6;

/** A model that keeps nothing of what it is sent, so that long sessions cost it nothing. */
export function benchModel(createStream: () => ReturnType<StreamSimple>): InlineExtension {
	let requests = 0;
	const streamSimple: StreamSimple = (model) => {
		const stream = createStream();
		const answer = { ...nextAnswer(++requests), api: model.api, provider: model.provider, model: model.id };
		queueMicrotask(() => {
			stream.push({ type: "start", partial: answer });
			stream.push({ type: "done", reason: answer.stopReason, message: answer });
			stream.end(answer);
		});
		return stream;
	};
	const model = {
		id: PROVIDER,
		name: PROVIDER,
		reasoning: false,
		input: ["text" as const],
		cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
		contextWindow: 100_000_000,
		maxTokens: 10_000,
	};
	return (pi) =>
		pi.registerProvider(PROVIDER, {
			name: PROVIDER,
			baseUrl: "http://127.0.0.1:0",
			apiKey: "none",
			api: PROVIDER,
			models: [model],
			streamSimple,
		});
}

type Answer = AssistantMessage & { stopReason: "toolUse" | "stop" };

function nextAnswer(request: number): Answer {
	const isLast = request % REQUESTS_PER_PROMPT === 0;
	const call = { type: "toolCall" as const, id: `bench-${request}`, name: "look", arguments: { path: "src/next.ts" } };
	return {
		role: "assistant",
		content: [{ type: "text", text: `Answer ${request}.` }, ...(isLast ? [] : [call])],
		api: PROVIDER,
		provider: PROVIDER,
		model: PROVIDER,
		usage: {
			input: 10,
			output: 10,
			cacheRead: 50_000,
			cacheWrite: 100,
			totalTokens: 50_120,
			cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
		},
		stopReason: isLast ? "stop" : "toolUse",
		timestamp: Date.now(),
	};
}
