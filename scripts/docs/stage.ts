import type { ExtensionAPI, SessionEntry } from "@earendil-works/pi-coding-agent";
import { DEFAULT_PLUGINS } from "../../src/default-set.ts";
import { type Call, type OpenSessionOptions, openSession, type TestSession, textOf } from "../../src/testing/index.ts";

/** One text, as someone read it in a session. */
export interface Told {
	/** On what occasion it is read. */
	readonly when: string;
	readonly text: string;
	/** Of a refusal: its `details.refused`. */
	readonly code?: string;
}

/** Puts a text under one of the page's sections. */
export type Tell = (section: string, told: Told) => void;

/** Settings under which every op is active at once. */
export const AT_ONCE = { rewrites: { maxMoments: 1000, flushShedTokens: 0 } };

const OWN_TOOLS = DEFAULT_PLUGINS.flatMap(({ tools = [] }) => tools.map(({ name }) => name));
const WORK = ["grep", "read", "write", "bash"];
/** Characters of a result, unless a call says otherwise. */
const USUAL_CHARS = 2_000;

const work = ({ chars }: Record<string, unknown>) =>
	"total 0123456789\n".repeat(5_000).slice(0, Number(chars ?? USUAL_CHARS));

/** A session in memory on the newest Pi. Its prompt and tools are ours, so that figures do not depend on Pi's. */
export function openStage(
	mulligan: object = {},
	{ tools = {}, activeTools = [], ...more }: OpenSessionOptions = {},
): Promise<TestSession> {
	const names = [...WORK, ...Object.keys(tools), ...OWN_TOOLS, ...activeTools];
	return openSession({
		persist: false,
		tools: { ...Object.fromEntries(WORK.map((name) => [name, work])), ...tools },
		activeTools: names,
		extensions: [plainPrompt],
		settings: { mulligan, compaction: { enabled: false, keepRecentTokens: 10 } },
		...more,
	});
}

function plainPrompt(pi: ExtensionAPI): void {
	pi.on("before_agent_start", () => ({ systemPrompt: "You are a coding agent." }));
}

/** One prompt of the human; the model makes these calls, one list a message. No usage is reported: nothing is calibrated. */
export async function play(session: TestSession, ...messages: readonly (readonly Call[])[]): Promise<void> {
	session.script(...messages.map((calls) => ({ calls, usage: {} })), { text: "Done.", usage: {} });
	await session.prompt("Where is total used?");
}

/** Calls as the model makes them. */
export const call = {
	work: (id: string, name: string, args: Record<string, unknown> = {}): Call => ({ id, name, args }),
	grep: (id: string, chars = USUAL_CHARS): Call => ({ id, name: "grep", args: { pattern: "total", chars } }),
	rewind: (id: string, args: Record<string, unknown> = {}): Call => ({
		id,
		name: "mulligan_rewind",
		args: { note: note("grep over everything, mostly vendored code"), granularity: "last_tool_call_group", ...args },
	}),
	shrink: (id: string, target: string | object, replacement = "total is used in src/a.ts only"): Call => ({
		id,
		name: "mulligan_shrink",
		args: { target: typeof target === "string" ? { by_tool_call_id: target } : target, replacement },
	}),
	cancel: (id: string, args: Record<string, unknown>): Call => ({ id, name: "mulligan_cancel", args }),
	audit: (id: string, args: Record<string, unknown> = {}): Call => ({ id, name: "mulligan_audit", args }),
};

export function note(whatHappened: string) {
	return { what_happened: whatHappened, true_current_state: "nothing changed", next: "grep in src only" };
}

/** What the model was told by the stored result of a call. */
export function answer(session: TestSession, callId: string, when: string): Told {
	for (const entry of session.branch().reverse()) {
		if (entry.type !== "message" || entry.message.role !== "toolResult" || entry.message.toolCallId !== callId)
			continue;
		const { refused } = (entry.message.details ?? {}) as { readonly refused?: string };
		return { when, text: textOf(entry.message), ...(refused === undefined ? {} : { code: refused }) };
	}
	throw new Error(`The call "${callId}" has no result.`);
}

/** The id of the marker that a call asked for. */
export function markerOf(session: TestSession, callId: string): string {
	const ids = session.branch().flatMap((entry) => {
		if (entry.type !== "message" || entry.message.role !== "toolResult" || entry.message.toolCallId !== callId)
			return [];
		return (entry.message.details as { readonly markerId?: string } | undefined)?.markerId ?? [];
	});
	return found(ids[0], `marker of ${callId}`);
}

/** The newest thing that the human was notified of. */
export function notified(session: TestSession, when: string): Told {
	return { when, text: found(session.ui.notifications.at(-1), "notification").message };
}

/** What a command of the human's is answered. */
export async function commanded(session: TestSession, command: string, when: string): Promise<Told> {
	await session.prompt(command);
	return notified(session, when);
}

type Row = (entry: object, options: { readonly expanded: boolean }) => { render(width: number): string[] } | undefined;

/** How the newest entry of a custom type looks in the transcript. */
export function row(
	session: TestSession,
	type: string,
	{ when, expanded = false }: { when: string; expanded?: boolean },
): Told {
	const { extensionRunner } = session.session;
	const entry = found(newest(session, type), `${type} entry`);
	const isMessage = entry.type === "custom_message";
	const renderer = isMessage ? extensionRunner.getMessageRenderer(type) : extensionRunner.getEntryRenderer(type);
	const shown = found((renderer as Row | undefined)?.(entry, { expanded }), `row of ${type}`);
	return { when, text: lines(shown.render(1_000)) };
}

/** How the result of a tool of ours looks in the transcript. */
export function toolRow(
	session: TestSession,
	{ name, text, when, expanded }: { name: string; text: string; when: string; expanded: boolean },
): Told {
	const render = session.session.getToolDefinition(name)?.renderResult as unknown as Row | undefined;
	const shown = found(render?.({ content: [{ type: "text", text }] }, { expanded }), `row of ${name}`);
	return { when, text: lines(shown.render(1_000)) };
}

/** The newest note, as the model reads it. */
export function newestNote(session: TestSession, when: string): Told {
	const noted = session.lastRequest.messages.map((message) => textOf(message));
	return {
		when,
		text: found(
			noted.findLast((text) => text.startsWith("Rewound")),
			"note in the last request",
		),
	};
}

/** The newest entry of a custom type. */
function newest(session: TestSession, type: string) {
	return session
		.entries()
		.filter((entry): entry is Extract<SessionEntry, { type: "custom" | "custom_message" }> => "customType" in entry)
		.findLast(({ customType }) => customType === type);
}

export function found<T>(value: T | undefined, what: string): T {
	if (value === undefined) throw new Error(`There is no ${what}.`);
	return value;
}

function lines(rendered: readonly string[]): string {
	return rendered.map((line) => line.trimEnd().slice(1)).join("\n");
}

/** A report with one id in place of Pi's random ones, of their length. */
export function withoutIds(told: Told): Told {
	return { ...told, text: told.text.replace(/^ {2}[0-9a-f]{8} (?=rewind|shrink)/gm, "  1a2b3c4d ") };
}
