import type { SessionEntry } from "@earendil-works/pi-coding-agent";
import { type SentMessage, textOf } from "./request.ts";

/** What reading a session file takes from the Pi that wrote it. */
export type PiModule = Pick<
	typeof import("@earendil-works/pi-coding-agent"),
	"convertToLlm" | "parseSessionEntries" | "sessionEntryToContextMessages"
>;

/** The entries of the branch that a session file ends on, oldest first. */
export function readBranch(pi: PiModule, file: string): SessionEntry[] {
	const entries = pi.parseSessionEntries(file).filter((entry) => entry.type !== "session");
	const byId = new Map(entries.map((entry) => [entry.id, entry]));
	const branch: SessionEntry[] = [];
	for (let entry = entries.at(-1); entry; entry = entry.parentId === null ? undefined : byId.get(entry.parentId)) {
		branch.unshift(entry);
	}
	return branch;
}

/** A response on a branch. */
export interface Response {
	/** The id of its first tool call; undefined: it called none. */
	readonly toolCallId: string | undefined;
	/** What Pi would have sent for it with every original and no note. */
	readonly originals: readonly SentMessage[];
}

/** The responses of a branch, in order. */
export function responsesOf(pi: PiModule, branch: readonly SessionEntry[]): Response[] {
	return branch.flatMap((entry, index) => {
		if (entry.type !== "message" || entry.message.role !== "assistant") return [];
		const call = entry.message.content.find((block) => block.type === "toolCall");
		return [{ toolCallId: call?.id, originals: originals(pi, branch.slice(0, index)) }];
	});
}

/** The text of each tool result as the session file holds it, by tool call id. */
export function storedResults(branch: readonly SessionEntry[]): Map<string, string> {
	const results = new Map<string, string>();
	for (const entry of branch) {
		if (entry.type !== "message" || entry.message.role !== "toolResult") continue;
		results.set(entry.message.toolCallId, textOf(entry.message));
	}
	return results;
}

function originals(pi: PiModule, entries: readonly SessionEntry[]): SentMessage[] {
	const untouched = entries.filter((entry) => entry.type !== "context_edit" && !isNote(entry));
	const messages: SentMessage[] = pi.convertToLlm(
		untouched.flatMap((entry) => pi.sessionEntryToContextMessages(entry)),
	);
	return messages.filter((message) => message.role !== "system");
}

function isNote(entry: SessionEntry): boolean {
	return entry.type === "custom_message" && entry.customType === "mulligan:note";
}
