import { type Branch, type ContextEntry, keyOf } from "../kernel/branch.ts";
import { type Block, blocksOf, type Content, type EntryId, type Message } from "../kernel/messages.ts";
import { isSameContent } from "../kernel/mirror.ts";
import type { DurableView, PlannedNote } from "../kernel/view.ts";

/** One change of a request's list: `count` messages from `index` on go, and what comes in their place. */
interface Edit {
	readonly index: number;
	count: number;
	/** New content for the message at `index`, which then stays. */
	readonly content?: Content;
	readonly notes: PlannedNote[];
}

/** Where a message of the list was found to be an entry's, and whether it had the entry's own time. */
interface Place {
	readonly index: number;
	readonly entry: ContextEntry;
	readonly isSameTime: boolean;
}

/** A view as edits of Pi's list, and what must still be so for them to hold for the next list. */
interface Plan {
	readonly edits: readonly Edit[];
	readonly places: readonly Place[];
	/** Where the entries of notes would stand that the list does not carry. */
	readonly gaps: readonly Place[];
	/** Whether all that is hidden or replaced was found: what is missing may be back in any list. */
	readonly isComplete: boolean;
	readonly version: readonly unknown[];
	readonly structure: number;
	/** How far the list's length departs from the branch's. */
	readonly offset: number;
}

/**
 * Applies a view to Pi's message list, which carries no entry ids. The edits are remembered from the last request, and
 * count only if the messages at their places answer to their entries' keys; otherwise the whole list is searched.
 */
export class Alignment {
	#plan: Plan | undefined;
	readonly #remainder = new Remainder();

	/** The list as the view has it; undefined where nothing changes. Only the list is new, and messages that changed. */
	apply(messages: readonly Message[], whole: DurableView, branch: Branch): Message[] | undefined {
		const view = this.#remainder.of(whole, branch);
		if (view.hidden.size === 0 && view.replaced.size === 0 && view.notes.length === 0) return undefined;
		if (!this.#plan || !holds(this.#plan, { messages, view, branch })) this.#plan = plan({ messages, view, branch });
		return this.#plan.edits.length === 0 ? undefined : edited(messages, this.#plan.edits);
	}
}

/** What of a view is left to do to Pi's list, whose own edits have done the rest. Kept until one of the two is another. */
class Remainder {
	#key: readonly unknown[] = [];
	#view: DurableView | undefined;

	of(view: DurableView, branch: Branch): DurableView {
		if (branch.edits.size === 0) return view;
		const key = [...versionOf(view), branch.editRevision, branch.structure];
		if (!this.#view || key.some((part, at) => part !== this.#key[at])) this.#view = remainder(view, branch.edits);
		this.#key = key;
		return this.#view;
	}
}

function remainder(view: DurableView, edits: Branch["edits"]): DurableView {
	const isDone = (id: EntryId, content: Content) => {
		const replacement = edits.get(id)?.replacement;
		return replacement ? isSameContent(replacement.content, content) : false;
	};
	return {
		...view,
		hidden: new Set([...view.hidden].filter((id) => edits.get(id)?.replacement !== null)),
		replaced: new Map([...view.replaced].filter(([id, content]) => !isDone(id, content))),
	};
}

interface Request {
	readonly messages: readonly Message[];
	readonly view: DurableView;
	readonly branch: Branch;
}

function holds({ places, gaps, isComplete, version, structure, offset }: Plan, request: Request): boolean {
	const { messages, view, branch } = request;
	const now = versionOf(view);
	if (!isComplete || structure !== branch.structure || version.some((part, at) => part !== now[at])) return false;
	if (offset !== messages.length - branch.listedLength) return false;
	for (const place of places) if (!answers(messages[place.index], place)) return false;
	for (const gap of gaps) if (answers(messages[gap.index], gap)) return false;
	return true;
}

/** Differs between two views that are not the same. */
function versionOf({ hidden, replaced, notes }: DurableView): readonly unknown[] {
	return [hidden, hidden.size, replaced, replaced.size, notes];
}

function plan(request: Request): Plan {
	const { messages, view, branch } = request;
	const notes = view.notes.filter(({ recordEntryId }) => branch.has(recordEntryId));
	const places = search(messages, branch, wantedIds(view, notes, branch));
	const { edits, gaps } = editsOf(request, notes, places);
	const isMissing = (id: EntryId) => branch.isListed(id) && !places.has(id);
	return {
		edits,
		gaps,
		places: [...places].flatMap(([id, index]) => {
			const entry = branch.entry(id);
			return entry ? [{ index, entry, isSameTime: messages[index]?.timestamp === entry.message.timestamp }] : [];
		}),
		isComplete: ![...view.hidden].some(isMissing) && ![...view.replaced.keys()].some(isMissing),
		version: versionOf(view),
		structure: branch.structure,
		offset: messages.length - branch.listedLength,
	};
}

/** What happens to the message at one index: it goes, or gets other content; and the notes that come after it. */
interface Change {
	isHidden?: boolean;
	content?: Content;
	readonly notes: PlannedNote[];
}

/** Changes by index. */
class Changes extends Map<number, Change> {
	at(index: number): Change {
		const change = this.get(index) ?? { notes: [] };
		this.set(index, change);
		return change;
	}
}

function editsOf(
	request: Request,
	notes: readonly PlannedNote[],
	places: Map<EntryId, number>,
): Pick<Plan, "edits" | "gaps"> {
	const changes = new Changes();
	for (const id of request.view.hidden) {
		const index = places.get(id);
		if (index !== undefined) changes.at(index).isHidden = true;
	}
	for (const [id, content] of request.view.replaced) {
		const index = places.get(id);
		if (index !== undefined) changes.at(index).content = content;
	}
	const gaps = placeNotes(request, { notes, places, changes });
	return { edits: joined(changes), gaps };
}

/**
 * Puts each note directly after its turn, behind those of earlier records: one that Pi's list carries there stays, one
 * that it carries elsewhere goes there, one that it lacks is put in. Returns where the entries of the latter would stand.
 */
function placeNotes(
	{ messages, branch }: Request,
	{ notes, places, changes }: { notes: readonly PlannedNote[]; places: Map<EntryId, number>; changes: Changes },
): readonly Place[] {
	const gaps: Place[] = [];
	const lastNote = new Map<number, number>();
	for (const note of notes) {
		const anchor = placeOfNote(note, { messages, branch, places });
		if (anchor === undefined) continue;
		const entry = note.entryId === undefined ? undefined : branch.entry(note.entryId);
		const carried = entry && places.get(entry.id);
		const before = lastNote.get(anchor) ?? anchor;
		if (carried === before + 1) {
			lastNote.set(anchor, carried);
			continue;
		}
		changes.at(before).notes.push(note);
		if (carried !== undefined) changes.at(carried).isHidden = true;
		else if (entry) gaps.push({ index: before + 1, entry, isSameTime: false });
	}
	return gaps;
}

function joined(changes: Changes): readonly Edit[] {
	const edits: Edit[] = [];
	for (const [index, { isHidden, content, notes }] of [...changes].sort(([a], [b]) => a - b)) {
		const last = edits.at(-1);
		if (isHidden && last && isRunUpTo(last, index)) {
			last.count++;
			last.notes.push(...notes);
		} else if (isHidden) edits.push({ index, count: 1, notes });
		else if (content !== undefined) edits.push({ index, count: 1, content, notes });
		else edits.push({ index: index + 1, count: 0, notes });
	}
	return edits;
}

function isRunUpTo({ index, count, content, notes }: Edit, next: number): boolean {
	return content === undefined && notes.length === 0 && count > 0 && index + count === next;
}

function search(messages: readonly Message[], branch: Branch, wanted: ReadonlySet<EntryId>): Map<EntryId, number> {
	const context = branch.listed();
	const found = inStep(messages, context, wanted);
	if (found) return found;
	const entries = [...wanted].flatMap((id) => branch.entry(id) ?? []);
	const isRivalled = entries.some(({ id }) => branch.isAmbiguous(id));
	const matched = match(messages, isRivalled ? context : entries);
	return isRivalled ? new Map([...matched].filter(([id]) => wanted.has(id))) : matched;
}

/**
 * The places of entries in a list that carries the context one by one, as it nearly always does: system messages may
 * stand between, and custom messages may be missing. Undefined for any other list.
 */
function inStep(
	messages: readonly Message[],
	context: readonly ContextEntry[],
	wanted: ReadonlySet<EntryId>,
): Map<EntryId, number> | undefined {
	const places = new Map<EntryId, number>();
	let index = 0;
	for (const entry of context) {
		while (messages[index]?.role === "system") index++;
		if (!isOf(messages[index], entry.message)) {
			if (entry.message.role === "custom") continue;
			return undefined;
		}
		if (wanted.has(entry.id)) places.set(entry.id, index);
		index++;
	}
	return places;
}

function isOf(message: Message | undefined, own: Message): boolean {
	if (message?.role !== own.role) return false;
	if (message.role === "custom") return keyOf(message) === keyOf(own);
	if (message.role === "toolResult" && message.toolCallId !== (own as typeof message).toolCallId) return false;
	return message.timestamp === own.timestamp;
}

/**
 * Finds the places of entries in one walk over the list. Entries that share a key are told apart by time where that
 * can be, else taken in order; so all of them must be given.
 */
function match(messages: readonly Message[], entries: readonly ContextEntry[]): Map<EntryId, number> {
	const byKey = new Map<string, ContextEntry[]>();
	for (const entry of entries) {
		const key = keyOf(entry.message);
		const rivals = byKey.get(key);
		if (rivals) rivals.push(entry);
		else byKey.set(key, [entry]);
	}
	const places = new Map<EntryId, number>();
	for (const [index, message] of messages.entries()) {
		const rivals = byKey.get(keyOf(message));
		if (!rivals || rivals.length === 0) continue;
		const sameTime = rivals.findIndex((entry) => entry.message.timestamp === message.timestamp);
		const [entry] = rivals.splice(Math.max(0, sameTime), 1);
		if (entry) places.set(entry.id, index);
	}
	return places;
}

/** Where the message is that a note comes after: the last of the turn of its record, or what is left before that. */
function placeOfNote(
	note: PlannedNote,
	{ messages, branch, places }: { messages: readonly Message[]; branch: Branch; places: Map<EntryId, number> },
): number | undefined {
	const anchor = anchorOf(note, branch);
	if (anchor === undefined || places.has(anchor)) return anchor === undefined ? undefined : places.get(anchor);
	const context = branch.listed();
	const all = match(messages, context);
	const left = context.findLast(
		({ id, message }) => message.role !== "custom" && all.has(id) && branch.isBefore(id, anchor),
	);
	const index = left && all.get(left.id);
	if (index !== undefined) places.set(left?.id as EntryId, index);
	return index;
}

function wantedIds(view: DurableView, notes: readonly PlannedNote[], branch: Branch): ReadonlySet<EntryId> {
	const wanted = new Set<EntryId>();
	for (const id of view.hidden) if (branch.isListed(id)) wanted.add(id);
	for (const id of view.replaced.keys()) if (branch.isListed(id)) wanted.add(id);
	for (const note of notes) {
		if (note.entryId !== undefined && branch.isListed(note.entryId)) wanted.add(note.entryId);
		const anchor = anchorOf(note, branch);
		if (anchor !== undefined) wanted.add(anchor);
	}
	return wanted;
}

/**
 * The last entry of the turn that a note's record was written in. Where a compaction has taken that and kept the note's
 * own entry, what stands before that; undefined where neither is left in the context.
 */
function anchorOf({ recordEntryId, entryId }: PlannedNote, branch: Branch): EntryId | undefined {
	const isKept = entryId !== undefined && branch.isListed(entryId);
	const before = branch.listedBefore(recordEntryId) ?? (isKept ? branch.listedBefore(entryId) : undefined);
	if (!before) return undefined;
	const anchor = branch.groupOf(before.id)?.resultIds.at(-1) ?? before.id;
	return branch.isListed(anchor) ? anchor : undefined;
}

/** Whether a message is still the one that was found at its place. */
function answers(message: Message | undefined, { entry, isSameTime }: Place): boolean {
	const own = entry.message;
	if (!message || message.role !== own.role) return false;
	if (message.role === "custom") return keyOf(message) === keyOf(own);
	if (isSameTime && message.timestamp !== own.timestamp) return false;
	if (message.role === "toolResult") return message.toolCallId === (own as typeof message).toolCallId;
	return isSameTime || keyOf(message) === keyOf(own);
}

function messageOfNote({ customType, content, details, timestamp }: PlannedNote): Message {
	return { role: "custom", customType, content, display: true, details, timestamp };
}

function edited(messages: readonly Message[], edits: readonly Edit[]): Message[] {
	const parts: Message[][] = [];
	let copied = 0;
	for (const edit of edits) {
		parts.push(messages.slice(copied, edit.index), instead(messages, edit));
		copied = edit.index + edit.count;
	}
	return ([] as Message[]).concat(...parts, messages.slice(copied));
}

/** What comes in the place of the messages that an edit takes out. */
function instead(messages: readonly Message[], { index, content, notes }: Edit): Message[] {
	const changed = content === undefined ? [] : [withContent(messages[index] as Message, content)];
	return [...changed, ...notes.map(messageOfNote)];
}

/** A message with other content, of its own: later handlers may change it in place. */
export function withContent(message: Message, content: Content): Message {
	const copy = typeof content === "string" ? content : blocksOf(content).map(copyOf);
	return { ...message, content: copy } as Message;
}

/** `structuredClone` costs more than all else of a small edit, and only a block with something inside needs it. */
function copyOf(block: Block): Block {
	return Object.values(block).some((value) => typeof value === "object") ? structuredClone(block) : { ...block };
}
