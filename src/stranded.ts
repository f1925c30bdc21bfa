import type { SessionEntry } from "./kernel/messages.ts";
import { parseRecord, type RecordBodies, type RecordType } from "./kernel/records.ts";

/** The markers that take effect through a plugin, by its name. */
const MARKERS = { rewind: "mulligan:rewind", shrink: "mulligan:shrink" } as const;

/**
 * What the human is told where markers of a branch have no effect, because the plugins that act on them are left out; else
 * undefined. Cancelled ones had none anyway. `appliesEdits`: Pi applies the context edits on the branch by itself.
 */
export function strandedText(
	branch: readonly SessionEntry[],
	leftOut: readonly string[],
	{ appliesEdits }: { readonly appliesEdits: boolean },
): string | undefined {
	const names = Object.keys(MARKERS).filter((name) => leftOut.includes(name)) as (keyof typeof MARKERS)[];
	const cancelled = new Set(recordsOf(branch, "mulligan:cancel").map(({ targetId }) => targetId));
	const markers = names.flatMap((name) => recordsOf(branch, MARKERS[name]));
	const count = markers.filter(({ id }) => !cancelled.has(id)).length;
	if (count === 0) return undefined;
	const [have, they] =
		count === 1 ? ["1 marker of this session has", "it"] : [`${count} markers of this session have`, "they"];
	const plugins = names.map((name) => `"${name}"`).join(" and ");
	const are = names.length === 1 ? "is" : "are";
	const isHeld = appliesEdits && branch.some(({ type }) => type === "context_edit");
	const but = isHeld ? ", but for what Pi itself holds back: /mulligan restore gives that back" : "";
	return `${have} no effect, because ${plugins} ${are} left out of the plugins: what ${they} hid or replaced is in the view again${but}.`;
}

/** The well-formed records of one type; one that names its result by content, as earlier versions did, is as good. */
function recordsOf<T extends RecordType>(branch: readonly SessionEntry[], type: T): readonly RecordBodies[T][] {
	return branch.flatMap((entry) => {
		if (entry.type !== "custom" || entry.customType !== type) return [];
		const parsed = parseRecord(type, entry.data, () => "by content");
		return "body" in parsed ? [parsed.body] : [];
	});
}
