import type { ContextEntry } from "./branch.ts";
import { type EntryId, isOfAgent, reachesModel } from "./messages.ts";

/**
 * What of the hidden entries must stay, so that the order of what is sent is one that providers take: it begins with a
 * message that is not the assistant's, it does not end with one, and no two of the assistant's meet where others stood
 * between them. Of each gap the last prompt, summary or note stays. What the session has out of order by itself stays so.
 */
export function keptForOrder(context: readonly ContextEntry[], isHidden: (id: EntryId) => boolean): Set<EntryId> {
	const kept = new Set<EntryId>();
	let afterAssistant = true;
	let separator: EntryId | undefined;
	for (const { id, message } of context) {
		if (!reachesModel(message)) continue;
		if (isHidden(id)) {
			if (!isOfAgent(message)) separator = id;
			continue;
		}
		const isAssistant = message.role === "assistant";
		if (isAssistant && afterAssistant && separator !== undefined) kept.add(separator);
		afterAssistant = isAssistant;
		separator = undefined;
	}
	if (afterAssistant && separator !== undefined) kept.add(separator);
	return kept;
}
