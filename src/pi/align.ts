import { type Branch, type ContextEntry, keyOf } from "../kernel/branch.ts";
import { type Block, blocksOf, type Content, type EntryId, type Message } from "../kernel/messages.ts";
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

	/** The list as the view has it; undefined where nothing changes. Only the list is new, and messages that changed. */
	apply(messages: readonly Message[], view: DurableView, branch: Branch): Message[] | undefined {
		if (view.hidden.size === 0 && view.replaced.size === 0 && view.notes.length === 0) return undefined;
		if (!this.#plan || !holds(this.#plan, { messages, view, branch })) this.#plan = plan({ messages, view, branch });
		return this.#plan.edits.length === 0 ? undefined : edited(messages, this.#plan.edits);
	}
}

interface Request {
	readonly messages: readonly Message[];
	readonly view: DurableView;
	readonly branch: Branch;
}

function holds({ places, isComplete, version, structure, offset }: Plan, request: Request): boolean {
	const { messages, view, branch } = request;
	const now = versionOf(view);
	if (!isComplete || structure !== branch.structure || version.some((part, at) => part !== now[at])) return false;
	if (offset !== messages.length - branch.contextLength) return false;
	for (const place of places) if (!answers(messages[place.index], place)) return false;
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
	const edits = editsOf(request, notes, places);
	const isMissing = (id: EntryId) => branch.inContext(id) && !places.has(id);
	return {
		edits,
		places: [...places].flatMap(([id, index]) => {
			const entry = branch.entry(id);
			return entry ? [{ index, entry, isSameTime: messages[index]?.timestamp === entry.message.timestamp }] : [];
		}),
		isComplete: ![...view.hidden].some(isMissing) && ![...view.replaced.keys()].some(isMissing),
		version: versionOf(view),
		structure: branch.structure,
		offset: messages.length - branch.contextLength,
	};
}

function editsOf(
	{ messages, view, branch }: Request,
	notes: readonly PlannedNote[],
	places: Map<EntryId, number>,
): readonly Edit[] {
	const byIndex = new Map<number, { isHidden?: boolean; content?: Content; readonly notes: PlannedNote[] }>();
	const at = (index: number) => {
		const known = byIndex.get(index) ?? { notes: [] };
		byIndex.set(index, known);
		return known;
	};
	for (const id of view.hidden) {
		const index = places.get(id);
		if (index !== undefined) at(index).isHidden = true;
	}
	for (const [id, content] of view.replaced) {
		const index = places.get(id);
		if (index !== undefined) at(index).content = content;
	}
	for (const note of notes) {
		if (note.entryId !== undefined && places.has(note.entryId)) continue;
		const index = placeOfNote(note, { messages, branch, places });
		if (index !== undefined) at(index).notes.push(note);
	}
	const edits: Edit[] = [];
	for (const [index, { isHidden, content, notes }] of [...byIndex].sort(([a], [b]) => a - b)) {
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
	const context = branch.context();
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

/** Where a note goes that Pi's list does not carry: after the turn of its record, or after what is left before that. */
function placeOfNote(
	note: PlannedNote,
	{ messages, branch, places }: { messages: readonly Message[]; branch: Branch; places: Map<EntryId, number> },
): number | undefined {
	const anchor = anchorOf(note, branch);
	if (anchor === undefined || places.has(anchor)) return anchor === undefined ? undefined : places.get(anchor);
	const context = branch.context();
	const all = match(messages, context);
	const left = context.findLast(({ id }) => all.has(id) && branch.isBefore(id, anchor));
	const index = left && all.get(left.id);
	if (index !== undefined) places.set(left?.id as EntryId, index);
	return index;
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

/** Whether a message is still the one that was found at its place. */
function answers(message: Message | undefined, { entry, isSameTime }: Place): boolean {
	const own = entry.message;
	if (!message || message.role !== own.role) return false;
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
