import type { Shape } from "./cases.ts";
import type { Resume } from "./measure.ts";
import type { Turn } from "./stopwatch.ts";

/** Time in our handlers, and that against Pi's clone of the same turn. */
export interface Cost {
	readonly ms: number;
	readonly ratio: number;
}

/** The medians of one session on one Pi. */
export interface Figures extends Shape {
	readonly pi: string;
	readonly cloneMs: number;
	/** In the handlers of a request, `context` and `context_with_system`. */
	readonly view: Cost;
	/** In the handlers of a turn's messages, all of them. */
	readonly messageEndMs: number;
	readonly turnEndMs: number;
	/** In all handlers of a turn. */
	readonly turn: Cost;
	/** The first request after a resume, and our `session_start` before it. */
	readonly first: { readonly startMs: number; readonly cloneMs: number; readonly view: Cost };
}

/** What our handlers may take: a share of the clone, or a time where that is more. */
export const TARGET = { share: 0.05, ms: 0.1 } as const;

export function isOverTarget({ ms, ratio }: Cost): boolean {
	return ratio > TARGET.share && ms > TARGET.ms;
}

/** The medians of some resumes of one session. */
export function figuresOf(pi: string, { messages, textBytes, markers }: Shape, resumes: readonly Resume[]): Figures {
	const steady = resumes.flatMap((resume) => resume.steady);
	const firsts = resumes.map(({ first }) => first);
	return {
		pi,
		messages,
		textBytes,
		markers,
		cloneMs: median(steady.map(({ cloneMs }) => cloneMs)),
		view: cost(steady, viewMs),
		messageEndMs: median(steady.map((turn) => eventMs(turn, "message_end"))),
		turnEndMs: median(steady.map((turn) => eventMs(turn, "turn_end"))),
		turn: cost(steady, allMs),
		first: {
			startMs: median(resumes.map(({ startMs }) => startMs)),
			cloneMs: median(firsts.map(({ cloneMs }) => cloneMs)),
			view: cost(firsts, viewMs),
		},
	};
}

function cost(turns: readonly Turn[], msOf: (turn: Turn) => number): Cost {
	return { ms: median(turns.map(msOf)), ratio: median(turns.map((turn) => msOf(turn) / turn.cloneMs)) };
}

function eventMs({ handlerMs }: Turn, event: string): number {
	return handlerMs.get(event) ?? 0;
}

function viewMs(turn: Turn): number {
	return eventMs(turn, "context") + eventMs(turn, "context_with_system");
}

function allMs({ handlerMs }: Turn): number {
	return [...handlerMs.values()].reduce((sum, ms) => sum + ms, 0);
}

function median(values: readonly number[]): number {
	const sorted = [...values].sort((a, b) => a - b);
	const middle = sorted.length >> 1;
	const upper = sorted[middle] ?? Number.NaN;
	return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}
