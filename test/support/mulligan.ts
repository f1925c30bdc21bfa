import type { SessionEntry } from "@earendil-works/pi-coding-agent";
import { type Call, type OpenSessionOptions, openSession, type TestSession } from "../../src/testing/index.ts";
import type { TerminalPi } from "./terminal.ts";

/** A note that passes validation. */
export const note = (what = "the grep was too wide") => ({
	what_happened: what,
	true_current_state: "nothing has changed",
	next: "search in src only",
});

/** Calls of the three tools, as the model would make them. */
export const call = {
	tool: (id: string, name: string, args: Record<string, unknown> = {}): Call => ({ id, name, args }),
	rewind: (id: string, args: Record<string, unknown> = {}): Call => ({
		id,
		name: "mulligan_rewind",
		args: { note: note(), granularity: "last_tool_call_group", ...args },
	}),
	shrink: (id: string, target: Record<string, unknown>, replacement = "short"): Call => ({
		id,
		name: "mulligan_shrink",
		args: { target, replacement },
	}),
	cancel: (id: string, args: Record<string, unknown>): Call => ({ id, name: "mulligan_cancel", args }),
};

/** A tool result that is long enough to be shrunk, with a needle to look for. */
export const bulk = (needle: string, lines = 40) => `${needle}\n${"0123456789abcdef\n".repeat(lines)}`;

type Custom = Extract<SessionEntry, { type: "custom" }>;

/** The data of the session's custom entries of one type, in file order. */
export function records(session: TestSession, type: string): Record<string, unknown>[] {
	return session
		.entries()
		.filter((entry): entry is Custom => entry.type === "custom" && entry.customType === type)
		.map((entry) => entry.data as Record<string, unknown>);
}

const OWN_TO_ONE_RUN = new Set(["timestamp", "usage", "durationMs", "responseId"]);

/** What of messages reaches a provider: everything but times and bills. */
export function wire(messages: readonly object[] = []): unknown[] {
	return messages.map((message) =>
		JSON.parse(JSON.stringify(message, (key, value) => (OWN_TO_ONE_RUN.has(key) ? undefined : value))),
	);
}

/** Types the command that revokes a checkpoint: the first Enter takes the completion of its name. */
export async function revokeCheckpoint(terminal: TerminalPi, name: string): Promise<void> {
	terminal.type(`/mulligan_checkpoint_revoke ${name}`);
	await terminal.shows(`→ ${name}`);
	terminal.press("Enter");
	await terminal.hides(`→ ${name}`);
	terminal.press("Enter");
}

/** Rules under which every op is active at once. */
export const atOnce = { rewrites: { maxMoments: 1000, flushShedTokens: 0 } };

/** A session in which every op is active at once, whatever else its settings say. */
export function openAtOnce(options: OpenSessionOptions): Promise<TestSession> {
	const mulligan = { ...atOnce, ...(options.settings?.mulligan as object | undefined) };
	return openSession({ ...options, settings: { ...options.settings, mulligan } });
}
