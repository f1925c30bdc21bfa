import type { EntryId } from "./messages.ts";
import type { QueuedOpBody } from "./records.ts";

/**
 * Plain estimate of what ops shed together, in tokens, net of what replaces it and never below 0. An entry is left once:
 * of two replacements the later counts, and none of what another op hides.
 */
export function volumeOf(ops: readonly Pick<QueuedOpBody, "effect" | "entryIds" | "shedTokens">[]): number {
	const hides = ops.filter(({ effect }) => effect === "hide");
	const hidden = new Set<EntryId>(hides.flatMap(({ entryIds }) => entryIds));
	const replaced = new Map<string, number>();
	for (const { effect, entryIds, shedTokens } of ops)
		if (effect === "replace" && !entryIds.every((id) => hidden.has(id))) replaced.set(entryIds.join(), shedTokens);
	const shed = [...hides.map(({ shedTokens }) => shedTokens), ...replaced.values()];
	return Math.max(0, Math.round(shed.reduce((sum, tokens) => sum + tokens, 0)));
}
