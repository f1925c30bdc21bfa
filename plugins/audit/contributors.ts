import {
	type ContextEntry,
	type Message,
	OWN_TOOL,
	type PluginApi,
	shownText,
	toolCallsOf,
	type ViewedEntry,
} from "../../src/plugin.ts";

type Session = PluginApi["session"];

/** What a message is called in the report. */
export type Kind = "user" | "assistant" | "result" | "custom" | "bash" | "summary" | "system";

const KINDS: Readonly<Record<Message["role"], Kind>> = {
	user: "user",
	assistant: "assistant",
	toolResult: "result",
	custom: "custom",
	bashExecution: "bash",
	branchSummary: "summary",
	compactionSummary: "summary",
	system: "system",
};

export function kindOf({ role }: Message): Kind {
	return KINDS[role];
}

/** The messages that take the most tokens, the largest first; of equal ones the older. */
export function largest(view: readonly ViewedEntry[], top: number): readonly ViewedEntry[] {
	return [...view].sort((a, b) => b.tokens - a.tokens).slice(0, top);
}

/** Messages of each kind with their plain tokens, the largest kind first. */
export function byKind(view: readonly ViewedEntry[]): readonly { kind: Kind; count: number; tokens: number }[] {
	const sums = new Map<Kind, { kind: Kind; count: number; tokens: number }>();
	for (const { entry, tokens } of view) {
		const kind = kindOf(entry.message);
		const sum = sums.get(kind) ?? { kind, count: 0, tokens: 0 };
		sums.set(kind, { kind, count: sum.count + 1, tokens: sum.tokens + tokens });
	}
	return [...sums.values()].sort((a, b) => b.tokens - a.tokens);
}

/** What tells a message apart from the others, on one line: its tool and what that was called with, or how its text begins. */
export function labelOf({ id, message }: ContextEntry, session: Session): string {
	switch (message.role) {
		case "toolResult": {
			const call = session.groupOf(id)?.calls.find((made) => made.id === message.toolCallId);
			return callLabel(message.toolName, call?.arguments);
		}
		case "assistant": {
			const [call, ...more] = toolCallsOf(message);
			if (!call) return oneLine(shownText(message));
			const others = more.length > 0 ? ` and ${more.length} more call(s)` : "";
			return `→ ${callLabel(call.name, call.arguments)}${others}`;
		}
		case "custom":
			return spaced(oneLine(message.customType), oneLine(shownText(message)));
		default:
			return oneLine(shownText(message));
	}
}

/** A tool with what it was called with; not so our own, whose arguments the model must not read twice. */
function callLabel(toolName: string, args: unknown): string {
	return spaced(oneLine(toolName), OWN_TOOL.test(toolName) ? "" : argumentHint(args));
}

/** Arguments that tell what a call was about, in the order in which they are shown. */
const TELLING = ["command", "pattern", "query", "path", "file_path", "url"];

/** The telling part of a call's arguments on one line; else its first text. */
function argumentHint(args: unknown): string {
	if (typeof args !== "object" || args === null) return "";
	const texts = Object.entries(args).flatMap(([key, value]) => (typeof value === "string" ? [{ key, value }] : []));
	const telling = TELLING.flatMap((name) => texts.filter(({ key }) => key === name));
	return (telling.length > 0 ? telling : texts.slice(0, 1)).map(({ value }) => oneLine(value)).join(" in ");
}

/** Characters of a text that stands for a whole one. */
const MOST_CHARS = 48;

/** The beginning of a text on one line, without what would move the cursor of a terminal. */
function oneLine(text: string): string {
	const start = text.trimStart().slice(0, 8 * MOST_CHARS);
	const line = [...start.replace(/[\s\p{Cc}\p{Cf}\p{Cs}]+/gu, " ").trim()];
	return line.length <= MOST_CHARS ? line.join("") : `${line.slice(0, MOST_CHARS - 1).join("")}…`;
}

function spaced(...parts: readonly string[]): string {
	return parts.filter(Boolean).join(" ");
}
