import { appendFileSync } from "node:fs";
import { type AssistantMessage, createAssistantMessageEventStream, type ToolCall } from "@earendil-works/pi-ai";
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { messagesTokens, simulateCache } from "./figures.ts";
import { declaredTools, REQUESTS_FILE, type SentMessage, type SentRequest } from "./request.ts";
import { callId, type Step, script } from "./script.ts";

const unpriced = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

/** A Pi extension: a model that needs no key and no network, and answers with the steps of the script. */
export default function scriptedProvider(pi: ExtensionAPI): void {
	const remaining = [...script];
	let previous: SentRequest = { messages: [] };
	pi.registerProvider("demo", {
		name: "Demo",
		baseUrl: "http://localhost:0",
		apiKey: "none",
		api: "demo-script",
		models: [
			{
				id: "scripted",
				name: "Scripted",
				reasoning: false,
				input: ["text", "image"],
				cost: unpriced,
				contextWindow: 200_000,
				maxTokens: 8_192,
			},
		],
		streamSimple(model, context) {
			const request: SentRequest = JSON.parse(JSON.stringify(context));
			record(request);
			const content = respond(nextStep(remaining, declaredTools(request)));
			const stopReason = content.some((block) => block.type === "toolCall") ? "toolUse" : "stop";
			const message: AssistantMessage = {
				role: "assistant",
				content,
				api: model.api,
				provider: model.provider,
				model: model.id,
				usage: usageOf(previous, request, content),
				stopReason,
				timestamp: Date.now(),
			};
			previous = request;
			return stream(message, stopReason);
		},
	});
}

function record(request: SentRequest): void {
	const file = process.env[REQUESTS_FILE];
	if (file === undefined) throw new Error(`${REQUESTS_FILE} must name the file for the requests`);
	appendFileSync(file, `${JSON.stringify(request)}\n`);
}

/** A step whose tool the request does not declare is skipped: without mulligan the same work goes on without it. */
function nextStep(remaining: Step[], tools: readonly string[]): Step {
	for (let step = remaining.shift(); step !== undefined; step = remaining.shift()) {
		if (step.call === undefined || tools.includes(step.call.name)) return step;
	}
	throw new Error("the script of the demo has ended, and pi asks for one more response");
}

function respond(step: Step): AssistantMessage["content"] {
	const text = { type: "text" as const, text: step.says };
	if (step.call === undefined) return [text];
	const call: ToolCall = {
		type: "toolCall",
		id: callId(step.id),
		name: step.call.name,
		arguments: structuredClone(step.call.arguments),
	};
	return [text, call];
}

function usageOf(previous: SentRequest, request: SentRequest, content: SentMessage["content"]) {
	const cache = simulateCache([previous, request])[1] ?? { read: 0, written: 0 };
	const output = messagesTokens([{ role: "assistant", content }]);
	return {
		input: 0,
		output,
		cacheRead: cache.read,
		cacheWrite: cache.written,
		totalTokens: cache.read + cache.written + output,
		cost: { ...unpriced, total: 0 },
	};
}

function stream(message: AssistantMessage, reason: "stop" | "toolUse") {
	const events = createAssistantMessageEventStream();
	queueMicrotask(() => {
		events.push({ type: "start", partial: { ...message, content: [] } });
		events.push({ type: "done", reason, message });
		events.end(message);
	});
	return events;
}
