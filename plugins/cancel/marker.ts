import type { JournalRecord, Op, PluginApi, RewindBody, ShrinkBody } from "../../src/plugin.ts";

/** Something that can be taken back. */
export type Cancellable =
	| {
			readonly kind: "rewind" | "shrink";
			readonly markerId: string;
			readonly entryId: string;
			readonly seq: number;
			readonly covers: readonly string[];
	  }
	| {
			readonly kind: "waiting";
			readonly markerId: string;
			readonly describe: string;
			readonly covers: readonly string[];
	  };

/** All that can be taken back, the newest last: active markers by age, then the ops that wait. */
export function cancellables({ journal, moments }: Pick<PluginApi, "journal" | "moments">): readonly Cancellable[] {
	const active = [
		...journal.active("mulligan:rewind").map(fromRewind),
		...journal.active("mulligan:shrink").map(fromShrink),
	];
	return [...active.sort((a, b) => a.seq - b.seq), ...moments.waiting().map(fromWaiting)];
}

function fromRewind({ id, entryId, seq, hideEntryIds }: JournalRecord<RewindBody>) {
	return { kind: "rewind", markerId: id, entryId, seq, covers: hideEntryIds } as const;
}

function fromShrink({ id, entryId, seq, pinnedEntryId }: JournalRecord<ShrinkBody>) {
	return { kind: "shrink", markerId: id, entryId, seq, covers: [pinnedEntryId] } as const;
}

function fromWaiting({ id, describe, entryIds }: Op) {
	return { kind: "waiting", markerId: id, describe, covers: entryIds } as const;
}
