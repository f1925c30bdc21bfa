import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import type { BranchSource } from "../kernel/branch.ts";
import type { FreshResult } from "../kernel/hooks.ts";
import { Isolation, messageOfError, owner } from "../kernel/isolate.ts";
import type { Kernel } from "../kernel/kernel.ts";
import {
	type AssistantMessage,
	blocksOf,
	type Content,
	type Message,
	type ToolResultMessage,
} from "../kernel/messages.ts";
import type { Ending, Op } from "../kernel/moments.ts";
import type { Surroundings } from "../kernel/session.ts";
import { textTokens } from "../kernel/tokens.ts";
import type { Alignment } from "./align.ts";
import { applyToLeaving, type LeavingPreparation } from "./branch-summary.ts";
import { applyToPreparation, type Preparation } from "./compaction.ts";
import { onAnyEvent } from "./host.ts";
import { type Persistence, restoreNow, withOwedEdits } from "./native.ts";
import type { Refusals } from "./refusal.ts";
import { showStatus } from "./status.ts";
import type { Witness } from "./witness.ts";

/** The session of this moment: its kernel, and what the adapter remembers of its requests. */
export interface Attached {
	readonly kernel: Kernel;
	readonly alignment: Alignment;
	/** The ops that a compaction under way keeps out of its summary. */
	readonly riding: { ops: readonly Op[] };
	readonly witness: Witness;
	readonly refusals: Refusals;
	readonly persistence: Persistence;
}

interface ModelName {
	readonly provider: string;
	readonly id: string;
}

interface ModelChange {
	readonly model: ModelName;
	readonly previousModel: ModelName | undefined;
}

type Handler = (attached: Attached, event: never, context: ExtensionContext) => unknown;

/**
 * Routes Pi's events into the session's kernel. `current` is undefined until a session has started and while mulligan
 * is disabled: then nothing is touched. A fault in here is logged, and Pi goes on as if there were no handler.
 */
export function attach(
	pi: ExtensionAPI,
	{
		current,
		enter,
		surroundings,
		log,
	}: {
		readonly current: () => Attached | undefined;
		/** Note the context of the event that is being handled. */
		readonly enter: (context: ExtensionContext) => void;
		readonly surroundings: LiveSurroundings;
		readonly log: (line: string) => void;
	},
): void {
	const adapter = owner("mulligan");
	const isolation = new Isolation(({ hook, error }) => log(`failed at ${hook}: ${messageOfError(error)}`));
	const on = (event: string, handler: Handler) =>
		onAnyEvent(pi)(event, (payload, context) => {
			const attached = current();
			if (!attached) return undefined;
			const code = () => {
				enter(context);
				attached.kernel.enter(sourceOf(context), surroundings);
				return handler(attached, payload, context);
			};
			return isolation.run<unknown>(adapter, event, code, { otherwise: () => undefined });
		});

	// From 0.87 on a changed list from `context` folds all system messages into one and loses the cache.
	on("context", (attached, event, context) => (hasProjection(context) ? undefined : rewrite(attached, event)));
	on("context_with_system", rewrite);
	on("turn_start", ({ kernel }, { turnIndex }: { turnIndex: number }) => {
		if (turnIndex === 0) surroundings.startRun();
		kernel.moments.startTurn();
	});
	on("turn_end", async ({ kernel, persistence }, event: { turnIndex: number; entries?: unknown }, context) => {
		await kernel.hooks.onTurnEnd.promise({ turnIndex: event.turnIndex });
		showStatus(kernel, context);
		return withOwedEdits(kernel, event, persistence);
	});
	on("tool_result", changeResult);
	on("message_end", ({ kernel, refusals }, { message }: { message: Message }) => {
		if (message.role === "toolResult") return completeResult(kernel, message);
		if (message.role !== "assistant") return undefined;
		if (message.errorMessage !== undefined) refusals.answer(message.errorMessage);
		return changeResponse(kernel, message);
	});
	on("session_before_compact", compact);
	on("session_compact", async ({ kernel, riding }, { reason }: { reason: string }, context) => {
		kernel.moments.rideNow("compaction", riding.ops);
		riding.ops = [];
		await kernel.hooks.onCompact.promise({ reason });
		showStatus(kernel, context);
	});
	on("session_before_tree", ({ kernel }, { preparation }: { preparation: LeavingPreparation }) =>
		applyToLeaving(preparation, kernel.durable()),
	);
	on("session_tree", async ({ kernel }, _event, context) => {
		restoreNow(pi, kernel, context);
		await kernel.hooks.onSession.promise({ reason: "tree" });
		showStatus(kernel, context);
	});
	on("model_select", ({ kernel }, { model, previousModel }: ModelChange, context) => {
		if (previousModel && nameOf(previousModel) !== nameOf(model)) kernel.moments.rideNow("model change");
		showStatus(kernel, context);
	});
	on("agent_settled", ({ kernel }, _event, context) => {
		restoreNow(pi, kernel, context);
		return kernel.hooks.onSettled.promise();
	});
}

/** Where the branch is read from, for one event. */
export function sourceOf(context: ExtensionContext): BranchSource {
	return context.sessionManager as unknown as BranchSource;
}

/** Where the session stands now: read only when it is asked for, from the context of the event that is being handled. */
export class LiveSurroundings implements Surroundings {
	readonly #pi: ExtensionAPI;
	readonly #context: () => ExtensionContext;
	#promptTokens: number | undefined;

	constructor(pi: ExtensionAPI, context: () => ExtensionContext) {
		this.#pi = pi;
		this.#context = context;
	}

	get cwd(): string {
		return this.#context().cwd;
	}

	get model(): string {
		const { model } = this.#context();
		return model ? nameOf(model) : "";
	}

	get window(): number | undefined {
		return this.#context().model?.contextWindow;
	}

	get activeTools(): readonly string[] {
		return this.#pi.getActiveTools();
	}

	/** Worked out once a run: Pi puts the prompt together anew at each reading. */
	get promptTokens(): number {
		this.#promptTokens ??= textTokens(this.#context().getSystemPrompt()) + textTokens(this.#declarations());
		return this.#promptTokens;
	}

	/** A run starts: its prompt and tools may be others. */
	startRun(): void {
		this.#promptTokens = undefined;
	}

	#declarations(): string {
		const active = new Set(this.#pi.getActiveTools());
		return this.#pi
			.getAllTools()
			.filter(({ name }) => active.has(name))
			.map(({ name, description, parameters }) => JSON.stringify({ name, description, parameters }))
			.join("");
	}
}

function nameOf({ provider, id }: ModelName): string {
	return `${provider}/${id}`;
}

/** Pi 0.87 and later build each request from a projection of the session. */
export function hasProjection(context: ExtensionContext): boolean {
	return typeof (context.sessionManager as { buildSessionProjection?: unknown }).buildSessionProjection === "function";
}

function rewrite(
	{ kernel, alignment, witness }: Attached,
	event: { messages: Message[] },
): { messages: Message[] } | undefined {
	witness.look(event.messages, kernel.branch);
	const { durable, annotations } = kernel.requestView();
	const messages = alignment.apply(event.messages, durable, kernel.branch);
	if (annotations.length === 0) return messages && { messages };
	return { messages: [...(messages ?? event.messages), annotation(annotations)] };
}

/** One message at the tail: the whole prefix before it stays in the prompt cache. */
function annotation(lines: readonly string[]): Message {
	const content = lines.join("\n");
	return { role: "custom", customType: "mulligan:annotation", content, display: false, timestamp: Date.now() };
}

async function changeResult(
	{ kernel }: Attached,
	event: FreshResult & {
		toolCallId: string;
		toolName: string;
		input: unknown;
		parentToolCallId?: string;
		structuredContent?: unknown;
	},
): Promise<object | undefined> {
	if (!kernel.hooks.onToolResult.isUsed()) return undefined;
	const { content, details, isError, toolCallId, toolName, input, parentToolCallId, structuredContent } = event;
	const fresh: FreshResult = { content, details, isError };
	const call = { toolCallId, toolName, input, ...(parentToolCallId === undefined ? {} : { parentToolCallId }) };
	const changed = await kernel.hooks.onToolResult.promise(fresh, call);
	if (changed === fresh) return undefined;
	const { content: newContent, details: newDetails, isError: newIsError } = changed;
	const structured = structuredContent === undefined ? {} : { structuredContent };
	return { content: newContent, details: newDetails, isError: newIsError, ...structured };
}

async function changeResponse(kernel: Kernel, message: AssistantMessage): Promise<object | undefined> {
	kernel.observeUsage(message.usage);
	if (!kernel.hooks.onAssistantMessage.isUsed()) return undefined;
	const changed = await kernel.hooks.onAssistantMessage.promise(message);
	return changed === message ? undefined : { message: changed };
}

/** The ops of a turn are decided before the first of its results is stored; each result then tells its op's fate. */
function completeResult(kernel: Kernel, message: ToolResultMessage): object | undefined {
	kernel.moments.settle();
	const ending = kernel.moments.endingOf(message.toolCallId);
	return ending ? { message: { ...message, content: withEnding(message.content, ending) } } : undefined;
}

function withEnding(content: Content, { text, replaces }: Ending): Content {
	const blocks = blocksOf(content);
	const last = blocks.at(-1);
	if (replaces) return [{ type: "text", text }];
	if (last?.type !== "text") return [...blocks, { type: "text", text }];
	return [...blocks.slice(0, -1), { ...last, text: `${last.text}\n${text}` }];
}

interface CompactionEvent {
	readonly preparation: Preparation;
	readonly branchEntries: readonly { readonly type: string; readonly details?: unknown }[];
}

/**
 * What waits is kept out of the summary as well: it becomes active with the compaction, or nothing has changed. What a
 * plugin holds back stays in the view, so it is summarised.
 */
function compact({ kernel, riding }: Attached, { preparation, branchEntries }: CompactionEvent): void {
	const earlier = branchEntries.findLast(({ type }) => type === "compaction")?.details;
	const { readFiles, modifiedFiles } = (earlier ?? {}) as {
		readonly readFiles?: unknown;
		readonly modifiedFiles?: unknown;
	};
	const keptFiles = new Set([readFiles, modifiedFiles].flatMap((list): string[] => (Array.isArray(list) ? list : [])));
	const { view, ops } = kernel.moments.beforeCompaction();
	riding.ops = ops;
	applyToPreparation(preparation, { view, branch: kernel.branch, keptFiles });
}
