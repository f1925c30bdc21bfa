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
			return callLabel(message.toolName, call?.arguments, session);
		}
		case "assistant": {
			const [call, ...more] = toolCallsOf(message);
			if (!call) return oneLine(shownText(message));
			const others = more.length > 0 ? ` and ${more.length} more call(s)` : "";
			return `→ ${callLabel(call.name, call.arguments, session)}${others}`;
		}
		case "custom":
			return spaced(oneLine(message.customType), oneLine(shownText(message)));
		default:
			return oneLine(shownText(message));
	}
}

/** A tool with what it was called with; not so our own, whose arguments the model must not read twice. */
function callLabel(toolName: string, args: unknown, session: Session): string {
	return spaced(oneLine(toolName), OWN_TOOL.test(toolName) ? "" : argumentHint(args, session));
}

/** Arguments that tell what a call was about, in the order in which they are shown. */
const TELLING = ["command", "pattern", "query", "path", "file_path", "url"];

/** The telling part of a call's arguments on one line; else its first text. */
function argumentHint(args: unknown, { cwd }: Session): string {
	if (typeof args !== "object" || args === null) return "";
	const texts = Object.entries(args).flatMap(([key, value]) => (typeof value === "string" ? [{ key, value }] : []));
	const telling = TELLING.flatMap((name) => texts.filter(({ key }) => key === name));
	return (telling.length > 0 ? telling : texts.slice(0, 1)).map((text) => hintOf(text, cwd)).join(" in ");
}

/** Where a command only goes to a folder first, what it does there is what tells. */
const GOES_THERE_FIRST = /^\s*cd\s+(?:"[^"]*"|'[^']*'|[^\s&;|]+)\s*&&\s*/;

function hintOf({ key, value }: { readonly key: string; readonly value: string }, cwd: string): string {
	if (key === "command") return oneLine(value.replace(GOES_THERE_FIRST, ""));
	if (key !== "path" && key !== "file_path") return oneLine(value);
	return endOf(value.startsWith(cwd) && /^[\\/]./.test(value.slice(cwd.length)) ? value.slice(cwd.length + 1) : value);
}

/** Characters of a text that stands for a whole one. */
const MOST_CHARS = 48;

/** The beginning of a text on one line. */
function oneLine(text: string): string {
	const line = [...plain(text.trimStart().slice(0, 8 * MOST_CHARS))];
	return line.length <= MOST_CHARS ? line.join("") : `${line.slice(0, MOST_CHARS - 1).join("")}…`;
}

/** The end of a path on one line: names begin alike where they are long. */
function endOf(path: string): string {
	const line = [...plain(path.slice(-8 * MOST_CHARS))];
	return line.length <= MOST_CHARS ? line.join("") : `…${line.slice(1 - MOST_CHARS).join("")}`;
}

/** A text without line breaks and without what would move the cursor of a terminal. */
function plain(text: string): string {
	return text.replace(/[\s\p{Cc}\p{Cf}\p{Cs}]+/gu, " ").trim();
}

function spaced(...parts: readonly string[]): string {
	return parts.filter(Boolean).join(" ");
}
