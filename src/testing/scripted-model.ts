import type { ProviderConfig } from "@earendil-works/pi-coding-agent";
import type { AssistantMessage, StreamSimple, SystemMessage, ToolArguments, Usage, WireMessage } from "./messages.ts";
import { createPromptCache, type PromptCache } from "./prompt-cache.ts";

export const SCRIPTED_PROVIDER = "scripted";

export interface ModelSpec {
	id: string;
	/** Tokens; 128,000 unless given. */
	contextWindow?: number;
	/** Tokens; 16,384 unless given. */
	maxTokens?: number;
	reasoning?: boolean;
	input?: ("text" | "image")[];
}

export interface Call {
	id: string;
	name: string;
	/** Plain JSON. */
	args: Record<string, unknown>;
}

/** One answer of the model, in short. */
export interface Reply {
	thinking?: string;
	text?: string;
	calls?: readonly Call[];
	/** Ends the response as a provider error with this text. */
	error?: string;
	/** `toolUse` with calls, `stop` without, unless given. */
	stopReason?: AssistantMessage["stopReason"];
	/** Replaces the figures that the simulated prompt cache would report; what is left out is 0, `totalTokens` their sum. */
	usage?: Partial<Omit<Usage, "cost">>;
	/** Milliseconds before the answer starts; an abort ends the wait. */
	delayMs?: number;
}

type Answer = string | Reply | AssistantMessage;
/** A text, a reply, a whole assistant message (as from Pi's `fauxAssistantMessage`), or a function of the request. */
export type Step = Answer | ((request: ModelRequest) => Answer | Promise<Answer>);

export interface ToolDeclaration {
	name: string;
	description: string;
	parameters: unknown;
}

/** What Pi handed to the provider, as JSON. Until 0.85 the prompt and the tools stand beside the messages, from 0.86 on inside. */
export interface RawRequest {
	systemPrompt?: string;
	tools?: ToolDeclaration[];
	messages: WireMessage[];
}

export interface ModelRequest {
	/** The prompt: every system text, in order. */
	system: string;
	/** The tools the model may call. */
	tools: ToolDeclaration[];
	/** The conversation without system messages. */
	messages: Exclude<WireMessage, SystemMessage>[];
	raw: RawRequest;
	/** Id of the model that was asked. */
	model: string;
	/** What the answer reported; undefined while there is no answer. */
	usage: Usage | undefined;
}

export interface ScriptedModel {
	/** Every request so far, summaries for compactions included. */
	readonly requests: ModelRequest[];
	/** Requests that found no step; each was answered by an error. */
	readonly unanswered: ModelRequest[];
	/** What `registerProvider("scripted", …)` takes. */
	readonly provider: ProviderConfig;
	/** Appends steps; each answers one request. */
	script(...steps: Step[]): void;
	/** Answers every request that finds no step. */
	otherwise(step: Step): void;
}

export interface ScriptedModelOptions {
	/** `createAssistantMessageEventStream` of the Pi that asks. */
	createStream: () => ReturnType<StreamSimple>;
	models: readonly ModelSpec[];
	/** Hears of each request before it is answered. */
	onRequest?: (request: ModelRequest) => void;
	/** Hears of each answer when it is complete. */
	onAnswer?: (request: ModelRequest) => void;
}

/** A provider whose models answer from a script and report the figures of a simulated prompt cache. */
export function createScriptedModel(options: ScriptedModelOptions): ScriptedModel {
	const steps: Step[] = [];
	const requests: ModelRequest[] = [];
	const unanswered: ModelRequest[] = [];
	const cache = createPromptCache();
	let fallback: Step | undefined;

	function nextStep(request: ModelRequest): Step {
		const step = steps.shift() ?? fallback;
		if (step !== undefined) return step;
		unanswered.push(request);
		return { error: `The script has no answer for request ${requests.length}.` };
	}

	async function answer(request: ModelRequest, { model, cacheKey, signal }: Asked): Promise<AssistantMessage> {
		const step = nextStep(request);
		const given = await Promise.race([resolveStep(step, request, signal), aborted(signal)]);
		const message = {
			...expand(given),
			api: model.api,
			provider: model.provider,
			model: model.id,
			timestamp: Date.now(),
		};
		request.usage = message.usage = reportedUsage(given, message, request, cacheKey, cache);
		options.onAnswer?.(request);
		return message;
	}

	const streamSimple: StreamSimple = (model, context, streamOptions) => {
		const stream = options.createStream();
		const run = async () => {
			const sent = ((await streamOptions?.onPayload?.(context, model)) ?? context) as RawRequest;
			const request = recordRequest(sent, model.id);
			requests.push(request);
			options.onRequest?.(request);
			const cacheKey = streamOptions?.cacheRetention === "none" ? undefined : `${streamOptions?.sessionId} ${model.id}`;
			const message = await answer(request, { model, cacheKey, signal: streamOptions?.signal });
			await streamOptions?.onResponse?.({ status: 200, headers: {} }, model);
			deliver(stream, message);
		};
		run().catch((error: unknown) =>
			deliver(stream, { ...failure(String(error)), api: model.api, provider: model.provider, model: model.id }),
		);
		return stream;
	};

	return {
		requests,
		unanswered,
		provider: {
			name: "Scripted",
			baseUrl: "http://127.0.0.1:0",
			apiKey: "none",
			api: "scripted",
			models: options.models.map(modelConfig),
			streamSimple,
		},
		script: (...more) => void steps.push(...more),
		otherwise: (step) => {
			fallback = step;
		},
	};
}

interface Asked {
	model: Parameters<StreamSimple>[0];
	cacheKey: string | undefined;
	signal: AbortSignal | undefined;
}

function modelConfig(spec: ModelSpec): NonNullable<ProviderConfig["models"]>[number] {
	return {
		id: spec.id,
		name: spec.id,
		reasoning: spec.reasoning ?? false,
		input: spec.input ?? ["text", "image"],
		cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
		contextWindow: spec.contextWindow ?? 128_000,
		maxTokens: spec.maxTokens ?? 16_384,
	};
}

function recordRequest(context: RawRequest, model: string): ModelRequest {
	const raw: RawRequest = JSON.parse(JSON.stringify(context));
	const systems = raw.messages.filter((message) => message.role === "system");
	return {
		system: [raw.systemPrompt ?? "", ...systems.map(systemText)].filter(Boolean).join("\n\n"),
		tools: systems.reduce(applyToolChanges, raw.tools ?? []),
		messages: raw.messages.filter((message) => message.role !== "system"),
		raw,
		model,
		usage: undefined,
	};
}

function systemText(message: SystemMessage): string {
	const content =
		typeof message.content === "string" ? message.content : message.content.map((block) => block.text).join("\n");
	return [content, ...Object.values(message.sections ?? {})].filter(Boolean).join("\n\n");
}

function applyToolChanges(tools: ToolDeclaration[], message: SystemMessage): ToolDeclaration[] {
	const replaced = new Set([...(message.toolsRemoved ?? []), ...(message.toolsAdded ?? [])].map((tool) => tool.name));
	return [...tools.filter((tool) => !replaced.has(tool.name)), ...(message.toolsAdded ?? [])];
}

async function resolveStep(step: Step, request: ModelRequest, signal: AbortSignal | undefined): Promise<Answer> {
	const given = typeof step === "function" ? await step(request) : step;
	const delayMs = typeof given === "object" && "delayMs" in given ? given.delayMs : undefined;
	if (delayMs) await pause(delayMs, signal);
	return given;
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
	return new Promise((resolve) => {
		const timer = setTimeout(resolve, ms);
		signal?.addEventListener("abort", () => clearTimeout(timer), { once: true });
	});
}

function aborted(signal: AbortSignal | undefined): Promise<AssistantMessage> {
	const message = { ...failure("Request was aborted"), stopReason: "aborted" as const };
	return new Promise((resolve) => {
		if (signal?.aborted) resolve(message);
		signal?.addEventListener("abort", () => resolve(message), { once: true });
	});
}

function expand(given: Answer): AssistantMessage {
	if (typeof given === "object" && "role" in given) return given;
	const reply = typeof given === "string" ? { text: given } : given;
	if (reply.error !== undefined) return failure(reply.error);
	const content: AssistantMessage["content"] = [];
	if (reply.thinking) content.push({ type: "thinking", thinking: reply.thinking });
	if (reply.text) content.push({ type: "text", text: reply.text });
	for (const { id, name, args } of reply.calls ?? [])
		content.push({ type: "toolCall", id, name, arguments: args as ToolArguments });
	return { ...emptyMessage(), content, stopReason: reply.stopReason ?? (reply.calls?.length ? "toolUse" : "stop") };
}

function failure(errorMessage: string): AssistantMessage {
	return { ...emptyMessage(), stopReason: "error", errorMessage };
}

function emptyMessage(): AssistantMessage {
	return {
		role: "assistant",
		content: [],
		api: SCRIPTED_PROVIDER,
		provider: SCRIPTED_PROVIDER,
		model: SCRIPTED_PROVIDER,
		usage: usageOf({}),
		stopReason: "stop",
		timestamp: Date.now(),
	};
}

function reportedUsage(
	given: Answer,
	message: AssistantMessage,
	request: ModelRequest,
	cacheKey: string | undefined,
	cache: PromptCache,
): Usage {
	if (typeof given === "object" && "role" in given && given.usage.totalTokens > 0) return given.usage;
	if (message.stopReason === "error" || message.stopReason === "aborted") return usageOf({});
	const measured = cache.measure(request.raw, message.content, cacheKey);
	return typeof given === "object" && !("role" in given) && given.usage ? usageOf(given.usage) : usageOf(measured);
}

function usageOf(figures: Partial<Omit<Usage, "cost">>): Usage {
	const { input = 0, output = 0, cacheRead = 0, cacheWrite = 0 } = figures;
	return {
		...figures,
		input,
		output,
		cacheRead,
		cacheWrite,
		totalTokens: figures.totalTokens ?? input + output + cacheRead + cacheWrite,
		cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
	};
}

function deliver(stream: ReturnType<StreamSimple>, message: AssistantMessage): void {
	let partial: AssistantMessage = { ...message, content: [] };
	stream.push({ type: "start", partial });
	message.content.forEach((block, contentIndex) => {
		partial = { ...partial, content: message.content.slice(0, contentIndex + 1) };
		if (block.type === "text") {
			stream.push({ type: "text_start", contentIndex, partial });
			stream.push({ type: "text_delta", contentIndex, delta: block.text, partial });
			stream.push({ type: "text_end", contentIndex, content: block.text, partial });
		} else if (block.type === "thinking") {
			stream.push({ type: "thinking_start", contentIndex, partial });
			stream.push({ type: "thinking_delta", contentIndex, delta: block.thinking, partial });
			stream.push({ type: "thinking_end", contentIndex, content: block.thinking, partial });
		} else {
			stream.push({ type: "toolcall_start", contentIndex, partial });
			stream.push({ type: "toolcall_delta", contentIndex, delta: JSON.stringify(block.arguments), partial });
			stream.push({ type: "toolcall_end", contentIndex, toolCall: block, partial });
		}
	});
	finish(stream, message);
}

function finish(stream: ReturnType<StreamSimple>, message: AssistantMessage): void {
	const { stopReason } = message;
	if (stopReason === "error" || stopReason === "aborted")
		stream.push({ type: "error", reason: stopReason, error: message });
	else if (stopReason !== "pending") stream.push({ type: "done", reason: stopReason, message });
	stream.end(message);
}
