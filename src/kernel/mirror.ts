import type { Branch } from "./branch.ts";
import type { Journal } from "./journal.ts";
import { blocksOf, type Content, type EntryId, isOwnNote, type Message, type Replacement } from "./messages.ts";
import { coveredIds, type MarkerType } from "./records.ts";
import type { DurableView } from "./view.ts";

/** An edit that Pi (0.87 and later) is to apply by itself: other content for an entry, or nothing in its place. */
export interface MirrorEdit {
	readonly targetId: EntryId;
	readonly replacement: Replacement;
}

/** What is missing between the durable view and the edits on the branch. */
export interface Owed {
	/** Hides and replacements of active markers. The view does them until Pi does. */
	readonly changes: readonly MirrorEdit[];
	/** Originals that no marker holds back any more. A view can't show what Pi leaves out. */
	readonly restores: readonly MirrorEdit[];
}

interface Parts {
	readonly branch: Branch;
	readonly journal: Journal;
	readonly view: DurableView;
	/** Whether the plugin of a marker's type runs; what one that does not has left in the session stays as it is. */
	readonly isRunning: (type: MarkerType) => boolean;
}

const MARKERS: readonly MarkerType[] = ["mulligan:rewind", "mulligan:shrink"];

/** The edits that are owed: of entries whose newest edit is ours or that have none. Empty once all of it is on the branch. */
export function owedEdits(parts: Parts): Owed {
	const { branch, view } = parts;
	const [held, frozen] = [coveredBy(parts, true), coveredBy(parts, false)];
	const wanted = new Map<EntryId, Replacement>();
	for (const id of view.hidden) if (held.has(id) || isNote(branch, id)) wanted.set(id, null);
	for (const [id, content] of view.replaced) if (held.has(id) && !wanted.has(id)) wanted.set(id, { content });
	const changes = [...wanted].filter(([id, replacement]) => isMissing(branch, id, replacement));
	const restores = [...branch.edits.keys()].filter(
		(id) => !wanted.has(id) && !frozen.has(id) && isOwedBack(branch, id),
	);
	return {
		changes: changes.map(([targetId, replacement]) => ({ targetId, replacement })),
		restores: restores.map((targetId) => ({ targetId, replacement: { content: originalOf(branch, targetId) } })),
	};
}

/** Pi walks the branch for each edit: so many steps of that are made at one turn's end. */
const STEPS_PER_TURN = 2_000_000;

/** The first of the changes, as many as one turn's end bears; a tool group is not cut. The view does the rest until its turn. */
export function portionOf(changes: readonly MirrorEdit[], branch: Branch): readonly MirrorEdit[] {
	let count = Math.min(changes.length, Math.max(8, Math.floor(STEPS_PER_TURN / branch.length)));
	const groupAt = (index: number) => branch.groupOf(changes[index]?.targetId ?? "");
	while (count < changes.length && groupAt(count) !== undefined && groupAt(count) === groupAt(count - 1)) count++;
	return changes.slice(0, count);
}

/** Whether two contents say the same: a string is one text block. */
export function isSameContent(a: Content, b: Content): boolean {
	return JSON.stringify(blocksOf(a)) === JSON.stringify(blocksOf(b));
}

/** The entries of active markers whose plugin runs, or does not; of a tool group all, by its assistant message. */
function coveredBy({ branch, journal, isRunning }: Parts, running: boolean): ReadonlySet<EntryId> {
	const covered = new Set<EntryId>();
	for (const type of MARKERS) {
		if (isRunning(type) !== running) continue;
		for (const id of journal.active(type).flatMap((marker) => coveredIds(marker))) {
			covered.add(id);
			const group = branch.groupOf(id);
			if (type === "mulligan:rewind" && group?.assistantId === id)
				for (const result of group.resultIds) covered.add(result);
		}
	}
	return covered;
}

function isNote(branch: Branch, id: EntryId): boolean {
	const entry = branch.entry(id);
	return entry !== undefined && isOwnNote(entry.message);
}

function isMissing(branch: Branch, id: EntryId, replacement: Replacement): boolean {
	const entry = branch.inContext(id) ? branch.entry(id) : undefined;
	if (!entry || !isEditable(entry.message)) return false;
	const edit = branch.edits.get(id);
	if (!edit) return true;
	return edit.isOurs && !isSame(edit.replacement, replacement);
}

/** Ours, and other than the original; a note of what was taken back stays out. */
function isOwedBack(branch: Branch, id: EntryId): boolean {
	const edit = branch.edits.get(id);
	if (!edit?.isOurs || !branch.entry(id) || isNote(branch, id)) return false;
	return !isSame(edit.replacement, { content: originalOf(branch, id) });
}

function isSame(a: Replacement, b: Replacement): boolean {
	return a === null || b === null ? a === b : isSameContent(a.content, b.content);
}

function originalOf(branch: Branch, id: EntryId): Content {
	const message = branch.entry(id)?.message;
	return message && "content" in message ? message.content : [];
}

/** What Pi takes edits of; neither the human's commands nor summaries. */
function isEditable({ role }: Message): boolean {
	return role === "user" || role === "assistant" || role === "toolResult" || role === "custom";
}
