import type { EntryId, Message, SessionEntry } from "../kernel/messages.ts";
import type { DurableView } from "../kernel/view.ts";
import { withContent } from "./align.ts";

/** Pi's plan of the summary of a branch that is being left, as far as the view touches it. */
export interface LeavingPreparation {
	/** Live entries of the session; Pi reads this very list afterwards. */
	readonly entriesToSummarize: SessionEntry[];
}

/** Apply the view to what Pi is about to summarise: hidden entries leave the list, replaced ones are put in as copies. */
export function applyToLeaving(
	{ entriesToSummarize }: LeavingPreparation,
	{ hidden, replaced }: Pick<DurableView, "hidden" | "replaced">,
): void {
	if (hidden.size === 0 && replaced.size === 0) return;
	const left = entriesToSummarize.filter(({ id }) => !hidden.has(id)).map((entry) => asViewed(entry, replaced));
	entriesToSummarize.splice(0, entriesToSummarize.length, ...left);
}

function asViewed(
	entry: SessionEntry,
	replaced: ReadonlyMap<EntryId, Parameters<typeof withContent>[1]>,
): SessionEntry {
	const content = replaced.get(entry.id);
	if (content === undefined) return entry;
	if (entry.type === "custom_message") return { ...entry, content };
	return entry.type === "message" ? { ...entry, message: withContent(entry.message as Message, content) } : entry;
}
