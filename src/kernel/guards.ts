import type { FreshResult, HookName, TapGuard } from "./hooks.ts";
import type { AssistantMessage, Message } from "./messages.ts";
import type { Trace } from "./trace.ts";
import type { ViewDraft } from "./view.ts";

const input: TapGuard["otherwise"] = (_who, [value]) => value;

/** The rules of the hooks that no other part of the kernel has rules for. */
export function guardsFor(trace: Trace): Partial<Record<HookName, TapGuard>> {
	return { ...CHANGES, onView: viewGuard(trace) };
}

const CHANGES: Partial<Record<HookName, TapGuard>> = {
	onToolResult: {
		otherwise: input,
		complaint: (value, [result]) =>
			value === result || isFreshResult(value)
				? undefined
				: `returned ${typeof value}, no tool result; return the input`,
	},
	onAssistantMessage: {
		otherwise: input,
		complaint: (value, [message]) =>
			value === message || isAssistant(value)
				? undefined
				: `returned ${typeof value}, no assistant message; return the input`,
	},
};

function viewGuard(trace: Trace): TapGuard {
	return {
		open: (who, [view]) => {
			const lines: string[] = [];
			const shared = view as ViewDraft;
			const done = () => {
				lines.forEach(shared.annotate);
				trace.annotated(who, lines);
			};
			return { args: [ownDraft(shared, lines)], done };
		},
	};
}

/** A draft for one tap: what it annotates counts only if it returns. */
function ownDraft(shared: ViewDraft, lines: string[]): ViewDraft {
	return {
		tokens: shared.tokens,
		get window() {
			return shared.window;
		},
		get share() {
			return shared.share;
		},
		has: shared.has,
		entries: shared.entries,
		annotate: (line) => lines.push(String(line)),
	};
}

function isFreshResult(value: unknown): value is FreshResult {
	return Array.isArray((value as Partial<FreshResult> | null | undefined)?.content);
}

function isAssistant(value: unknown): value is AssistantMessage {
	const message = value as Partial<Message> | null | undefined;
	return message?.role === "assistant" && "content" in message && Array.isArray(message.content);
}
