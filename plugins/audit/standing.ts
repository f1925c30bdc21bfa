import type { JournalRecord, PluginApi, RewindBody, ShrinkBody, ViewedEntry } from "../../src/plugin.ts";
import { labelOf } from "./contributors.ts";

type Api = Pick<PluginApi, "journal" | "moments" | "session">;
type Figure = (plainTokens: number) => string;

/** Single changes that are named; of the others only their number. */
const MOST_NAMED = 5;
const MOST_CHECKPOINTS = 20;

/** What is active, what waits, what was spent and taken back, and the human's checkpoints. */
export function standingLines(api: Api, view: readonly ViewedEntry[], figure: Figure): readonly string[] {
	const { journal, moments, session } = api;
	const retired = new Set(journal.read("mulligan:cancel").map(({ targetId }) => targetId)).size;
	const places = session.checkpoints().filter(({ placeId }) => placeId !== undefined);
	return [
		...activeLines(api, view, figure),
		...queuedLines(api, figure),
		`Moments: ${moments.spent} of ${moments.maxMoments} spent. Retired: ${retired} marker(s).`,
		`${places.length} checkpoint(s)${namesOf(places)} (user-set)`,
	];
}

/** The newest checkpoints by name, so that a report stays short. */
function namesOf(places: readonly { readonly name: string }[]): string {
	if (places.length === 0) return "";
	const named = places.slice(-MOST_CHECKPOINTS).map(({ name }) => name);
	const older = places.length - named.length;
	return ` [${older > 0 ? `${older} older, ` : ""}${named.join(", ")}]`;
}

function activeLines({ journal, session }: Api, view: readonly ViewedEntry[], figure: Figure): readonly string[] {
	const rewinds = journal.active("mulligan:rewind");
	const shrinks = journal.active("mulligan:shrink");
	if (rewinds.length + shrinks.length === 0) return ["Active: 0 rewind(s), 0 shrink(s)."];
	const seen = new Map(view.map((viewed) => [viewed.entry.id, viewed]));
	const isHidden = (id: string) => session.inContext(id) && !seen.has(id);
	const rewindLine = ({ entryId, granularity, checkpoint, hideEntryIds }: JournalRecord<RewindBody>) => {
		const hidden = hideEntryIds.filter(isHidden);
		const tokens = hidden.reduce((sum, id) => sum + (session.entry(id)?.tokens ?? 0), 0);
		const where = granularity === "checkpoint" ? `checkpoint ${checkpoint ?? ""}`.trimEnd() : granularity;
		return `  ${entryId} rewind ${where}: ${hidden.length} message(s) hidden, ~${figure(tokens)}`;
	};
	const inForce = new Map(shrinks.map(({ entryId, pinnedEntryId }) => [pinnedEntryId, entryId]));
	const shrinkLine = ({ entryId, pinnedEntryId }: JournalRecord<ShrinkBody>) => {
		const entry = session.entry(pinnedEntryId);
		const what = entry ? labelOf(entry, session) : "a result";
		if (inForce.get(pinnedEntryId) !== entryId)
			return `  ${entryId} shrink of ${what}: a later shrink of it is in force`;
		const now = seen.get(pinnedEntryId);
		if (now) return `  ${entryId} shrink of ${what}: ${figure(now.entry.tokens)} → ${figure(now.tokens)}`;
		return `  ${entryId} shrink of ${what}: ${isHidden(pinnedEntryId) ? "hidden" : "no longer in the context"}`;
	};
	const lines = [
		...rewinds.map((rewind) => ({ seq: rewind.seq, line: rewindLine(rewind) })),
		...shrinks.map((shrink) => ({ seq: shrink.seq, line: shrinkLine(shrink) })),
	].sort((a, b) => a.seq - b.seq);
	return [
		`Active: ${rewinds.length} rewind(s), ${shrinks.length} shrink(s), each with its markerId for mulligan_cancel:`,
		...(lines.length > MOST_NAMED ? [`  ${lines.length - MOST_NAMED} older`] : []),
		...lines.slice(-MOST_NAMED).map(({ line }) => line),
	];
}

function queuedLines({ moments }: Api, figure: Figure): readonly string[] {
	const waiting = moments.waiting();
	if (waiting.length === 0) return ["Queued: nothing."];
	const more = waiting.length > MOST_NAMED ? ` and ${waiting.length - MOST_NAMED} more` : "";
	const last = new Map(waiting.map((op) => [op.entryIds.join(), op]));
	const named = waiting
		.slice(0, MOST_NAMED)
		.map((op) =>
			op.effect === "hide" || last.get(op.entryIds.join()) === op
				? op.describe
				: `${op.describe} (a later one of it waits too)`,
		);
	return [`Queued: ${waiting.length} change(s), ~${figure(moments.volumeTokens)} tokens: ${named.join(", ")}${more}.`];
}
