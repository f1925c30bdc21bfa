import { type Branch, type ContextEntry, keyOf } from "../kernel/branch.ts";
import { blocksOf, type Content, type EntryId, type Message } from "../kernel/messages.ts";
import type { DurableView, PlannedNote } from "../kernel/view.ts";

/** One change of a request's list: what stands at `index` goes or is replaced, and what is put in after it. */
interface Edit {
	drop?: boolean;
	content?: Content;
	readonly insert: Message[];
}

/**
 * Applies a view to Pi's message list, which carries no entry ids. An entry's place is remembered from the last request
 * as a hint, and counts only if the message there answers to the entry's key; otherwise the whole list is searched.
 */
export class Alignment {
	#places = new Map<EntryId, number>();
	/** Entries that the last search did not find. Searched again when the list's length departs from the branch's. */
	#absent = new Set<EntryId>();
	#offset: number | undefined;
	#structure: number | undefined;

	/** The list as the view has it; undefined where nothing changes. Only the list is new, and messages that changed. */
	apply(messages: readonly Message[], view: DurableView, branch: Branch): Message[] | undefined {
		const notes = view.notes.filter(({ recordEntryId }) => branch.has(recordEntryId));
		if (view.hidden.size === 0 && view.replaced.size === 0 && notes.length === 0) return undefined;
		const wanted = wantedIds(view, notes, branch);
		const places = this.#locate(messages, wanted, branch);
		const edits = new Map<number, Edit>();
		const editAt = (index: number) => {
			const known = edits.get(index);
			if (known) return known;
			const edit: Edit = { insert: [] };
			edits.set(index, edit);
			return edit;
		};
		for (const id of view.hidden) {
			const index = places.get(id);
			if (index !== undefined) editAt(index).drop = true;
		}
		for (const [id, content] of view.replaced) {
			const index = places.get(id);
			if (index !== undefined) editAt(index).content = content;
		}
		for (const note of notes) {
			if (note.entryId !== undefined && places.has(note.entryId)) continue;
			const index = placeOfNote(note, { messages, branch, places });
			if (index !== undefined) editAt(index).insert.push(messageOfNote(note));
		}
		return edits.size === 0 ? undefined : edited(messages, edits);
	}

	#locate(messages: readonly Message[], wanted: ReadonlySet<EntryId>, branch: Branch): ReadonlyMap<EntryId, number> {
		const offset = messages.length - branch.contextLength;
		const isFamiliar = offset === this.#offset && branch.structure === this.#structure;
		if (!isFamiliar || !this.#hintsHold(messages, wanted, branch)) this.#search(messages, branch, wanted);
		this.#offset = offset;
		this.#structure = branch.structure;
		return this.#places;
	}

	#hintsHold(messages: readonly Message[], wanted: ReadonlySet<EntryId>, branch: Branch): boolean {
		for (const id of wanted) {
			const index = this.#places.get(id);
			if (index === undefined && this.#absent.has(id)) continue;
			const entry = branch.entry(id);
			const message = index === undefined ? undefined : messages[index];
			if (!entry || !message || !answers(message, entry, branch)) return false;
		}
		return true;
	}

	#search(messages: readonly Message[], branch: Branch, wanted: ReadonlySet<EntryId>): void {
		const entries = [...wanted].flatMap((id) => branch.entry(id) ?? []);
		const isRivalled = entries.some(({ id }) => branch.isAmbiguous(id));
		this.#places = match(messages, isRivalled ? branch.context() : entries);
		this.#absent = new Set([...wanted].filter((id) => !this.#places.has(id)));
	}
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

/** Where a note goes that Pi's list does not carry: after the turn of its record, or after what is left before that. */
function placeOfNote(
	note: PlannedNote,
	{ messages, branch, places }: { messages: readonly Message[]; branch: Branch; places: ReadonlyMap<EntryId, number> },
): number | undefined {
	const anchor = anchorOf(note, branch);
	if (anchor === undefined || places.has(anchor)) return anchor === undefined ? undefined : places.get(anchor);
	const context = branch.context();
	const all = match(messages, context);
	const left = context.findLast(({ id }) => all.has(id) && branch.isBefore(id, anchor));
	return left && all.get(left.id);
}

function wantedIds(view: DurableView, notes: readonly PlannedNote[], branch: Branch): ReadonlySet<EntryId> {
	const wanted = new Set<EntryId>();
	for (const id of view.hidden) if (branch.inContext(id)) wanted.add(id);
	for (const id of view.replaced.keys()) if (branch.inContext(id)) wanted.add(id);
	for (const note of notes) {
		if (note.entryId !== undefined && branch.inContext(note.entryId)) wanted.add(note.entryId);
		const anchor = anchorOf(note, branch);
		if (anchor !== undefined) wanted.add(anchor);
	}
	return wanted;
}

/** The last entry of the turn that a note's record was written in; undefined once it has left the context. */
function anchorOf(note: PlannedNote, branch: Branch): EntryId | undefined {
	const before = branch.contextAtOrBefore(note.recordEntryId);
	if (!before) return undefined;
	const anchor = branch.groupOf(before.id)?.resultIds.at(-1) ?? before.id;
	return branch.inContext(anchor) ? anchor : undefined;
}

/** Whether a message is an entry's; where another entry has the same key, the time must agree as well. */
function answers(message: Message, entry: ContextEntry, branch: Branch): boolean {
	const own = entry.message;
	if (message.role !== own.role) return false;
	if (branch.isAmbiguous(entry.id) && message.timestamp !== own.timestamp) return false;
	if (message.role === "toolResult") return message.toolCallId === (own as typeof message).toolCallId;
	if (message.role === "custom") return keyOf(message) === keyOf(own);
	return message.timestamp === own.timestamp;
}

function messageOfNote({ customType, content, details, timestamp }: PlannedNote): Message {
	return { role: "custom", customType, content, display: true, details, timestamp };
}

function edited(messages: readonly Message[], edits: ReadonlyMap<number, Edit>): Message[] {
	const result: Message[] = [];
	let copied = 0;
	for (const index of [...edits.keys()].sort((a, b) => a - b)) {
		const edit = edits.get(index) as Edit;
		for (; copied < index; copied++) result.push(messages[copied] as Message);
		const message = messages[copied++] as Message;
		if (!edit.drop) result.push(edit.content === undefined ? message : withContent(message, edit.content));
		result.push(...edit.insert);
	}
	for (; copied < messages.length; copied++) result.push(messages[copied] as Message);
	return result;
}

/** A message with other content, of its own: later handlers may change it in place. */
export function withContent(message: Message, content: Content): Message {
	const copy = typeof content === "string" ? content : blocksOf(structuredClone(content));
	return { ...message, content: copy } as Message;
}
