import {
	blocksOf,
	type CustomMessage,
	type EntryId,
	isOfAgent,
	type Message,
	type Replacement,
	type SessionEntry,
	type ToolCallBlock,
	toolCallsOf,
} from "./messages.ts";
import { messageTokens } from "./tokens.ts";

/** Where the branch is read from: Pi's session manager, on every version. */
export interface BranchSource {
	getLeafId(): EntryId | null;
	getEntry(id: EntryId): SessionEntry | undefined;
	getLabel(id: EntryId): string | undefined;
	/** There on Pi 0.87 and later, where a compaction that a newer one kept contributes nothing any more. */
	readonly buildSessionProjection?: unknown;
}

/** A session entry that contributes one message to the model's context. `message` is the original, whatever edits say. */
export interface ContextEntry {
	readonly id: EntryId;
	readonly message: Message;
	/** Plain estimate of the original, in tokens. */
	readonly tokens: number;
}

/** An assistant message that carries tool calls, with the results of its calls that are stored so far. */
export interface ToolGroup {
	readonly assistantId: EntryId;
	readonly calls: readonly ToolCallBlock[];
	readonly resultIds: readonly EntryId[];
}

/** The newest edit of an entry that Pi itself applies. */
export interface NativeEdit {
	readonly replacement: Replacement;
	/** It was announced by a record of ours. */
	readonly isOurs: boolean;
}

/** The record that announces edits of ours: those that follow it, of these targets. */
export const MIRROR_RECORD = "mulligan:mirror";

/** A custom entry on the branch, unparsed. */
export interface CustomRecord {
	readonly entryId: EntryId;
	readonly data: unknown;
}

interface Placed extends ContextEntry {
	readonly position: number;
	group: OpenGroup | undefined;
}

interface OpenGroup extends ToolGroup {
	readonly resultIds: EntryId[];
}

/**
 * The current branch of the session, read incrementally: `sync` costs what is new since the last call, and the whole
 * branch only after the leaf has moved to another one.
 */
export class Branch {
	#leafId: EntryId | null = null;
	#length = 0;
	#source: BranchSource | undefined;
	readonly #positions = new Map<EntryId, number>();
	readonly #entries = new Map<EntryId, Placed>();
	#context: Placed[] = [];
	readonly #groupByCall = new Map<string, OpenGroup>();
	readonly #records = new Map<string, CustomRecord[]>();
	readonly #customMessages = new Map<string, Placed[]>();
	/** How many entries answer to a key, of the first so many in the context: counted when it is asked for. */
	readonly #keys = new Map<string, number>();
	#keyed = 0;
	#users: Placed[] = [];
	#compactionId: EntryId | undefined;
	#keptFrom = 0;
	#contextStart = 0;
	#tokens = 0;
	#agentTokens = 0;
	#structure = 0;
	#revision = 0;
	#labelRevision = 0;
	readonly #edits = new Map<EntryId, NativeEdit>();
	#editRevision = 0;
	/** Targets of the record of ours that the entries read now follow. */
	#announced: ReadonlySet<unknown> = NONE;
	#unlisted: { readonly revision: string; readonly count: number } | undefined;

	/** Bring the mirror up to the source's leaf. */
	sync(source: BranchSource): void {
		this.#source = source;
		const leafId = source.getLeafId();
		if (leafId === this.#leafId) return;
		const fresh = newEntries(source, leafId, (id) => id === this.#leafId);
		const isNew = fresh.entries.every(({ id }) => !this.#positions.has(id));
		if ((fresh.joined && isNew) || this.#length === 0) this.#grow(fresh.entries);
		else {
			this.#reset();
			this.#grow(newEntries(source, leafId, () => false).entries);
		}
		this.#leafId = leafId;
	}

	/** Read the same source again, after something was appended to it. */
	refresh(): void {
		if (this.#source) this.sync(this.#source);
	}

	/** Grows when what is on the branch or in the context changed otherwise than by growth: a moved leaf, a compaction. */
	get structure(): number {
		return this.#structure;
	}

	/** Grows whenever a custom entry or custom message was added, or the structure changed. */
	get revision(): number {
		return this.#revision;
	}

	/** Grows whenever a label or the place of a labelled entry may have changed: Pi writes each label as an entry at the leaf. */
	get labelRevision(): number {
		return this.#labelRevision;
	}

	/** Number of entries on the branch, those without a message included. */
	get length(): number {
		return this.#length;
	}

	get leafId(): EntryId | null {
		return this.#leafId;
	}

	/** The edits that Pi applies itself, the newest of each entry; none before Pi 0.87, which passes them over. */
	get edits(): ReadonlyMap<EntryId, NativeEdit> {
		return this.#edits;
	}

	/** Grows with each of them. */
	get editRevision(): number {
		return this.#editRevision;
	}

	/** Entries in the context now, oldest first; a compaction's summary stands before what it kept. */
	context(): readonly ContextEntry[] {
		const tail = this.#present(this.#context.slice(this.#contextStart));
		const summary = this.#compactionId === undefined ? undefined : this.#entries.get(this.#compactionId);
		return summary ? [summary, ...tail.filter((entry) => entry !== summary)] : tail;
	}

	/** The entries of the context that Pi's list carries: all but those that an edit leaves out. */
	listed(): readonly ContextEntry[] {
		const context = this.context();
		return this.#edits.size === 0 ? context : context.filter(({ id }) => !this.#isOmitted(id));
	}

	/** Number of entries in the context that Pi's list carries. */
	get listedLength(): number {
		return this.#context.length - this.#contextStart - this.#unlistedCount();
	}

	/** Whether the entry is in the context and no edit leaves it out of Pi's list. */
	isListed(id: EntryId): boolean {
		return this.inContext(id) && !this.#isOmitted(id);
	}

	/** Plain estimate of the originals of the whole context, in tokens. */
	get contextTokens(): number {
		return this.#tokens;
	}

	/** The part of `contextTokens` that is the agent's own (see `isOfAgent`). */
	get agentTokens(): number {
		return this.#agentTokens;
	}

	/** The context entries that stand after an entry of the branch, oldest first. */
	after(id: EntryId): readonly ContextEntry[] {
		const position = this.#positions.get(id);
		if (position === undefined) return [];
		return this.#present(this.#context.slice(Math.max(this.#contextStart, this.#indexAfter(position))));
	}

	/** The context entries that came with or after the `count`th context-producing entry of the branch, and how many there are in all. */
	since(count: number): { readonly entries: readonly ContextEntry[]; readonly count: number } {
		return { entries: this.#context.slice(count), count: this.#context.length };
	}

	entry(id: EntryId): ContextEntry | undefined {
		return this.#entries.get(id);
	}

	has(id: EntryId): boolean {
		return this.#positions.has(id);
	}

	/**
	 * Whether the entry contributes a message to the context: on this branch, not compacted away, nor left out by an edit
	 * that is not ours, as Pi makes of an attempt that failed.
	 */
	inContext(id: EntryId): boolean {
		const entry = this.#entries.get(id);
		return entry !== undefined && entry.position >= this.#keptFrom && !this.#isGone(id);
	}

	/** Whether `a` stands before `b` on the branch; false if one of them is not on it. */
	isBefore(a: EntryId, b: EntryId): boolean {
		const first = this.#positions.get(a);
		const second = this.#positions.get(b);
		return first !== undefined && second !== undefined && first < second;
	}

	/** The group that an entry is part of, as its assistant message or one of its results. */
	groupOf(id: EntryId): ToolGroup | undefined {
		return this.#entries.get(id)?.group;
	}

	/** The newest group with a call of this id. */
	groupOfCall(toolCallId: string): ToolGroup | undefined {
		return this.#groupByCall.get(toolCallId);
	}

	/** User messages of the branch, oldest first, compacted ones included. */
	get users(): readonly ContextEntry[] {
		return this.#users;
	}

	/** Custom entries of one type, in branch order. */
	records(customType: string): readonly CustomRecord[] {
		return this.#records.get(customType) ?? [];
	}

	/** Custom messages of one type, in branch order. */
	customMessages(customType: string): readonly (ContextEntry & { readonly message: Message })[] {
		return this.#customMessages.get(customType) ?? [];
	}

	/** The label that the human or an extension gave an entry. */
	label(id: EntryId): string | undefined {
		return this.#source?.getLabel(id);
	}

	/** Ids of all entries of the branch, oldest first, those without a message included. */
	ids(): Iterable<EntryId> {
		return this.#positions.keys();
	}

	/** The newest context-producing entry at or before an entry of the branch. */
	contextAtOrBefore(id: EntryId): ContextEntry | undefined {
		const position = this.#positions.get(id);
		return position === undefined ? undefined : this.#context[this.#indexAfter(position) - 1];
	}

	/**
	 * The last message in the list before an entry of the branch, custom messages passed over: Pi may hold them back. A
	 * compaction's summary stands before what it kept. Undefined where all before it has left the context.
	 */
	listedBefore(id: EntryId): ContextEntry | undefined {
		const position = this.#positions.get(id) ?? -1;
		const summary = this.#compactionId === undefined ? undefined : this.#entries.get(this.#compactionId);
		for (let index = this.#indexAfter(position) - 1; index >= this.#contextStart; index--) {
			const entry = this.#context[index];
			if (!entry || entry === summary || this.#isOmitted(entry.id)) continue;
			if (entry.message.role !== "custom") return entry;
		}
		return position >= this.#keptFrom ? summary : undefined;
	}

	/** Whether another context entry answers to the same key (see `keyOf`). */
	isAmbiguous(id: EntryId): boolean {
		const entry = this.#entries.get(id);
		if (!entry) return false;
		for (; this.#keyed < this.#context.length; this.#keyed++) {
			const key = keyOf((this.#context[this.#keyed] as Placed).message);
			this.#keys.set(key, (this.#keys.get(key) ?? 0) + 1);
		}
		return (this.#keys.get(keyOf(entry.message)) ?? 0) > 1;
	}

	/** Index into the context list of the first entry after a branch position. */
	#indexAfter(position: number): number {
		let low = 0;
		let high = this.#context.length;
		while (low < high) {
			const middle = (low + high) >> 1;
			if ((this.#context[middle] as Placed).position <= position) low = middle + 1;
			else high = middle;
		}
		return low;
	}

	#reset(): void {
		for (const map of [
			this.#positions,
			this.#entries,
			this.#groupByCall,
			this.#records,
			this.#customMessages,
			this.#keys,
			this.#edits,
		])
			map.clear();
		this.#context = [];
		this.#users = [];
		this.#length = 0;
		this.#keyed = 0;
		this.#compactionId = undefined;
		this.#keptFrom = 0;
		this.#contextStart = 0;
		this.#tokens = 0;
		this.#agentTokens = 0;
		this.#announced = NONE;
		this.#editRevision++;
		this.#restructure();
	}

	#isOmitted(id: EntryId): boolean {
		return this.#edits.get(id)?.replacement === null;
	}

	/** Left out by an edit that is not ours. */
	#isGone(id: EntryId): boolean {
		const edit = this.#edits.get(id);
		return edit?.replacement === null && !edit.isOurs;
	}

	#present(entries: readonly Placed[]): readonly Placed[] {
		return this.#edits.size === 0 ? entries : entries.filter(({ id }) => !this.#isGone(id));
	}

	/** Counted when it is asked for, and again once an edit or the structure is another. */
	#unlistedCount(): number {
		if (this.#edits.size === 0) return 0;
		const revision = `${this.#editRevision}.${this.#structure}`;
		if (this.#unlisted?.revision !== revision) {
			const isUnlisted = (id: EntryId) =>
				this.#isOmitted(id) && (this.#entries.get(id)?.position ?? -1) >= this.#keptFrom;
			this.#unlisted = { revision, count: [...this.#edits.keys()].filter(isUnlisted).length };
		}
		return this.#unlisted.count;
	}

	/** Takes note of an edit that Pi applies. One that is not ours takes its entry out of the context, or back in. */
	#edit(targetId: EntryId, replacement: Replacement): void {
		const wasGone = this.#isGone(targetId);
		this.#edits.set(targetId, { replacement, isOurs: this.#announced.has(targetId) });
		this.#editRevision++;
		const isGone = this.#isGone(targetId);
		const entry = this.#entries.get(targetId);
		if (isGone === wasGone || !entry || entry.position < this.#keptFrom) return;
		const sign = isGone ? -1 : 1;
		this.#tokens += sign * entry.tokens;
		if (isOfAgent(entry.message)) this.#agentTokens += sign * entry.tokens;
		this.#restructure();
	}

	#restructure(): void {
		this.#structure++;
		this.#revision++;
		this.#labelRevision++;
	}

	#grow(entries: readonly SessionEntry[]): void {
		for (const entry of entries) this.#add(entry);
	}

	#add(entry: SessionEntry): void {
		const position = this.#length++;
		this.#positions.set(entry.id, position);
		if (entry.type === "custom" || entry.type === "custom_message") this.#revision++;
		if (entry.type === "label") this.#labelRevision++;
		if (entry.type === "context_edit") {
			if (this.#source?.buildSessionProjection !== undefined) this.#edit(entry.targetId, entry.replacement);
		} else this.#announced = targetsIn(entry);
		if (entry.type === "custom") push(this.#records, entry.customType, { entryId: entry.id, data: entry.data });
		const message = messageOf(entry);
		if (!message) return;
		const placed: Placed = { id: entry.id, message, tokens: messageTokens(message), position, group: undefined };
		this.#entries.set(entry.id, placed);
		this.#context.push(placed);
		this.#tokens += placed.tokens;
		if (isOfAgent(message)) this.#agentTokens += placed.tokens;
		if (message.role === "user") this.#users.push(placed);
		if (message.role === "custom") push(this.#customMessages, message.customType, placed);
		this.#joinGroup(placed);
		if (entry.type === "compaction") this.#compact(placed, entry.firstKeptEntryId);
	}

	#joinGroup(placed: Placed): void {
		const { id, message } = placed;
		const calls = toolCallsOf(message);
		if (calls.length > 0) {
			const group: OpenGroup = { assistantId: id, calls, resultIds: [] };
			placed.group = group;
			for (const call of calls) this.#groupByCall.set(call.id, group);
		}
		if (message.role !== "toolResult") return;
		const group = this.#groupByCall.get(message.toolCallId);
		if (!group) return;
		group.resultIds.push(id);
		placed.group = group;
	}

	#compact(summary: Placed, firstKeptId: EntryId | null | undefined): void {
		if (this.#source?.buildSessionProjection !== undefined)
			this.#context = this.#context.filter(({ id }) => id !== this.#compactionId);
		this.#compactionId = summary.id;
		const kept = firstKeptId ? this.#positions.get(firstKeptId) : undefined;
		this.#keptFrom = kept ?? summary.position;
		this.#contextStart = this.#indexAfter(this.#keptFrom - 1);
		const sum = (entries: readonly ContextEntry[]) => entries.reduce((total, { tokens }) => total + tokens, 0);
		this.#tokens = sum(this.context());
		this.#agentTokens = sum(this.context().filter(({ message }) => isOfAgent(message)));
		this.#restructure();
	}
}

/**
 * What identifies a message in Pi's list. A custom message's timestamp is made when it is sent and differs from its
 * entry's, so it goes by content; every other field of an edited message may differ from the entry's.
 */
export function keyOf(message: Message): string {
	if (message.role === "toolResult") return `toolResult:${message.toolCallId}`;
	if (message.role === "custom") return `custom:${message.customType}:${contentKey(message)}`;
	return `${message.role}:${message.timestamp}`;
}

function contentKey(message: CustomMessage): string {
	return typeof message.content === "string" ? message.content : JSON.stringify(blocksOf(message.content));
}

const NONE: ReadonlySet<unknown> = new Set();

/** What a record of ours announces: the edits that come right after it are ours. */
function targetsIn(entry: SessionEntry): ReadonlySet<unknown> {
	if (entry.type !== "custom" || entry.customType !== MIRROR_RECORD) return NONE;
	const { targets } = (entry.data ?? {}) as { readonly targets?: unknown };
	return Array.isArray(targets) ? new Set(targets) : NONE;
}

/** The message that an entry contributes to the context, as Pi would build it; undefined for entries without one. */
function messageOf(entry: SessionEntry): Message | undefined {
	const timestamp = Date.parse(entry.timestamp);
	switch (entry.type) {
		case "message":
			return entry.message?.role === "system" ? undefined : entry.message;
		case "custom_message": {
			const { customType, content, display, details } = entry;
			return { role: "custom", customType, content, display, details, timestamp };
		}
		case "compaction":
			return { role: "compactionSummary", summary: entry.summary, timestamp };
		case "branch_summary":
			return entry.summary ? { role: "branchSummary", summary: entry.summary, timestamp } : undefined;
		default:
			return undefined;
	}
}

/** The entries from the leaf back to a known one, oldest first. A cycle of parents counts as the root. */
function newEntries(
	source: BranchSource,
	leafId: EntryId | null,
	isKnown: (id: EntryId) => boolean,
): { readonly entries: readonly SessionEntry[]; readonly joined: boolean } {
	const entries: SessionEntry[] = [];
	const seen = new Set<EntryId>();
	let id = leafId;
	while (id !== null && !isKnown(id) && !seen.has(id)) {
		seen.add(id);
		const entry = source.getEntry(id);
		if (!entry) break;
		entries.push(entry);
		id = entry.parentId;
	}
	return { entries: entries.reverse(), joined: id !== null && isKnown(id) };
}

function push<T>(map: Map<string, T[]>, key: string, value: T): void {
	const list = map.get(key);
	if (list) list.push(value);
	else map.set(key, [value]);
}
