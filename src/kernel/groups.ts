import type { Branch } from "./branch.ts";
import type { EntryId } from "./messages.ts";

/**
 * The rule that keeps pairs together: a tool group is hidden whole or not at all, and its assistant message decides.
 * Results of a hidden call are hidden with it, also those stored later; a result whose call stays is kept.
 */
export function wholeGroups(
	hidden: Iterable<EntryId>,
	branch: Branch,
): { readonly hidden: Set<EntryId>; readonly halves: readonly EntryId[] } {
	const asked = new Set(hidden);
	const whole = new Set<EntryId>();
	const halves: EntryId[] = [];
	for (const id of asked) {
		const group = branch.groupOf(id);
		if (!group) whole.add(id);
		else if (!asked.has(group.assistantId)) halves.push(id);
		else for (const member of [group.assistantId, ...group.resultIds]) whole.add(member);
	}
	return { hidden: whole, halves };
}
