import type { PastMoment } from "../kernel/moments.ts";
import type { HookTime, PluginTrace, TracedEntry } from "../kernel/trace.ts";
import { counted, cut, figure, plain, table, wrapped } from "./layout.ts";
import type { PanelState, RunState } from "./state.ts";

/** The hooks that make the view of a request. */
const VIEW_HOOKS = ["beforeFilter", "transformMessage", "onView"];
/** Entries that are named of what a plugin hid or changed; of the others only their number. */
const MOST_NAMED = 5;

/** What each plugin did to the last request, and the last moment, as lines for a terminal of so many columns. */
export function traceLines({ config, run, plugins }: PanelState, width: number): readonly string[] {
	if (!config.settings.enabled) return ["Mulligan is off: it touches no request."];
	const moment = wrapped(momentText(run), width, "  ");
	const { trace } = run;
	if (!trace) return [...wrapped("No request was made since the session started here.", width), ...moment];
	const running = plugins.filter(({ state }) => state !== "off").map(({ name }) => name);
	const names = [...new Set([...running, ...trace.plugins.map(({ plugin }) => plugin)])];
	const titles = ["plugin", "view", "other", "what it did to the request"];
	const rows = names.map((name) =>
		row(
			name,
			trace.plugins.find(({ plugin }) => plugin === name),
			run,
		),
	);
	const total = trace.plugins.flatMap(({ times }) => times).filter(isOfView);
	const head = `Request ${figure(trace.number)} of this session: a view of ~${counted(trace.tokens, "token")}, made in ${msOf(total)} ms.`;
	return [
		...wrapped(head, width),
		...table([titles, ...rows], width),
		...wrapped(
			"view: the time that making this view took; other: that of all other hooks since the request before.",
			width,
		),
		...moment,
	];
}

function row(name: string, trace: PluginTrace | undefined, run: RunState): readonly string[] {
	const times = trace?.times ?? [];
	const others = times.filter((time) => !isOfView(time));
	const did = trace ? deeds(trace, run) : [];
	return [
		plain(name),
		`${msOf(times.filter(isOfView))} ms`,
		others.length === 0 ? "" : `${msOf(others)} ms`,
		did.length === 0 ? "nothing" : did.join("; "),
	];
}

function deeds({ hidden, kept, changed, notes, annotations }: PluginTrace, run: RunState): readonly string[] {
	const freed = hidden.reduce((sum, { tokens }) => sum + tokens, 0);
	return [
		...(hidden.length > 0
			? [`hid ${counted(hidden.length, "message")}, ~${counted(freed, "token")} (${named(hidden, run)})`]
			: []),
		...(kept > 0 ? [`asked to hide ${counted(kept, "message")} that the kernel kept`] : []),
		...(changed.length > 0
			? [`changed ${counted(changed.length, "message")}, ${sizes(changed)} (${named(changed, run)})`]
			: []),
		...(notes > 0 ? [`keeps ${counted(notes, "note")} in the view`] : []),
		...annotations.map((line) => `added “${cut(plain(line), 120)}”`),
	];
}

function sizes(changed: readonly TracedEntry[]): string {
	const sum = (size: (entry: TracedEntry) => number) => figure(changed.reduce((total, each) => total + size(each), 0));
	return `~${sum(({ tokens }) => tokens)} → ${sum(({ newTokens }) => newTokens)} tokens`;
}

function named(entries: readonly TracedEntry[], run: RunState): string {
	const names = entries.slice(0, MOST_NAMED).map(({ id }) => plain(run.labelOf(id)));
	const more = entries.length - names.length;
	return more > 0 ? `${names.join(", ")} and ${figure(more)} more` : names.join(", ");
}

function isOfView({ hook }: HookTime): boolean {
	return VIEW_HOOKS.includes(hook);
}

function msOf(times: readonly HookTime[]): string {
	return times.reduce((sum, { ms }) => sum + ms, 0).toFixed(2);
}

/** The last moment, and why it happened. */
function momentText({ moments }: RunState): string {
	const { last } = moments;
	if (!last) return "Last moment: none since the session started here.";
	const what = `${counted(last.ops.length, "change")} (${last.ops.map(({ describe }) => plain(describe)).join(", ")})`;
	const why = `because ${reason(last, moments)}`;
	if (last.heldBy !== undefined)
		return `Last moment: ${last.heldBy} held back ${what}, which would have become active ${why}.`;
	const cost = last.free ? "at no cost: the prompt cache broke anyway" : "one moment of the budget";
	return `Last moment: ${what}, ~${counted(last.volumeTokens, "token")}, ${why}; ${cost}.`;
}

/** Why a batch became active, in words. */
export function reason({ trigger }: Pick<PastMoment, "trigger">, moments: RunState["moments"]): string {
	switch (trigger) {
		case "volume":
			return `at least ${counted(moments.flushShedTokens, "token")} waited`;
		case "safety valve":
			return `more than ${counted(moments.safetyValveTokens, "token")} waited`;
		case "second op":
			return "a second change came in one turn";
		case "same turn":
			return "another change of its turn had become active";
		case "audit":
			return "the model called mulligan_audit";
		case "cancel":
			return "a change was taken back";
		case "resume":
			return "the session was resumed after a pause";
		case "compaction":
			return "the context was compacted";
		case "model change":
			return "the model was changed";
	}
}
