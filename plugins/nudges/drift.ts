import type { BloatHit } from "./bloat.ts";
import type { NudgesOptions } from "./options.ts";

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
	/** The agent's own part of the view. */
	readonly agentTokens: number;
	readonly bloatHits: readonly BloatHit[];
	/** The agent has acted on its context in it, or may not: no line is due. */
	readonly isExcused: boolean;
}

type Limits = Pick<NudgesOptions, "driftThresholdTokens" | "driftWindowTurns">;

/** Growth below this is no news: in thousands it would read as nothing. */
const LEAST_NAMED = 50;

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
	return deltaTokens >= LEAST_NAMED && sum(known) / known.length >= driftThresholdTokens ? deltaTokens : undefined;
}

/**
 * The turns that still rest after those of an earlier process, by their records, oldest first: a restart is no reason
 * for one more line. A line that was due counts as sent.
 */
export function restAfter(metrics: readonly Pick<TurnMetric, "deltaTokens" | "bloatHit">[], limits: Limits): number {
	let drift = NO_DRIFT;
	for (const { deltaTokens, bloatHit } of metrics) {
		const before = { ...drift, agentTokens: deltaTokens === null ? undefined : 0 };
		const bloatHits = bloatHit ? [SOME_HIT] : [];
		const ended = endTurn(before, { turnIndex: 0, agentTokens: deltaTokens ?? 0, bloatHits, isExcused: false }, limits);
		drift = ended.dueTokens === undefined ? ended.drift : atRest(ended.drift, limits);
	}
	return drift.restTurns;
}

const SOME_HIT: BloatHit = { toolCallId: "", toolName: "", bytes: 1, tokens: 1 };

function sum(figures: readonly number[]): number {
	return figures.reduce((total, figure) => total + figure, 0);
}
