import type { Branch } from "./branch.ts";
import type { HookName, Hooks, TapGuard } from "./hooks.ts";
import { type Isolation, messageOfError, owner } from "./isolate.ts";
import type { Journal } from "./journal.ts";
import type { EntryId } from "./messages.ts";
import type { QueuedBody, QueuedOpBody, RecordHeader } from "./records.ts";
import type { ViewKeeper } from "./view.ts";

/** An accepted request to change earlier context: the record to write when it becomes active, and what it touches. */
export interface Op extends QueuedOpBody {
	readonly id: string;
}

/** What became of an op, as far as its stored result can tell. */
export type Fate =
	| { readonly status: "active" }
	| { readonly status: "held"; readonly by: string; readonly volumeTokens: number }
	| { readonly status: "dropped"; readonly reason: string }
	| { readonly status: "failed"; readonly reason: string };

/** A batch that is about to become active. */
export interface Moment {
	readonly ops: readonly Op[];
	/** Plain estimate of what the batch sheds, in tokens. */
	readonly volumeTokens: number;
	readonly trigger: "op" | "held";
	/** The prompt cache breaks anyway. */
	readonly free: boolean;
}

export type OpEvent =
	| { readonly status: "refused"; readonly plugin: string; readonly reason: string; readonly code: string }
	| { readonly status: "activated"; readonly op: Op; readonly record: RecordHeader & object }
	| { readonly status: "queued" | "held" | "dropped" | "cancelled"; readonly op: Op; readonly reason?: string };

/** A submitted op with what its tool will say of its fate. */
interface Submitted {
	readonly op: Op;
	readonly tell: (fate: Fate) => string;
}

/**
 * What to do with the ops that wait: the one policy there is activates all of them at once.
 * Pure: a function of what waits and nothing else.
 */
export function decide(waiting: { readonly fresh: number; readonly queued: number }): "activate" | "wait" {
	return waiting.fresh + waiting.queued > 0 ? "activate" : "wait";
}

/** The last line of a moment's last shrink result. `results` results changed, `tokens` net, in plain tokens. */
function orientationLine(results: number, tokens: number): string {
	return `Context updated: ${results} result(s) summarized (~${tokens} tokens shed). Continue exactly where you left off — no re-verification or re-reading is needed.`;
}

/** Collects the ops of a turn, decides on them before their results are stored, and activates them together. */
export class Moments {
	readonly #branch: Branch;
	readonly #journal: Journal;
	readonly #view: ViewKeeper;
	readonly #isolation: Isolation;
	#hooks: Pick<Hooks, "onMoment" | "onOp"> | undefined;
	#fresh: Submitted[] = [];
	#endings = new Map<string, string>();
	#heldBy = "";
	#decidedInTurn = false;
	/** Shed tokens by replaced entry, of the moment of this turn. */
	#replacedInTurn = new Map<EntryId, number>();
	#spent = 0;
	#hasSpent = false;
	#hasShrunk = false;
	#batch = new Map<EntryId, number>();
	readonly maxMoments: number;

	constructor(options: {
		readonly branch: Branch;
		readonly journal: Journal;
		readonly view: ViewKeeper;
		readonly isolation: Isolation;
		readonly maxMoments: number;
	}) {
		this.#branch = options.branch;
		this.#journal = options.journal;
		this.#view = options.view;
		this.#isolation = options.isolation;
		this.maxMoments = options.maxMoments;
	}

	use(hooks: Pick<Hooks, "onMoment" | "onOp">): void {
		this.#hooks = hooks;
	}

	/** Turns of this session in which an op became active. */
	get spent(): number {
		return this.#spent;
	}

	guard(): Partial<Record<HookName, TapGuard>> {
		return {
			onMoment: {
				complaint: (value) =>
					value === undefined || value === false
						? undefined
						: `returned ${String(value)}; only exactly false holds a batch back`,
				accept: (who, value) => {
					if (value === false) this.#heldBy = who.name;
				},
			},
		};
	}

	/** A turn has started: what is decided from now on belongs to it. */
	startTurn(): void {
		this.#decidedInTurn = false;
		this.#replacedInTurn = new Map();
		this.#endings = new Map();
		this.#hasSpent = false;
		this.#hasShrunk = false;
		this.#ran.clear();
	}

	/** Hand in an op. Its result is completed by `tell` once the turn's ops are decided. */
	submit(op: Op, tell: (fate: Fate) => string): void {
		this.#fresh.push({ op, tell });
	}

	/** The ops that wait: those kept in the session log, then those of this turn. */
	waiting(): readonly Op[] {
		return [...this.#queue(), ...this.#fresh.map(({ op }) => op)];
	}

	/** Take a waiting op back. Returns false if none has this id. */
	cancel(opId: string): boolean {
		const fresh = this.#fresh.find(({ op }) => op.id === opId);
		const op = fresh?.op ?? this.#queue().find(({ id }) => id === opId);
		if (!op) return false;
		if (fresh) {
			this.#fresh = this.#fresh.filter((other) => other !== fresh);
			this.#endings.set(op.toolCallId, fresh.tell({ status: "dropped", reason: "cancelled" }));
		} else this.#close(op, "cancelled");
		this.#hooks?.onOp.call({ status: "cancelled", op });
		return true;
	}

	/**
	 * Decide on all ops that wait: once a turn, at its first tool result, and again where a later op of the turn came
	 * after that (Pi then runs the batch one by one).
	 */
	settle(): void {
		if (this.#fresh.length === 0 && this.#decidedInTurn) return;
		this.#decidedInTurn = true;
		const queued = this.#queue();
		if (decide({ fresh: this.#fresh.length, queued: queued.length }) === "wait") return;
		const fresh = this.#fresh;
		this.#fresh = [];
		const ops = [...queued, ...fresh.map(({ op }) => op)];
		const fates = this.#open(ops, fresh.length > 0 ? "op" : "held");
		this.#tell(fresh, fates);
	}

	/** What completes the stored result of a call: the fate of its op. Undefined for every other call. */
	endingOf(toolCallId: string): string | undefined {
		return this.#endings.get(toolCallId);
	}

	#open(ops: readonly Op[], trigger: Moment["trigger"]): ReadonlyMap<string, Fate> {
		const volumeTokens = ops.reduce((sum, op) => sum + op.shedTokens, 0);
		const held = this.#hooks?.onMoment.call({ ops, volumeTokens, trigger, free: false }) === false;
		if (held) return this.#hold(ops, volumeTokens);
		this.#batch = new Map();
		const fates = new Map(ops.map((op) => [op.id, this.#activate(op)] as const));
		for (const [id, shed] of this.#batch) this.#replacedInTurn.set(id, (this.#replacedInTurn.get(id) ?? 0) + shed);
		if (!this.#hasSpent && [...fates.values()].some(({ status }) => status === "active")) {
			this.#hasSpent = true;
			this.#spent++;
		}
		return fates;
	}

	#hold(ops: readonly Op[], volumeTokens: number): ReadonlyMap<string, Fate> {
		const by = this.#heldBy;
		const fates = new Map<string, Fate>();
		const known = new Set(this.#queue().map(({ id }) => id));
		for (const op of ops) {
			const failure = known.has(op.id) ? undefined : this.#attempt(() => this.#keep(op));
			fates.set(op.id, failure ?? { status: "held", by, volumeTokens });
			if (!failure) this.#hooks?.onOp.call({ status: "held", op, reason: `held by ${by}` });
		}
		return fates;
	}

	#attempt(write: () => void): Fate | undefined {
		return this.#isolation.run<Fate | undefined>(owner("mulligan"), "activate", () => void write(), {
			otherwise: (error) => ({ status: "failed", reason: messageOfError(error) }),
		}) as Fate | undefined;
	}

	#activate(op: Op): Fate {
		const isLate = this.#queue().some(({ id }) => id === op.id);
		if (!op.entryIds.some((id) => this.#branch.inContext(id))) return this.#drop(op, isLate);
		const outcome = this.#isolation.run<(RecordHeader & object) | Error>(
			owner("mulligan"),
			"activate",
			() => this.#journal.append(op.type, { ...op.body, ...(isLate ? { late: true } : {}) }),
			{ otherwise: (error) => (error instanceof Error ? error : new Error(messageOfError(error))) },
		) as (RecordHeader & object) | Error;
		if (outcome instanceof Error) return { status: "failed", reason: outcome.message };
		this.#view.expectChange(`${op.plugin} became active`);
		if (isLate) this.#close(op, "activated");
		if (op.effect === "replace") for (const id of op.entryIds) this.#batch.set(id, op.shedTokens);
		this.#hooks?.onOp.call({ status: "activated", op, record: outcome });
		return { status: "active" };
	}

	#drop(op: Op, isLate: boolean): Fate {
		const reason = "what it touches has left the context";
		if (isLate) this.#close(op, "dropped", reason);
		this.#hooks?.onOp.call({ status: "dropped", op, reason });
		return { status: "dropped", reason };
	}

	/** Completes the results of the turn's own ops; the last one of the moment carries the orientation line. */
	#tell(fresh: readonly Submitted[], fates: ReadonlyMap<string, Fate>): void {
		for (const { op, tell } of fresh) {
			const fate = fates.get(op.id);
			if (fate) this.#endings.set(op.toolCallId, tell(fate));
		}
		const active = this.#inCallOrder(fresh.filter(({ op }) => fates.get(op.id)?.status === "active"));
		const carrier = active.findLast(({ op }) => op.effect === "replace") ?? active.at(-1);
		const results = this.#replacedInTurn.size;
		const isShrink = carrier?.op.effect === "replace";
		const wasTold = this.#hasShrunk;
		if (isShrink) this.#hasShrunk = true;
		if (!isShrink && wasTold) return;
		if (!carrier || results === 0 || this.#hasLaterCallOfSameTool(carrier.op)) return;
		const tokens = [...this.#replacedInTurn.values()].reduce((sum, shed) => sum + shed, 0);
		const ending = this.#endings.get(carrier.op.toolCallId) ?? "";
		this.#endings.set(carrier.op.toolCallId, `${ending}\n${orientationLine(results, Math.max(0, Math.round(tokens)))}`);
	}

	#inCallOrder(submitted: readonly Submitted[]): readonly Submitted[] {
		const place = ({ op }: Submitted) =>
			this.#branch.groupOfCall(op.toolCallId)?.calls.findIndex(({ id }) => id === op.toolCallId) ?? 0;
		return [...submitted].sort((a, b) => place(a) - place(b));
	}

	/** Where Pi runs a batch one by one, a later call of the same tool in it has not run yet: that one speaks last. */
	#hasLaterCallOfSameTool(op: Op): boolean {
		const calls = this.#branch.groupOfCall(op.toolCallId)?.calls ?? [];
		const at = calls.findIndex(({ id }) => id === op.toolCallId);
		const name = calls[at]?.name;
		return calls.slice(at + 1).some((call) => call.name === name && !this.#hasRun(call.id));
	}

	#hasRun(toolCallId: string): boolean {
		return this.#endings.has(toolCallId) || this.#ran.has(toolCallId);
	}

	readonly #ran = new Set<string>();

	/** A call of one of our tools has run, whatever came of it. */
	noteRun(toolCallId: string): void {
		this.#ran.add(toolCallId);
	}

	#queue(): readonly Op[] {
		const waiting = new Map<string, Op>();
		for (const { id, status, op } of this.#journal.read("mulligan:queued")) {
			if (status === "queued" && op) waiting.set(id, { ...op, id });
			else waiting.delete(id);
		}
		return [...waiting.values()];
	}

	#keep({ id, ...op }: Op): void {
		this.#journal.append<QueuedBody>("mulligan:queued", { id, status: "queued", op });
	}

	#close(op: Op, status: "activated" | "dropped" | "cancelled", reason?: string): void {
		this.#journal.append<QueuedBody>("mulligan:queued", { id: op.id, status, ...(reason ? { reason } : {}) });
	}
}
