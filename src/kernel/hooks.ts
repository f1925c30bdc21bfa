import { AsyncSeriesHook, AsyncSeriesWaterfallHook, SyncBailHook, SyncHook, SyncWaterfallHook } from "tapable";
import type { ContextEntry } from "./branch.ts";
import type { Isolation, Owner, Verdict } from "./isolate.ts";
import type { AssistantMessage, Block, Message } from "./messages.ts";
import type { Moment, OpEvent } from "./moments.ts";
import type { PlanDraft, ViewDraft } from "./view.ts";

/** A fresh tool result, before it is stored. */
export interface FreshResult {
	readonly content: readonly Block[];
	readonly details: unknown;
	readonly isError: boolean;
}

/** The call that a fresh result answers. */
export interface FinishedCall {
	readonly toolCallId: string;
	readonly toolName: string;
	readonly input: unknown;
	/** Set when another tool made the call: what is returned then is a script's data, not the model's. */
	readonly parentToolCallId?: string;
}

export interface TurnEnd {
	readonly turnIndex: number;
}

export interface CompactionEvent {
	readonly reason: string;
}

export interface SessionEvent {
	readonly reason: string;
}

/** Every hook of the kernel, with its kind. Order is the order of the plugins, nothing else. */
export interface Hooks {
	/** Sync: decide what leaves the view, and which notes stand in it. A function of records and entries. */
	readonly beforeFilter: SyncHook<[PlanDraft]>;
	/** Sync waterfall: map one surviving message; the same object means unchanged. Only the content may change. */
	readonly transformMessage: SyncWaterfallHook<[Message, ContextEntry]>;
	/** Sync: read the finished view of one request, and annotate it for this request only. */
	readonly onView: SyncHook<[ViewDraft]>;
	/** Async series waterfall: change a fresh tool result before it is stored. */
	readonly onToolResult: AsyncSeriesWaterfallHook<[FreshResult, FinishedCall]>;
	/** Async series waterfall: change a response before its calls run. */
	readonly onAssistantMessage: AsyncSeriesWaterfallHook<[AssistantMessage]>;
	/** Async series: a turn is persisted; measure, write records. */
	readonly onTurnEnd: AsyncSeriesHook<[TurnEnd]>;
	/** Sync bail: a batch is about to activate; exactly `false` holds it back. */
	readonly onMoment: SyncBailHook<[Moment], false | undefined>;
	/** Sync: an op was refused, queued, activated, held, dropped or cancelled. */
	readonly onOp: SyncHook<[OpEvent]>;
	/** Async series: the agent has settled; nothing runs. */
	readonly onSettled: AsyncSeriesHook<[]>;
	/** Async series: the context was compacted. */
	readonly onCompact: AsyncSeriesHook<[CompactionEvent]>;
	/** Async series: the session has started; plugins are set up. */
	readonly onSession: AsyncSeriesHook<[SessionEvent]>;
}

export type HookName = keyof Hooks;

/** What the kernel does around the taps of one hook. */
export interface TapGuard {
	/** Whether this tap is passed over in this call, its `otherwise` value taken instead. */
	bypass?(who: Owner, args: readonly unknown[]): boolean;
	/** The arguments that this tap gets; what it does to them counts only if `done` is called. */
	open?(who: Owner, args: readonly unknown[]): { readonly args: readonly unknown[]; done?(): void };
	/** Takes the good value of a tap. */
	accept?(who: Owner, value: unknown, args: readonly unknown[]): void;
	/** What is wrong with a returned value; undefined: nothing. */
	complaint?(value: unknown, args: readonly unknown[]): string | undefined;
	/** What stands in for a tap that was passed over or failed. */
	otherwise?(who: Owner, args: readonly unknown[]): unknown;
	/** Called when a tap failed. */
	failed?(who: Owner): void;
}

interface TapInfo {
	readonly name: string;
	readonly type: "sync" | "async" | "promise";
	readonly fn: (...args: unknown[]) => unknown;
	readonly before?: string;
	readonly stage?: number;
	readonly context?: boolean;
}

type AnyHook = { intercept(interceptor: { register(tap: TapInfo): TapInfo }): void };

/** Makes the hooks: every tap isolated, blamed on the plugin that is being set up, and refused once set-up is over. */
export function createHooks({
	isolation,
	setupOwner,
	guards,
}: {
	readonly isolation: Isolation;
	/** The plugin whose set-up is running; undefined once the hooks are frozen. */
	readonly setupOwner: () => Owner | undefined;
	readonly guards: Partial<Record<HookName, TapGuard>>;
}): Hooks {
	const hooks: Hooks = {
		beforeFilter: new SyncHook(["plan"], "beforeFilter"),
		transformMessage: new SyncWaterfallHook(["message", "entry"], "transformMessage"),
		onView: new SyncHook(["view"], "onView"),
		onToolResult: new AsyncSeriesWaterfallHook(["result", "call"], "onToolResult"),
		onAssistantMessage: new AsyncSeriesWaterfallHook(["message"], "onAssistantMessage"),
		onTurnEnd: new AsyncSeriesHook(["turn"], "onTurnEnd"),
		onMoment: new SyncBailHook(["moment"], "onMoment"),
		onOp: new SyncHook(["op"], "onOp"),
		onSettled: new AsyncSeriesHook([], "onSettled"),
		onCompact: new AsyncSeriesHook(["event"], "onCompact"),
		onSession: new AsyncSeriesHook(["event"], "onSession"),
	};
	for (const name of Object.keys(hooks) as HookName[]) {
		const names = new Set<string>();
		(hooks[name] as unknown as AnyHook).intercept({
			register: (tap) => {
				const who = setupOwner();
				const named = who ? { ...tap, name: nameUnder(who, tap.name) } : tap;
				const admitted = admit(named, { hook: name, who, names });
				return { ...named, ...isolated(named, { hook: name, who: admitted, isolation, guard: guards[name] ?? {} }) };
			},
		});
		(hooks[name] as unknown as AnyHook).intercept = () => {
			throw new Error(`${name}: interceptors are the kernel's own.`);
		};
	}
	return hooks;
}

/** The name of a tap, its plugin's own name put as the one it goes by. */
function nameUnder({ name, ownName }: Owner, tap: string): string {
	return tap === ownName || tap.startsWith(`${ownName}:`) ? `${name}${tap.slice(ownName.length)}` : tap;
}

/** Refuses what tapable would take silently: late taps, foreign and duplicate names, `before` and `stage`, callbacks. */
function admit(
	tap: TapInfo,
	{ hook, who, names }: { hook: HookName; who: Owner | undefined; names: Set<string> },
): Owner {
	if (!who) throw new Error(`${hook}: "${tap.name}" taps after set-up. Tap in setup(), before it returns.`);
	if (tap.name !== who.name && !tap.name.startsWith(`${who.name}:`))
		throw new Error(`${hook}: a tap of ${who.name} is named "${tap.name}". Name it "${who.name}" or "${who.name}:…".`);
	if (names.has(tap.name)) throw new Error(`${hook}: "${tap.name}" taps twice. Name the second "${who.name}:…".`);
	if (tap.before !== undefined || tap.stage)
		throw new Error(`${hook}: "${tap.name}" sets before or stage. The order of taps is the order of plugins.`);
	if (tap.context) throw new Error(`${hook}: "${tap.name}" asks for tapable's context.`);
	if (tap.type === "async") throw new Error(`${hook}: "${tap.name}" uses tapAsync. Use tap or tapPromise.`);
	names.add(tap.name);
	return who;
}

/**
 * The tap inside its isolation. Every tap of an asynchronous hook becomes a promise tap, so that it may be declared
 * with `tap`, answer synchronously or throw, and is waited for in each case.
 */
function isolated(
	tap: TapInfo,
	{ hook, who, isolation, guard }: { hook: HookName; who: Owner; isolation: Isolation; guard: TapGuard },
): Pick<TapInfo, "type" | "fn"> {
	const isSync = SYNC.has(hook);
	const otherwise = (args: readonly unknown[]) => guard.otherwise?.(who, args);
	const verdict: Verdict<unknown> = {
		isSync,
		complaint: (value, args) => guard.complaint?.(value, args),
		accept: (value, args) => guard.accept?.(who, value, args),
		otherwise: (_error, args) => {
			guard.failed?.(who);
			return otherwise(args);
		},
	};
	const call = (...args: unknown[]): unknown => {
		if (who.off !== undefined || guard.bypass?.(who, args)) return otherwise(args);
		const scope = guard.open?.(who, args);
		if (!scope) return isolation.call<unknown, readonly unknown[]>(who, hook, tap.fn, args, verdict);
		return isolation.call<unknown, readonly unknown[]>(who, hook, () => tap.fn(...scope.args), args, {
			...verdict,
			accept: (value) => {
				scope.done?.();
				guard.accept?.(who, value, args);
			},
		});
	};
	return isSync ? { type: "sync", fn: call } : { type: "promise", fn: async (...args) => call(...args) };
}

const SYNC: ReadonlySet<HookName> = new Set(["beforeFilter", "transformMessage", "onView", "onMoment", "onOp"]);
