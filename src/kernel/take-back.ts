import type { Branch, ContextEntry } from "./branch.ts";
import type { Journal } from "./journal.ts";
import { type EntryId, reachesModel } from "./messages.ts";
import type { Moments, Op } from "./moments.ts";
import { coveredIds, type JournalRecord, type RewindBody, type ShrinkBody } from "./records.ts";
import type { ViewKeeper } from "./view.ts";

/** Something that can be taken back, by its marker's id: an active rewind or shrink, or an op that waits. */
export type Standing = {
	readonly id: string;
	/** The entries that it hides or replaces, or will. */
	readonly covers: readonly EntryId[];
} & (
	| { readonly kind: "rewind"; readonly record: JournalRecord<RewindBody> }
	| { readonly kind: "shrink"; readonly record: JournalRecord<ShrinkBody> }
	| { readonly kind: "waiting"; readonly op: Op }
);

/** What came of taking something back. */
export interface TakenBack {
	/** The entries that the view shows as they were, oldest first. */
	readonly returned: readonly ContextEntry[];
	/** The ops that waited and became active with it, since the prompt cache breaks anyway. */
	readonly activated: readonly Op[];
}

interface Parts {
	readonly branch: Branch;
	readonly journal: Journal;
	readonly view: ViewKeeper;
	readonly moments: Moments;
	readonly log: (line: string) => void;
}

/** All that can be taken back, newest first: the ops that wait, then active rewinds and shrinks. */
export function standing({ journal, moments }: Pick<Parts, "journal" | "moments">): readonly Standing[] {
	const active = [
		...journal.active("mulligan:rewind").map((record) => ({ kind: "rewind", record }) as const),
		...journal.active("mulligan:shrink").map((record) => ({ kind: "shrink", record }) as const),
	]
		.map((each) => ({ ...each, id: each.record.id, covers: coveredIds(each.record) }))
		.sort((a, b) => a.record.seq - b.record.seq);
	const waiting = moments.waiting().map((op) => ({ kind: "waiting", id: op.id, covers: op.entryIds, op }) as const);
	return [...active, ...waiting].reverse();
}

/** Retire markers: from the next request the originals are back. Returns whether that changes the view. */
export function retire(
	{ journal, view }: Pick<Parts, "journal" | "view">,
	markerIds: readonly string[],
	why: string,
): boolean {
	const covered = markerIds.flatMap((id) => {
		const marker = journal.marker(id);
		return marker ? coveredIds(marker) : [];
	});
	const isChanged = view.changes(covered);
	view.expectChange(why);
	for (const id of markerIds) journal.retire(id);
	return isChanged;
}

/** The active changes that no response has been given over: those made since the newest response that the model gave. */
export function untested(parts: Pick<Parts, "branch" | "journal" | "moments">): readonly Standing[] {
	const { branch } = parts;
	const answered = [...branch.ids()].findLast((id) => {
		const message = branch.entry(id)?.message;
		return message?.role === "assistant" && reachesModel(message);
	});
	return standing(parts).filter(
		(each) => each.kind !== "waiting" && (answered === undefined || branch.isBefore(answered, each.record.entryId)),
	);
}

/**
 * Take these back without anything in their place: what waits goes on waiting, although the prompt cache breaks, so that
 * the next request has the originals and nothing new.
 */
export function withdraw(parts: Parts, all: readonly Standing[], why: string): void {
	if (all.length === 0) return;
	for (const { kind, id } of all) parts.log(`retired ${kind} ${id}: ${why}`);
	retire(
		parts,
		all.map(({ id }) => id),
		why,
	);
}

/** Take these back, together, for the human: what waits is dropped, what is active is retired, `why` goes to the log. */
export function takeBack(parts: Parts, all: readonly Standing[], why: string): TakenBack {
	const { branch, moments, view, log } = parts;
	const before = view.durable();
	for (const { kind, id } of all) if (kind === "waiting") moments.cancel(id);
	const markers = all.filter(({ kind }) => kind !== "waiting");
	if (markers.length === 0) return { returned: [], activated: [] };
	for (const { kind, id } of markers) log(`retired ${kind} ${id}: ${why}`);
	const ids = markers.map(({ id }) => id);
	const isChanged = retire(parts, ids, why);
	const now = view.durable();
	const isBack = ({ id }: ContextEntry) =>
		(before.hidden.has(id) && !now.hidden.has(id)) || (before.replaced.has(id) && !now.replaced.has(id));
	return { returned: branch.context().filter(isBack), activated: isChanged ? moments.rideNow("cancel") : [] };
}
