import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
	atRest,
	type Drift,
	type EndedTurn,
	endTurn,
	forgotten,
	NO_DRIFT,
	restAfter,
	type TurnMetric,
} from "./drift.ts";

const limits = { driftThresholdTokens: 4000, driftWindowTurns: 3 };
const hit = (tokens: number) => ({ toolCallId: "c", toolName: "grep", bytes: tokens * 4, tokens });

type Turn = Partial<Omit<EndedTurn, "turnIndex" | "agentTokens">> & { readonly grows: number };

/** Ends these turns one after the other; what each was told and recorded. A due line is sent by the next request. */
function run(turns: readonly Turn[], start: Drift = NO_DRIFT) {
	let drift = start;
	let agentTokens = 10_000;
	const told: (number | undefined)[] = [];
	const metrics: TurnMetric[] = [];
	for (const [turnIndex, { grows, bloatHits = [], isExcused = false }] of turns.entries()) {
		agentTokens += grows;
		const ended = endTurn(drift, { turnIndex, agentTokens, bloatHits, isExcused }, limits);
		drift = ended.dueTokens === undefined ? ended.drift : atRest(ended.drift, limits);
		told.push(ended.dueTokens);
		metrics.push(ended.metric);
	}
	return { told, metrics, drift };
}

const first: Turn = { grows: 50_000 };
const none = undefined;

describe("the drift of turns", () => {
	test.each<[string, readonly Turn[], readonly (number | undefined)[]]>([
		["nothing is said of a first turn, however large", [first], [none]],
		["the mean of one turn is enough, from the threshold on", [first, { grows: 4000 }], [none, 4000]],
		["one token below is below", [first, { grows: 3999 }], [none, none]],
		["the mean counts, and the last turn is named", [first, { grows: 3000 }, { grows: 5000 }], [none, none, 5000]],
		[
			"the window ends: the first of four turns is out",
			[first, { grows: -9000 }, { grows: 3900 }, { grows: 3900 }, { grows: 4200 }],
			[none, none, none, none, 4200],
		],
		[
			"after a line it rests for three turns",
			[first, ...Array<Turn>(9).fill({ grows: 5000 })],
			[none, 5000, none, none, none, 5000, none, none, none, 5000],
		],
		[
			"without a baseline a bloat hit is enough, and named",
			[{ grows: 1, bloatHits: [hit(6100), hit(5000)] }],
			[11_100],
		],
		["with a baseline a bloat hit alone is not", [first, { grows: 100, bloatHits: [hit(6100)] }], [none, none]],
		["an excused turn is passed over", [first, { grows: 9000, isExcused: true }], [none, none]],
		[
			"an excused turn is passed over without a baseline",
			[{ grows: 1, bloatHits: [hit(9000)], isExcused: true }],
			[none],
		],
		[
			"what was added in an excused turn is not held against the next",
			[first, { grows: 20_000, isExcused: true }, { grows: 300 }],
			[none, none, none],
		],
		[
			"what was given back in an excused turn counts for the next",
			[first, { grows: -9000, isExcused: true }, { grows: 5000 }, { grows: 5000 }],
			[none, none, none, none],
		],
	])("%s", (_what, turns, expected) => {
		expect(run(turns).told).toEqual(expected);
	});

	test("a shrinking turn is not named even while the mean is high", () => {
		const high: Drift = { agentTokens: 10_000, growths: [9000, 9000], restTurns: 0 };
		expect(run([{ grows: -100 }], high).told).toEqual([undefined]);
		expect(run([{ grows: 100 }], high).told).toEqual([100]);
	});

	test("growth that would read as 0.0 thousand is not named, however high the mean", () => {
		const high: Drift = { agentTokens: 10_000, growths: [9000, 9000], restTurns: 0 };
		expect(run([{ grows: 49 }], high).told).toEqual([undefined]);
		expect(run([{ grows: 50 }], high).told).toEqual([50]);
	});

	test("a metric tells growth, hits and whether the turn alone reached the threshold", () => {
		const { metrics } = run([first, { grows: 4000, bloatHits: [hit(4000)] }, { grows: 3999 }, { grows: -5 }]);
		expect(metrics).toEqual([
			{ turnIndex: 0, deltaTokens: null, bloatHit: false, bloatHits: [], grewOverThreshold: false },
			{ turnIndex: 1, deltaTokens: 4000, bloatHit: true, bloatHits: [hit(4000)], grewOverThreshold: true },
			{ turnIndex: 2, deltaTokens: 3999, bloatHit: false, bloatHits: [], grewOverThreshold: false },
			{ turnIndex: 3, deltaTokens: -5, bloatHit: false, bloatHits: [], grewOverThreshold: false },
		]);
	});

	test("what is forgotten is no baseline, and the rest goes on", () => {
		const { drift } = run([first, { grows: 5000 }]);
		const { told, metrics } = run([first, { grows: 5000 }, { grows: 5000 }, { grows: 5000 }], forgotten(drift));
		expect(metrics[0]?.deltaTokens).toBeNull();
		expect(told).toEqual([undefined, undefined, undefined, 5000]);
	});

	test("the rest that another process goes on with is the one that the records tell", () => {
		const rests = (turns: readonly Turn[]) => restAfter(run(turns).metrics, limits);
		const large = { grows: 5000 };
		expect([[], [first], [first, large], [first, large, large], [first, ...Array(4).fill(large)]].map(rests)).toEqual([
			0, 0, 3, 2, 0,
		]);
		expect(rests([{ grows: 1, bloatHits: [hit(5000)] }])).toBe(3);
		fc.assert(
			fc.property(fc.array(turn.map((made) => ({ ...made, isExcused: false }))), (turns) => {
				expect(rests(turns)).toBe(run(turns).drift.restTurns);
			}),
		);
	});

	const turn: fc.Arbitrary<Turn> = fc.record({
		grows: fc.integer({ min: -30_000, max: 30_000 }),
		isExcused: fc.boolean(),
		bloatHits: fc.array(fc.integer({ min: 4000, max: 9000 }).map(hit), { maxLength: 2 }),
	});

	test("however it goes: no more figures than the window, no line in a rest, none after an excused turn, none for nothing", () => {
		let lines = 0;
		fc.assert(
			fc.property(fc.array(turn, { maxLength: 200, size: "max" }), (turns) => {
				const { told, drift } = run(turns);
				expect(drift.growths.length).toBeLessThanOrEqual(limits.driftWindowTurns);
				expect(Object.keys(drift).sort()).toEqual(["agentTokens", "growths", "restTurns"]);
				const fired = told.flatMap((tokens, index) => (tokens === undefined ? [] : [index]));
				lines += fired.length;
				for (const [at, index] of fired.entries()) {
					expect(index - (fired[at - 1] ?? Number.NEGATIVE_INFINITY)).toBeGreaterThan(limits.driftWindowTurns);
					expect(turns[index]?.isExcused).toBe(false);
					expect(told[index]).toBeGreaterThan(0);
				}
			}),
		);
		expect(lines).toBeGreaterThan(100);
	});
});
