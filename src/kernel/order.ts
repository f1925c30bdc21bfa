import type { ContextEntry } from "./branch.ts";
import { type EntryId, isOfAgent, isOwnNote, reachesModel } from "./messages.ts";

/**
 * What of the hidden entries must stay, so that the order of what is sent is one that providers take: it begins with a
 * message that is not the assistant's, it does not end with one, and no two of the assistant's meet where others stood
 * between them. Of each such gap the last prompt stays, or where there was none the last summary or custom message. What
 * the session has out of order by itself stays so.
 */
export function keptForOrder(context: readonly ContextEntry[], isHidden: (id: EntryId) => boolean): Set<EntryId> {
	const sent = context.filter(({ message }) => reachesModel(message));
	const kept = new Set<EntryId>();
	const keep = ({ prompt, other }: Gap) => {
		const id = prompt ?? other;
		if (id !== undefined) kept.add(id);
	};
	let isAfterResponse = sent[0]?.message.role !== "assistant";
	let gap: Gap = {};
	for (const { id, message } of sent) {
		if (isHidden(id)) {
			if (message.role === "user") gap.prompt = id;
			else if (!isOfAgent(message) && !isOwnNote(message)) gap.other = id;
			continue;
		}
		const isResponse = message.role === "assistant";
		if (isResponse && isAfterResponse) keep(gap);
		isAfterResponse = isResponse;
		gap = {};
	}
	if (isAfterResponse) keep(gap);
	return kept;
}

/** What is hidden between two messages that are seen, and could part them. */
interface Gap {
	prompt?: EntryId;
	other?: EntryId;
}
