import {
	coveredIds,
	type JournalRecord,
	type Op,
	type PluginApi,
	type RewindBody,
	type ShrinkBody,
} from "../../src/plugin.ts";

interface Active {
	readonly kind: "rewind" | "shrink";
	readonly markerId: string;
	readonly entryId: string;
	readonly seq: number;
	readonly covers: readonly string[];
}

/** Something that can be taken back. */
export type Cancellable =
	| Active
	| {
			readonly kind: "waiting";
			readonly markerId: string;
			readonly describe: string;
			readonly covers: readonly string[];
	  };

/** All that can be taken back, the newest last: active markers by age, then the ops that wait. */
export function cancellables({ journal, moments }: Pick<PluginApi, "journal" | "moments">): readonly Cancellable[] {
	const active = [
		...journal.active("mulligan:rewind").map((rewind) => fromMarker("rewind", rewind)),
		...journal.active("mulligan:shrink").map((shrink) => fromMarker("shrink", shrink)),
	];
	return [...active.sort((a, b) => a.seq - b.seq), ...moments.waiting().map(fromWaiting)];
}

function fromMarker(kind: "rewind" | "shrink", marker: JournalRecord<RewindBody | ShrinkBody>): Active {
	const { id, entryId, seq } = marker;
	return { kind, markerId: id, entryId, seq, covers: coveredIds(marker) };
}

function fromWaiting({ id, describe, entryIds }: Op) {
	return { kind: "waiting", markerId: id, describe, covers: entryIds } as const;
}
