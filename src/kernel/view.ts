import type { Branch, ContextEntry } from "./branch.ts";
import { complaintAboutChange } from "./fidelity.ts";
import { wholeGroups } from "./groups.ts";
import type { HookName, Hooks, TapGuard } from "./hooks.ts";
import type { Owner } from "./isolate.ts";
import type { Journal } from "./journal.ts";
import { type Content, type EntryId, isOfAgent, type Message } from "./messages.ts";
import { keptForOrder } from "./order.ts";
import { messageTokens } from "./tokens.ts";

/** A message of ours that must stand in the view, whether or not Pi's list already carries its entry. */
export interface PlannedNote {
	/** The record that the note belongs to. */
	readonly recordEntryId: EntryId;
	readonly customType: string;
	readonly content: string;
	readonly details: object;
	/** Milliseconds since the epoch. */
	readonly timestamp: number;
	/** The note's own entry, where it has been written. */
	readonly entryId?: EntryId;
}

/** What `beforeFilter` gives a plugin. It counts only if the tap returns. */
export interface PlanDraft {
	/** Take an entry out of the view; a tool group by its assistant message. Unknown ids do nothing. */
	hide(id: EntryId): void;
	/** Keep a note in the view, directly after the turn in which its record was written. */
	note(note: PlannedNote): void;
}

/** The finished view of one request, as `onView` gives it to a plugin. */
export interface ViewDraft {
	/** Plain estimate of the view, in tokens. */
	readonly tokens: number;
	/** The model's window in tokens; undefined where it is not known. */
	readonly window: number | undefined;
	/** Share of the window, calibrated once the provider's figures agree; undefined without a window. */
	readonly share: number | undefined;
	/** Whether an entry is in this request's view. */
	has(id: EntryId): boolean;
	/** The survivors, oldest first. Walks the context: not for every request. */
	entries(): readonly ContextEntry[];
	/** Add one line at the end of this request only. It counts only if the tap returns. */
	annotate(line: string): void;
}

/** What every request shows until a record changes: a function of records and entries. Until then its parts only grow. */
export interface DurableView {
	readonly hidden: ReadonlySet<EntryId>;
	readonly replaced: ReadonlyMap<EntryId, Content>;
	readonly notes: readonly PlannedNote[];
	/** Plain estimate in tokens. */
	readonly tokens: number;
	/** The part of `tokens` that is the agent's own (see `isOfAgent`). */
	readonly agentTokens: number;
}

/** What one plugin does to the durable view: what it asked to hide, the notes it keeps, what it replaced. */
export interface Contribution {
	readonly hidden: Set<EntryId>;
	readonly notes: PlannedNote[];
	readonly replaced: Map<EntryId, Content>;
}

/** What the hook is called with; each tap gets a draft of its own instead. */
const NO_DRAFT: PlanDraft = { hide: () => {}, note: () => {} };

const nothing = (): Contribution => ({ hidden: new Set(), notes: [], replaced: new Map() });

/**
 * Keeps the durable view: made once, extended by what is new on the branch, made again when a record that a tap read
 * was added or the branch changed otherwise than by growth.
 */
export class ViewKeeper {
	readonly #branch: Branch;
	readonly #journal: Journal;
	readonly #log: (line: string) => void;
	#hooks: Pick<Hooks, "beforeFilter" | "transformMessage"> | undefined;

	#hidden = new Set<EntryId>();
	#replaced = new Map<EntryId, Content>();
	#notes: readonly PlannedNote[] = [];
	#editTokens = 0;
	#agentEditTokens = 0;
	#seen = 0;
	#structure = -1;
	#types: ReadonlySet<string> = new Set();
	#version: string | undefined;
	/** The journal's revision when the version was last compared. */
	#checked: number | undefined;
	#expected: string | undefined;

	/** What each plugin contributed when it last did not fail. */
	#good = new Map<Owner, Contribution>();
	#current = new Map<Owner, Contribution>();
	readonly #faulty = new Set<Owner>();
	#failedInPass = false;

	constructor(options: { readonly branch: Branch; readonly journal: Journal; readonly log: (line: string) => void }) {
		this.#branch = options.branch;
		this.#journal = options.journal;
		this.#log = options.log;
	}

	/** The hooks to run, once they are made. */
	use(hooks: Pick<Hooks, "beforeFilter" | "transformMessage">): void {
		this.#hooks = hooks;
	}

	/** Say why the next change of the durable view is meant; a change without a reason is reported as a fault. */
	expectChange(reason: string): void {
		this.#expected = reason;
	}

	/** Make the view again at its next use, whatever the records say: a plugin was switched off. */
	invalidate(reason: string): void {
		this.#version = undefined;
		this.expectChange(reason);
	}

	/** Give plugins that failed another try: a new request begins. */
	retry(): void {
		if (this.#faulty.size > 0) this.#version = undefined;
	}

	/** The durable view of the branch as it is now. */
	durable(): DurableView {
		if (this.#isOutdated()) this.#make();
		else this.#extend();
		this.#checked = this.#journal.revision;
		return {
			hidden: this.#hidden,
			replaced: this.#replaced,
			notes: this.#notes,
			tokens: this.#branch.contextTokens + this.#editTokens,
			agentTokens: this.#branch.agentTokens + this.#agentEditTokens,
		};
	}

	/** Whether the view shows one of these entries otherwise than it is. */
	changes(ids: readonly EntryId[]): boolean {
		const { hidden, replaced } = this.durable();
		return ids.some((id) => this.#branch.inContext(id) && (hidden.has(id) || replaced.has(id)));
	}

	#isOutdated(): boolean {
		if (this.#version === undefined) return true;
		return this.#checked !== this.#journal.revision && this.#version !== this.#journal.version(this.#types);
	}

	/** What each plugin contributes to the durable view. Until a record changes its parts only grow. */
	get contributions(): ReadonlyMap<Owner, Contribution> {
		return this.#current;
	}

	/** What the kernel does around the taps of the two durable hooks. */
	guards(): Partial<Record<HookName, TapGuard>> {
		const bypass = (who: Owner) => this.#faulty.has(who);
		const failed = (who: Owner) => {
			this.#faulty.add(who);
			this.#failedInPass = true;
		};
		return {
			beforeFilter: {
				bypass,
				failed,
				open: (who) => {
					const { draft, commit } = this.#draft(who);
					return { args: [draft], done: commit };
				},
				otherwise: (who) => {
					const good = who.off === undefined ? this.#good.get(who) : undefined;
					if (!good) return;
					const mine = this.#contribution(who);
					for (const id of good.hidden) mine.hidden.add(id);
					for (const note of good.notes) if (!mine.notes.includes(note)) mine.notes.push(note);
				},
			},
			transformMessage: {
				bypass,
				failed,
				complaint: (value, [message]) => complaintAboutChange(value, message as Message),
				accept: (who, value, [message, entry]) => {
					if (value !== message)
						this.#contribution(who).replaced.set((entry as ContextEntry).id, contentOf(value as Message));
				},
				otherwise: (who, [message, entry]) => {
					const id = (entry as ContextEntry).id;
					const good = who.off === undefined ? this.#good.get(who)?.replaced.get(id) : undefined;
					if (good === undefined) return message;
					this.#contribution(who).replaced.set(id, good);
					return { ...(message as Message), content: good };
				},
			},
		};
	}

	#draft(who: Owner): { draft: PlanDraft; commit: () => void } {
		const { hidden, notes } = nothing();
		return {
			draft: { hide: (id) => hidden.add(id), note: (note) => notes.push(note) },
			commit: () => {
				const mine = this.#contribution(who);
				for (const id of hidden) mine.hidden.add(id);
				mine.notes.push(...notes);
			},
		};
	}

	#contribution(who: Owner): Contribution {
		const known = this.#current.get(who);
		if (known) return known;
		const fresh = nothing();
		this.#current.set(who, fresh);
		return fresh;
	}

	/** Runs both durable hooks over the whole context; again, without the plugins that failed, until none fails. */
	#make(faulty: Iterable<Owner> = []): void {
		const before = this.#current;
		const structure = this.#structure;
		const standing0 = [...faulty];
		this.#faulty.clear();
		for (const who of standing0) this.#faulty.add(who);
		do {
			this.#failedInPass = false;
			this.#current = new Map();
			const [, types] = this.#journal.watching(() => this.#pass());
			this.#types = types;
		} while (this.#failedInPass);
		const standing = [...this.#good].filter(([who]) => this.#faulty.has(who));
		this.#good = new Map([...standing, ...this.#current]);
		this.#version = this.#journal.version(this.#types);
		if (structure === this.#structure && this.#faulty.size === 0) this.#nameSilentChanges(before);
		this.#expected = undefined;
	}

	#pass(): void {
		this.#hooks?.beforeFilter.call(NO_DRAFT);
		const asked = new Set<EntryId>();
		const notes: PlannedNote[] = [];
		for (const contribution of this.#current.values()) {
			for (const id of contribution.hidden) if (this.#branch.entry(id)) asked.add(id);
			notes.push(...contribution.notes);
		}
		const first = this.#branch.users[0];
		if (first) asked.delete(first.id);
		for (const { entryId } of notes) if (entryId !== undefined) asked.delete(entryId);
		const { hidden, halves } = wholeGroups(asked, this.#branch);
		if (halves.length > 0) this.#log(`kept ${halves.length} result(s) whose call stays: ${halves.join(", ")}`);
		const kept = hidden.size === 0 ? hidden : keptForOrder(this.#branch.context(), (id) => hidden.has(id));
		for (const id of kept) hidden.delete(id);
		if (kept.size > 0)
			this.#log(`kept ${kept.size} message(s) between two of the assistant's: ${[...kept].join(", ")}`);
		this.#hidden = hidden;
		this.#notes = notes;
		this.#replaced = new Map();
		this.#editTokens = 0;
		this.#agentEditTokens = 0;
		for (const id of hidden) this.#discount(id);
		this.#structure = this.#branch.structure;
		this.#transform(this.#branch.context());
		this.#seen = this.#branch.since(Number.POSITIVE_INFINITY).count;
	}

	#discount(id: EntryId): void {
		const entry = this.#branch.inContext(id) ? this.#branch.entry(id) : undefined;
		if (entry) this.#count(entry, -entry.tokens);
	}

	/** What an edit of an entry adds to the view, in tokens. */
	#count({ message }: ContextEntry, tokens: number): void {
		this.#editTokens += tokens;
		if (isOfAgent(message)) this.#agentEditTokens += tokens;
	}

	#extend(): void {
		const { entries, count } = this.#branch.since(this.#seen);
		if (entries.length === 0) return;
		this.#seen = count;
		const [, types] = this.#journal.watching(() => this.#transform(entries));
		if (this.#failedInPass) {
			this.#failedInPass = false;
			this.#make(this.#faulty);
			return;
		}
		this.#types = new Set([...this.#types, ...types]);
		this.#version = this.#journal.version(this.#types);
	}

	#transform(entries: readonly ContextEntry[]): void {
		const hook = this.#hooks?.transformMessage;
		for (const entry of entries) {
			if (this.#isHiddenWithItsGroup(entry)) continue;
			const message = hook?.call(entry.message, entry) ?? entry.message;
			if (message === entry.message) continue;
			const content = contentOf(message);
			this.#replaced.set(entry.id, content);
			this.#count(entry, messageTokens(entry.message, content) - entry.tokens);
		}
	}

	/** A result that is stored after its call was hidden goes with it. */
	#isHiddenWithItsGroup(entry: ContextEntry): boolean {
		if (this.#hidden.has(entry.id)) return true;
		const group = this.#branch.groupOf(entry.id);
		if (!group || !this.#hidden.has(group.assistantId)) return false;
		this.#hidden.add(entry.id);
		this.#count(entry, -entry.tokens);
		return true;
	}

	/** Names the plugins whose durable output changed although nothing asked for it: that breaks the prompt cache. */
	#nameSilentChanges(before: ReadonlyMap<Owner, Contribution>): void {
		if (this.#expected !== undefined) return;
		for (const who of new Set([...before.keys(), ...this.#current.keys()])) {
			const mine = this.#current.get(who) ?? nothing();
			const was = before.get(who) ?? nothing();
			if (isSame(was, mine)) continue;
			this.#log(`${who.name} changed earlier context outside a moment: this breaks the prompt cache`);
		}
	}
}

function isSame(a: Contribution, b: Contribution): boolean {
	if (a.hidden.size !== b.hidden.size || a.replaced.size !== b.replaced.size) return false;
	for (const id of a.hidden) if (!b.hidden.has(id)) return false;
	for (const [id, content] of a.replaced)
		if (JSON.stringify(content) !== JSON.stringify(b.replaced.get(id))) return false;
	return true;
}

function contentOf(message: Message): Content {
	return "content" in message ? message.content : [];
}
