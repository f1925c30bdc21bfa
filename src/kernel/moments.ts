import type { Branch } from "./branch.ts";
import { decide, type FreeRide, type Trigger } from "./decide.ts";
import type { HookName, Hooks, TapGuard } from "./hooks.ts";
import { type Isolation, messageOfError, type Owner, owner } from "./isolate.ts";
import type { Journal } from "./journal.ts";
import type { EntryId } from "./messages.ts";
import type { QueuedBody, QueuedOpBody, RecordBodies, RecordHeader, RecordType } from "./records.ts";
import type { DurableView, ViewKeeper } from "./view.ts";
import { volumeOf } from "./volume.ts";

/** An accepted request to change earlier context: the record to write, under its id, when it becomes active, and what it touches. */
export interface Op extends QueuedOpBody {
	readonly id: string;
}

/** What became of an op, as far as its stored result can tell. Volumes are plain estimates in tokens. */
export type Fate =
	| { readonly status: "active" }
	| { readonly status: "queued"; readonly volumeTokens: number; readonly until: string }
	| { readonly status: "held"; readonly by: string; readonly volumeTokens: number }
	| { readonly status: "dropped"; readonly reason: string }
	| { readonly status: "failed"; readonly reason: string };

/** A batch that is about to become active. */
export interface Moment {
	readonly ops: readonly Op[];
	/** Plain estimate of what the batch sheds, in tokens, net of what replaces it. */
	readonly volumeTokens: number;
	readonly trigger: Trigger;
	/** The prompt cache breaks anyway. */
	readonly free: boolean;
}

/** A batch that became active, or that a plugin held back. */
export interface PastMoment extends Moment {
	/** The plugin that held it back. */
	readonly heldBy?: string;
}

export type OpEvent =
	| { readonly status: "refused"; readonly plugin: string; readonly reason: string; readonly code: string }
	| { readonly status: "activated"; readonly op: Op; readonly record: RecordHeader & object }
	| { readonly status: "queued" | "held" | "dropped" | "cancelled"; readonly op: Op; readonly reason?: string };

/** Whether an op has become active by writing a record of this type; `record` is then one of these. */
export function isActivationOf<T extends RecordType>(
	event: OpEvent,
	type: T,
): event is Extract<OpEvent, { status: "activated" }> & { readonly record: RecordBodies[T] } {
	return event.status === "activated" && event.op.type === type;
}

/** How rare moments are. Tokens are plain estimates. */
export interface MomentRules {
	readonly maxMoments: number;
	readonly flushShedTokens: number;
	readonly safetyValveTokens: number;
}

/** What the adapter does to the stored result of a call: a text put in its place, or one line after another added. */
export interface Ending {
	readonly text: string;
	readonly replaces: boolean;
}

/** A submitted op with what its tool will say of its fate. */
interface Submitted {
	readonly op: Op;
	readonly tell: (fate: Fate) => string;
}

interface Audited {
	readonly toolCallId: string;
	/** The report, once the decision is made. */
	readonly report: (activated: readonly Op[]) => string;
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
	readonly #log: (line: string) => void;
	readonly rules: MomentRules;
	#hooks: Pick<Hooks, "onMoment" | "onOp"> | undefined;
	#fresh: Submitted[] = [];
	#audited: Audited[] = [];
	#ride: FreeRide | undefined;
	readonly #doubts: ((op: Op) => string | undefined)[] = [];
	#heldBy = "";
	#answered: { readonly batch: string; readonly isHeld: boolean } | undefined;
	#spent = 0;
	#last: PastMoment | undefined;
	#turn = newTurn();

	constructor(options: {
		readonly branch: Branch;
		readonly journal: Journal;
		readonly view: ViewKeeper;
		readonly isolation: Isolation;
		readonly log: (line: string) => void;
		readonly rules: MomentRules;
	}) {
		this.#branch = options.branch;
		this.#journal = options.journal;
		this.#view = options.view;
		this.#isolation = options.isolation;
		this.#log = options.log;
		this.rules = options.rules;
	}

	use(hooks: Pick<Hooks, "onMoment" | "onOp">): void {
		this.#hooks = hooks;
	}

	/** Moments of this session that were not free. */
	get spent(): number {
		return this.#spent;
	}

	/** The last batch of this session that became active or was held back; undefined before the first. */
	get last(): PastMoment | undefined {
		return this.#last;
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
		this.#turn = newTurn();
		this.#ride = undefined;
		this.#dropPointless();
	}

	/** A call of one of our tools has run, whatever came of it. */
	noteRun(toolCallId: string): void {
		this.#turn.ran.add(toolCallId);
	}

	/** Hand in an op. Its result is completed by `tell` once the turn's ops are decided. */
	submit(op: Op, tell: (fate: Fate) => string): void {
		this.#turn.ops++;
		this.#fresh.push({ op, tell });
	}

	/** The model audits: what waits may activate with it. Its result is the report, made once that is decided. */
	audit(toolCallId: string, report: Audited["report"]): void {
		this.#audited.push({ toolCallId, report });
	}

	/** Let go of every waiting op for which `reasonOf` gives a reason: at the start of a turn, and before each decision. */
	dropWhen(who: Owner, reasonOf: (op: Op) => string | undefined): void {
		this.#doubts.push((op) => {
			if (who.off !== undefined) return undefined;
			return this.#isolation.run<string | undefined>(who, "dropWhen", () => reasonOf(op), {
				isSync: true,
				complaint: (value) =>
					value === undefined || typeof value === "string" ? undefined : `returned ${typeof value}, no reason`,
				otherwise: () => undefined,
			}) as string | undefined;
		});
	}

	/** Earlier context changes anyway in this turn: what waits may ride along when the turn is decided. */
	offerRide(ride: FreeRide): void {
		this.#ride = ride;
	}

	/** The prompt cache breaks now, outside a turn's results: activate what waits. Returns what became active. */
	rideNow(ride: FreeRide, leftContext: readonly Op[] = []): readonly Op[] {
		this.#ride = ride;
		if (ride !== "compaction") this.#answered = undefined;
		this.#dropPointless();
		return this.#decide([], new Set(leftContext.map(({ id }) => id)));
	}

	/** The ops that wait: those kept in the session log, then those of this turn. */
	waiting(): readonly Op[] {
		return [...this.#queue(), ...this.#fresh.map(({ op }) => op)];
	}

	/**
	 * The view that a compaction is to summarise, and the ops that become active with it: all that wait, unless a plugin
	 * holds them back. Asked now, since the summary can't be told later; the answer holds for the ride of these ops.
	 */
	beforeCompaction(): { readonly view: DurableView; readonly ops: readonly Op[] } {
		const ops = this.waiting().filter((op) => this.#reasonToDrop(op) === undefined);
		this.#answered = undefined;
		const moment: Moment = { ops, volumeTokens: volumeOf(ops), trigger: "compaction", free: true };
		if (ops.length === 0) return { view: this.#view.durable(), ops };
		this.#answered = { batch: idsOf(ops), isHeld: this.#isHeld(moment) };
		if (this.#answered.isHeld) return { view: this.#view.durable(), ops: [] };
		const view = this.#journal.assuming(ops, () => {
			this.#view.expectChange("a preview");
			return this.#view.durable();
		});
		this.#view.expectChange("a preview");
		return { view, ops };
	}

	/** Take a waiting op back. Returns false if none has this id. */
	cancel(opId: string): boolean {
		return this.#remove(opId, "cancelled");
	}

	/** Let go of a waiting op that has become pointless, and say why. Returns false if none has this id. */
	drop(opId: string, reason: string): boolean {
		return this.#remove(opId, "dropped", reason);
	}

	/**
	 * Decide on all ops that wait: once a turn, at its first tool result, and again where a later op of the turn came
	 * after that (Pi then runs the batch one by one).
	 */
	settle(): void {
		this.#dropPointless();
		const isNews = this.#fresh.length > 0 || this.#audited.length > 0 || this.#ride !== undefined;
		if (this.#turn.isDecided && !isNews) return;
		this.#turn.isDecided = true;
		this.#answered = undefined;
		const fresh = this.#fresh;
		this.#fresh = [];
		const activated = this.#decide(fresh, new Set());
		const audited = this.#audited;
		this.#audited = [];
		for (const { toolCallId, report } of audited) {
			const text = this.#say(() => report(activated));
			if (text) this.#turn.endings.set(toolCallId, { text, replaces: true });
		}
		if (activated.length > 0) this.#orient(fresh, activated, audited.at(-1)?.toolCallId);
	}

	/** What completes the stored result of a call. Undefined for every call that has nothing to do with an op. */
	endingOf(toolCallId: string): Ending | undefined {
		return this.#turn.endings.get(toolCallId);
	}

	/** Decides on the queue and the fresh ops together, and tells each fresh op its fate. Returns what became active. */
	#decide(fresh: readonly Submitted[], leftContext: ReadonlySet<string>): readonly Op[] {
		const ops = [...this.#queue(), ...fresh.map(({ op }) => op)];
		const volumeTokens = volumeOf(ops);
		const freeRide = this.#ride;
		this.#ride = undefined;
		const decision = decide({
			...this.rules,
			waiting: ops.length,
			volumeTokens,
			opsInTurn: this.#turn.ops,
			isMoment: this.#turn.isMoment,
			isAudited: this.#audited.length > 0,
			freeRide,
			spent: this.#spent,
		});
		const fates =
			decision.do === "wait"
				? this.#keepAll(fresh, volumeTokens)
				: this.#open({ ops, volumeTokens, trigger: decision.trigger, free: decision.free }, leftContext);
		for (const { op, tell } of fresh) {
			const fate = fates.get(op.id);
			if (fate) this.#turn.endings.set(op.toolCallId, { text: this.#say(() => tell(fate)), replaces: false });
		}
		return ops.filter(({ id }) => fates.get(id)?.status === "active");
	}

	#keepAll(fresh: readonly Submitted[], volumeTokens: number): ReadonlyMap<string, Fate> {
		const until =
			this.#spent < this.rules.maxMoments
				? `about ${this.rules.flushShedTokens} tokens wait, a second change comes in one turn, or you call mulligan_audit`
				: "the prompt cache breaks anyway: a compaction, a mulligan_audit call, a change of model, a cancel";
		return new Map(
			fresh.map(({ op }) => {
				const failed = this.#write(() => this.#keep(op));
				if (failed) return [op.id, { status: "failed", reason: failed.message }] as [string, Fate];
				this.#hooks?.onOp.call({ status: "queued", op });
				return [op.id, { status: "queued", volumeTokens, until }] as [string, Fate];
			}),
		);
	}

	#open(moment: Moment, leftContext: ReadonlySet<string>): ReadonlyMap<string, Fate> {
		if (this.#isHeld(moment)) return this.#hold(moment);
		const shed = new Map<EntryId, Shed>();
		const fates = new Map(moment.ops.map((op) => [op.id, this.#activate(op, { leftContext, shed })] as const));
		for (const [id, { opId, tokens }] of shed)
			this.#turn.replaced.set(id, { opId, tokens: (this.#turn.replaced.get(id)?.tokens ?? 0) + tokens });
		if (![...fates.values()].some(({ status }) => status === "active")) return fates;
		this.#last = { ...moment, ops: moment.ops.filter(({ id }) => fates.get(id)?.status === "active") };
		this.#log(`moment: ${moment.ops.length} op(s), ~${moment.volumeTokens} tokens, by ${moment.trigger}`);
		this.#turn.isMoment = true;
		if (!moment.free) this.#spent++;
		return fates;
	}

	/** Asks the plugins, once for a batch: a compaction had to ask before its summary was made. */
	#isHeld(moment: Moment): boolean {
		const answered = this.#answered;
		this.#answered = undefined;
		if (answered?.batch === idsOf(moment.ops)) return answered.isHeld;
		return this.#hooks?.onMoment.call(moment) === false;
	}

	#hold(moment: Moment): ReadonlyMap<string, Fate> {
		const { ops, volumeTokens } = moment;
		const by = this.#heldBy;
		this.#last = { ...moment, heldBy: by };
		const known = new Set(this.#queue().map(({ id }) => id));
		return new Map(
			ops.map((op) => {
				const failed = known.has(op.id) ? undefined : this.#write(() => this.#keep(op));
				if (failed) return [op.id, { status: "failed", reason: failed.message }] as [string, Fate];
				this.#hooks?.onOp.call({ status: "held", op, reason: `held by ${by}` });
				return [op.id, { status: "held", by, volumeTokens }] as [string, Fate];
			}),
		);
	}

	/** `shed` takes what the batch sheds by replaced entry: of two shrinks of one result the later counts. */
	#activate(
		op: Op,
		{ leftContext, shed }: { readonly leftContext: ReadonlySet<string>; readonly shed: Map<EntryId, Shed> },
	): Fate {
		const isLate = this.#queue().some(({ id }) => id === op.id);
		const isLeft = leftContext.has(op.id) && op.effect === "hide";
		if (!isLeft && !op.entryIds.some((id) => this.#branch.inContext(id))) return this.#dropAtMoment(op, isLate);
		let record: (RecordHeader & object) | undefined;
		const failed = this.#write(() => {
			record = this.#journal.append(op.type, { ...op.body, id: op.id, ...(isLate ? { late: true } : {}) });
		});
		if (failed || !record) return { status: "failed", reason: failed?.message ?? "nothing was written" };
		this.#view.expectChange(`${op.plugin} became active`);
		if (isLate) this.#write(() => this.#close(op, "activated"));
		if (op.effect === "replace") for (const id of op.entryIds) shed.set(id, { opId: op.id, tokens: op.shedTokens });
		this.#hooks?.onOp.call({ status: "activated", op, record });
		return { status: "active" };
	}

	#dropAtMoment(op: Op, isLate: boolean): Fate {
		const reason = "what it touches has left the context";
		if (isLate) this.#close(op, "dropped", reason);
		this.#hooks?.onOp.call({ status: "dropped", op, reason });
		return { status: "dropped", reason };
	}

	#reasonToDrop(op: Op): string | undefined {
		for (const doubt of this.#doubts) {
			const reason = doubt(op);
			if (reason !== undefined) return reason;
		}
		return undefined;
	}

	#dropPointless(): void {
		if (this.#doubts.length === 0) return;
		for (const op of this.waiting()) {
			const reason = this.#reasonToDrop(op);
			if (reason !== undefined) this.#write(() => void this.drop(op.id, reason));
		}
	}

	#remove(opId: string, status: "cancelled" | "dropped", reason?: string): boolean {
		const fresh = this.#fresh.find(({ op }) => op.id === opId);
		const op = fresh?.op ?? this.#queue().find(({ id }) => id === opId);
		if (!op) return false;
		if (fresh) {
			this.#fresh = this.#fresh.filter((other) => other !== fresh);
			const text = this.#say(() => fresh.tell({ status: "dropped", reason: reason ?? status }));
			this.#turn.endings.set(op.toolCallId, { text, replaces: false });
		} else this.#close(op, status, reason);
		this.#hooks?.onOp.call({ status, op, ...(reason === undefined ? {} : { reason }) });
		return true;
	}

	/**
	 * Adds the orientation line, once a moment: to the turn's last shrink result, or without one to the result of the
	 * rewind or audit that caused the activation.
	 */
	#orient(fresh: readonly Submitted[], activated: readonly Op[], auditCallId: string | undefined): void {
		const own = this.#inCallOrder(fresh.map(({ op }) => op).filter((op) => activated.includes(op)));
		const last = own.findLast(({ effect }) => effect === "replace") ?? own.at(-1);
		const carrierId = last?.toolCallId ?? auditCallId;
		const replaced = this.#replacedInView();
		if (carrierId === undefined || replaced.length === 0 || (last && this.#hasLaterCallOfSameTool(last))) return;
		if (last?.effect !== "replace" && this.#turn.isOriented) return;
		this.#turn.isOriented = true;
		const tokens = replaced.reduce((sum, shed) => sum + shed.tokens, 0);
		const ending = this.#turn.endings.get(carrierId);
		const line = orientationLine(replaced.length, Math.max(0, Math.round(tokens)));
		this.#turn.endings.set(carrierId, { replaces: false, ...ending, text: ending ? `${ending.text}\n${line}` : line });
	}

	/** What the turn replaced and the view shows so: neither what is hidden as well, nor what was retired at once. */
	#replacedInView(): readonly Shed[] {
		const { hidden } = this.#view.durable();
		const retired = new Set(this.#journal.read("mulligan:cancel").map(({ targetId }) => targetId));
		return [...this.#turn.replaced].flatMap(([id, shed]) => (hidden.has(id) || retired.has(shed.opId) ? [] : [shed]));
	}

	#inCallOrder(ops: readonly Op[]): readonly Op[] {
		const place = (op: Op) =>
			this.#branch.groupOfCall(op.toolCallId)?.calls.findIndex(({ id }) => id === op.toolCallId) ?? 0;
		return [...ops].sort((a, b) => place(a) - place(b));
	}

	/** Where Pi runs a batch one by one, a later call of the same tool in it has not run yet: that one speaks last. */
	#hasLaterCallOfSameTool(op: Op): boolean {
		const calls = this.#branch.groupOfCall(op.toolCallId)?.calls ?? [];
		const at = calls.findIndex(({ id }) => id === op.toolCallId);
		const name = calls[at]?.name;
		return calls.slice(at + 1).some((call) => call.name === name && !this.#hasRun(call.id));
	}

	#hasRun(toolCallId: string): boolean {
		return this.#turn.ran.has(toolCallId) || this.#turn.endings.has(toolCallId);
	}

	#queue(): readonly Op[] {
		const waiting = new Map<string, Op>();
		for (const { id, status, op } of this.#journal.read("mulligan:queued")) {
			if (status === "queued" && op) waiting.set(id, { ...op, id });
			else waiting.delete(id);
		}
		return [...waiting.values()].filter((op) => !this.#hasRecord(op));
	}

	/** The log may end, or the branch leave it, between an op's record and the word that it waits no longer. */
	#hasRecord({ id, type }: Op): boolean {
		return this.#journal.read(type).some((record) => (record as { readonly id?: unknown }).id === id);
	}

	#keep({ id, ...op }: Op): void {
		this.#journal.append<QueuedBody>("mulligan:queued", { id, status: "queued", op });
	}

	#close(op: Op, status: "activated" | "dropped" | "cancelled", reason?: string): void {
		this.#journal.append<QueuedBody>("mulligan:queued", { id: op.id, status, ...(reason ? { reason } : {}) });
	}

	/** A plugin's words on a fate; without any if it fails, so that the other results are told theirs. */
	#say(words: () => string): string {
		return this.#isolation.run<string>(owner("mulligan"), "tell", words, { otherwise: () => "" }) as string;
	}

	/** Writes to the session log; an error is returned, for the result to tell. */
	#write(code: () => void): Error | undefined {
		const outcome = this.#isolation.run<Error | undefined>(
			owner("mulligan"),
			"write",
			() => {
				code();
				return undefined;
			},
			{ otherwise: (error) => (error instanceof Error ? error : new Error(messageOfError(error))) },
		);
		return outcome as Error | undefined;
	}
}

/** What a replacement sheds, in plain tokens, and the op that it stands by. */
interface Shed {
	readonly opId: string;
	readonly tokens: number;
}

function idsOf(ops: readonly Op[]): string {
	return ops.map(({ id }) => id).join();
}

interface Turn {
	/** Ops submitted in it. */
	ops: number;
	isDecided: boolean;
	isMoment: boolean;
	/** A result of it carries the orientation line. */
	isOriented: boolean;
	/** What its moment shed, by replaced entry. */
	readonly replaced: Map<EntryId, Shed>;
	/** What completes its results, by call. */
	readonly endings: Map<string, Ending>;
	/** Our calls that have run. */
	readonly ran: Set<string>;
}

function newTurn(): Turn {
	return {
		ops: 0,
		isDecided: false,
		isMoment: false,
		isOriented: false,
		replaced: new Map(),
		endings: new Map(),
		ran: new Set(),
	};
}
