import type { PluginApi } from "../../src/plugin.ts";
import { type BloatHit, bloatOf } from "./bloat.ts";
import type { NudgesOptions } from "./options.ts";
import { driftLine } from "./prompt.ts";

export const METRIC = "mulligan:turn-metric";

/** What one turn added, as it is recorded. Tokens are plain estimates. */
export interface TurnMetric {
	readonly turnIndex: number;
	/** Growth of the agent's part of the view; null where there was nothing to compare with. */
	readonly deltaTokens: number | null;
	readonly bloatHit: boolean;
	readonly bloatHits: readonly BloatHit[];
	/** This turn alone reached `driftThresholdTokens`. */
	readonly grewOverThreshold: boolean;
}

/** What is remembered of earlier turns. */
export interface Drift {
	/** The agent's part of the view when the last turn ended; undefined: nothing to compare with. */
	readonly agentTokens: number | undefined;
	/** What the last turns count in the mean, oldest first; null: left out. As many as the window has turns. */
	readonly growths: readonly (number | null)[];
	/** Turns that still pass without a line, because one was sent. */
	readonly restTurns: number;
}

export interface EndedTurn {
	readonly turnIndex: number;
	/** The agent's part of the view. */
	readonly agentTokens: number;
	readonly bloatHits: readonly BloatHit[];
	/** The agent has acted on its context in it, or may not: no line is due. */
	readonly isExcused: boolean;
}

type Limits = Pick<NudgesOptions, "driftThresholdTokens" | "driftWindowTurns">;

export const NO_DRIFT: Drift = { agentTokens: undefined, growths: [], restTurns: 0 };

/**
 * A turn has ended. `dueTokens` is what the line of the next request names; undefined: no line. What an excused turn
 * added is left out of the mean: it has been answered. What it gave back counts.
 */
export function endTurn(
	before: Drift,
	{ turnIndex, agentTokens, bloatHits, isExcused }: EndedTurn,
	limits: Limits,
): { readonly drift: Drift; readonly metric: TurnMetric; readonly dueTokens: number | undefined } {
	const deltaTokens = before.agentTokens === undefined ? null : agentTokens - before.agentTokens;
	const growth = isExcused && deltaTokens !== null && deltaTokens > 0 ? null : deltaTokens;
	const growths = [...before.growths, growth].slice(-limits.driftWindowTurns);
	const isQuiet = isExcused || before.restTurns > 0;
	return {
		drift: { agentTokens, growths, restTurns: Math.max(0, before.restTurns - 1) },
		metric: {
			turnIndex,
			deltaTokens,
			bloatHit: bloatHits.length > 0,
			bloatHits,
			grewOverThreshold: deltaTokens !== null && deltaTokens >= limits.driftThresholdTokens,
		},
		dueTokens: isQuiet ? undefined : tokensToName({ deltaTokens, growths, bloatHits }, limits),
	};
}

/** The line was sent: it rests. */
export function atRest(drift: Drift, { driftWindowTurns }: Limits): Drift {
	return { ...drift, restTurns: driftWindowTurns };
}

/** The context changed otherwise than by turns: there is nothing to compare with. */
export function forgotten({ restTurns }: Drift): Drift {
	return { ...NO_DRIFT, restTurns };
}

function tokensToName(
	turn: Pick<TurnMetric, "deltaTokens" | "bloatHits"> & Pick<Drift, "growths">,
	{ driftThresholdTokens }: Limits,
): number | undefined {
	const { deltaTokens, growths, bloatHits } = turn;
	if (deltaTokens === null) return bloatHits.length > 0 ? sum(bloatHits.map(({ tokens }) => tokens)) : undefined;
	const known = growths.filter((growth) => growth !== null);
	return deltaTokens > 0 && sum(known) / known.length >= driftThresholdTokens ? deltaTokens : undefined;
}

function sum(figures: readonly number[]): number {
	return figures.reduce((total, figure) => total + figure, 0);
}

/** Records each turn's growth, and says in the next request, once, that turns grow by much. */
export function watchDrift({ hooks, journal, options, session }: PluginApi<NudgesOptions>): void {
	let drift = NO_DRIFT;
	let turn = newTurn();
	let dueTokens: number | undefined;
	let refusedPrompt: string | undefined;
	const prompt = () => session.latestUser()?.id ?? "";
	const forget = () => {
		drift = forgotten(drift);
		dueTokens = undefined;
	};

	hooks.onView.tap("nudges:drift", (view) => {
		turn = newTurn();
		if (dueTokens === undefined) return;
		view.annotate(driftLine(dueTokens));
		dueTokens = undefined;
		drift = atRest(drift, options);
	});

	hooks.onToolResult.tap("nudges:drift", (result, call) => {
		const hit = bloatOf(result, call, options);
		if (hit) turn.bloatHits.push(hit);
		return result;
	});

	hooks.onOp.tap("nudges:drift", (event) => {
		if (event.status === "refused") {
			if (event.plugin === "rewind") refusedPrompt = prompt();
		} else if (event.status !== "dropped" && event.status !== "cancelled") {
			turn.hasActed = true;
			dueTokens = undefined;
		}
	});

	hooks.onTurnEnd.tap("nudges:drift", ({ turnIndex }) => {
		const isExcused = turn.hasActed || refusedPrompt === prompt();
		const { agentTokens } = session;
		const ended = endTurn(drift, { turnIndex, agentTokens, bloatHits: turn.bloatHits, isExcused }, options);
		drift = ended.drift;
		dueTokens = ended.dueTokens;
		journal.append(METRIC, ended.metric);
	});

	hooks.onCompact.tap("nudges:drift", forget);
	hooks.onSession.tap("nudges:drift", forget);
}

/** What happens between a request and the end of its turn. */
function newTurn(): { readonly bloatHits: BloatHit[]; hasActed: boolean } {
	return { bloatHits: [], hasActed: false };
}
