import type { Branch } from "./branch.ts";
import type { HookName } from "./hooks.ts";
import type { Owner } from "./isolate.ts";
import type { EntryId } from "./messages.ts";
import { contentTokens } from "./tokens.ts";
import type { Contribution, DurableView } from "./view.ts";

/** What one plugin's taps of one hook took since the request before. Milliseconds are wall time. */
export interface HookTime {
	readonly hook: HookName;
	readonly calls: number;
	readonly ms: number;
}

/** An entry that a plugin took out of the view or changed; tokens are plain estimates. */
export interface TracedEntry {
	readonly id: EntryId;
	/** Of the original. */
	readonly tokens: number;
	/** Of what the plugin made of it; 0 for what is hidden. */
	readonly newTokens: number;
}

/** What one plugin did to a request. */
export interface PluginTrace {
	readonly plugin: string;
	/** What it asked to hide and is hidden, with the results of a group that it asked for by its calls. */
	readonly hidden: readonly TracedEntry[];
	/** Messages that it asked to hide and the kernel kept: the first user message, half a group. */
	readonly kept: number;
	readonly changed: readonly TracedEntry[];
	/** Notes that it keeps in the view. */
	readonly notes: number;
	/** The lines that it added to this request only. */
	readonly annotations: readonly string[];
	readonly times: readonly HookTime[];
}

/** The last request, plugin by plugin: those that did something to it, or ran since the request before. */
export interface RequestTrace {
	/** Which request of the session it was, from 1 on. */
	readonly number: number;
	/** Plain estimate of its view, in tokens. */
	readonly tokens: number;
	readonly plugins: readonly PluginTrace[];
}

/** Calls of a tap that are timed one by one; beyond them one of `ONE_OF` is: a clock costs more than most calls. */
const EXACT = 32;
const ONE_OF = 64;

/** What the calls of one tap took between two requests. */
interface Tally {
	/** The request that they count for, by its number. */
	request: number;
	calls: number;
	exactMs: number;
	sampledMs: number;
	samples: number;
}

const nothingFor = (request: number): Tally => ({ request, calls: 0, exactMs: 0, sampledMs: 0, samples: 0 });

/** Adds up what the calls of one tap take, for the request that comes and for the one before. */
export class Meter {
	readonly who: Owner;
	readonly hook: HookName;
	readonly #clock: () => number;
	readonly #next: () => number;
	#now: Tally = nothingFor(0);
	#before: Tally = nothingFor(0);

	/** `clock` counts milliseconds, `next` tells the number of the request that comes. */
	constructor(options: {
		readonly who: Owner;
		readonly hook: HookName;
		readonly clock: () => number;
		readonly next: () => number;
	}) {
		this.who = options.who;
		this.hook = options.hook;
		this.#clock = options.clock;
		this.#next = options.next;
	}

	/** A call begins. Returns when, for `stop`; -1 where this one is not timed. */
	start(): number {
		const next = this.#next();
		if (this.#now.request !== next) {
			this.#before = this.#now;
			this.#now = nothingFor(next);
		}
		const call = this.#now.calls++;
		return call < EXACT || call % ONE_OF === 0 ? this.#clock() : -1;
	}

	/** The call that began then has ended. */
	stop(start: number): void {
		if (start === -1) return;
		const ms = this.#clock() - start;
		if (this.#now.calls <= EXACT) this.#now.exactMs += ms;
		else {
			this.#now.sampledMs += ms;
			this.#now.samples++;
		}
	}

	/** What the calls took that count for this request; undefined without one. */
	timeOf(request: number): HookTime | undefined {
		const tally = [this.#now, this.#before].find((each) => each.request === request);
		if (!tally || tally.calls === 0) return undefined;
		const perCall = tally.samples === 0 ? tally.exactMs / EXACT : tally.sampledMs / tally.samples;
		const ms = tally.exactMs + perCall * Math.max(0, tally.calls - EXACT);
		return { hook: this.hook, calls: tally.calls, ms };
	}
}

interface Annotation {
	readonly who: Owner;
	readonly line: string;
}

/** What is kept of a request: references that still tell what was, and the leaf up to which they count. */
interface Kept {
	readonly number: number;
	readonly view: DurableView;
	readonly contributions: ReadonlyMap<Owner, Contribution>;
	readonly leafId: EntryId | null;
	readonly annotations: readonly Annotation[];
}

/**
 * Keeps what each plugin did to the last request. A request costs a few assignments, whatever the length of the session
 * and the number of plugins; the trace itself is made when somebody looks.
 */
export class Trace {
	readonly #clock: () => number;
	readonly #meters: Meter[] = [];
	#annotations: Annotation[] = [];
	#kept: Kept | undefined;

	/** `clock` counts milliseconds. */
	constructor(clock: () => number) {
		this.#clock = clock;
	}

	/** A meter for one tap. */
	meter(who: Owner, hook: HookName): Meter {
		const next = () => (this.#kept?.number ?? 0) + 1;
		const meter = new Meter({ who, hook, clock: this.#clock, next });
		this.#meters.push(meter);
		return meter;
	}

	/** A plugin has added these lines to the request that is being made. */
	annotated(who: Owner, lines: readonly string[]): void {
		for (const line of lines) this.#annotations.push({ who, line });
	}

	/** The view of a request is finished. */
	keep(request: Omit<Kept, "number" | "annotations">): void {
		this.#kept = { ...request, number: (this.#kept?.number ?? 0) + 1, annotations: this.#annotations };
		this.#annotations = [];
	}

	/** The last request; undefined before the first. */
	last(branch: Branch): RequestTrace | undefined {
		const kept = this.#kept;
		if (!kept) return undefined;
		const times = this.#meters.flatMap((meter) => {
			const time = meter.timeOf(kept.number);
			return time ? [{ who: meter.who, time }] : [];
		});
		const owners = new Set([...kept.contributions.keys(), ...[...times, ...kept.annotations].map(({ who }) => who)]);
		const plugins = [...owners].map((who) => ({
			...contributed(kept.contributions.get(who), { who, kept, branch }),
			annotations: kept.annotations.filter((annotation) => annotation.who === who).map(({ line }) => line),
			times: byHook(times.filter((timed) => timed.who === who).map(({ time }) => time)),
		}));
		return { number: kept.number, tokens: kept.view.tokens, plugins };
	}
}

function contributed(
	contribution: Contribution | undefined,
	{ who, kept, branch }: { readonly who: Owner; readonly kept: Kept; readonly branch: Branch },
): Omit<PluginTrace, "annotations" | "times"> {
	const { hidden } = kept.view;
	const { leafId } = kept;
	const wasThere = (id: EntryId) =>
		branch.inContext(id) && (leafId === null || !branch.has(leafId) || id === leafId || branch.isBefore(id, leafId));
	const asked = [...(contribution?.hidden ?? [])].filter(wasThere);
	const gone = new Set(asked.flatMap((id) => wholeGroup(id, branch)));
	const changed = [...(contribution?.replaced ?? [])].filter(([id]) => wasThere(id));
	return {
		plugin: who.name,
		hidden: [...gone]
			.filter((id) => hidden.has(id) && wasThere(id))
			.map((id) => ({ id, tokens: tokensOf(id, branch), newTokens: 0 })),
		kept: asked.filter((id) => !hidden.has(id)).length,
		changed: changed.map(([id, content]) => ({ id, tokens: tokensOf(id, branch), newTokens: contentTokens(content) })),
		notes: contribution?.notes.length ?? 0,
	};
}

/** An entry, and where it is the calls of a group the group's results. */
function wholeGroup(id: EntryId, branch: Branch): readonly EntryId[] {
	const group = branch.groupOf(id);
	return group?.assistantId === id ? [id, ...group.resultIds] : [id];
}

function tokensOf(id: EntryId, branch: Branch): number {
	return branch.entry(id)?.tokens ?? 0;
}

/** The times of a plugin's taps, those of one hook added up. */
function byHook(times: readonly HookTime[]): readonly HookTime[] {
	const sums = new Map<HookName, HookTime>();
	for (const { hook, calls, ms } of times) {
		const sum = sums.get(hook);
		sums.set(hook, { hook, calls: calls + (sum?.calls ?? 0), ms: ms + (sum?.ms ?? 0) });
	}
	return [...sums.values()];
}
