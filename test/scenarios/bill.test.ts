import { describe, expect, test } from "vitest";
import { compare, costOf, minus, priceLists, type Tokens } from "../../scripts/twins/bill.ts";
import { render } from "../../scripts/twins/report.ts";
import type { Asked, Run } from "../../scripts/twins/run.ts";

const tokens = (some: Partial<Tokens>): Tokens => ({ input: 0, cacheRead: 0, cacheWrite: 0, output: 0, ...some });
const asked = (some: Partial<Tokens>, isShared = true) => ({ usage: tokens(some), isShared }) as Asked;
const run = (requests: readonly Asked[], some: Partial<Run> = {}): Run => ({
	asked: requests,
	results: new Map(),
	activations: [],
	waiting: 0,
	...some,
});
const writes = (...written: number[]) => written.map((cacheWrite) => asked({ cacheWrite }));
const [sonnet, gpt] = priceLists as [(typeof priceLists)[0], (typeof priceLists)[0]];

describe("costOf", () => {
	test.each<[kind: keyof Tokens, sonnetDollars: number, gptDollars: number]>([
		["input", 3, 1.25],
		["cacheRead", 0.3, 0.125],
		["cacheWrite", 3.75, 1.25],
		["output", 15, 10],
	])("takes a million tokens of %s for $%d and $%d", (kind, ...dollars) => {
		const million = tokens({ [kind]: 1_000_000 });
		expect(priceLists.map((prices) => costOf(million, prices))).toEqual(dollars);
	});
});

describe("compare", () => {
	test("counts a declared token as written once and read by every request after that", () => {
		const twins = { with: run(writes(150, 10, 10)), without: run(writes(100, 10)) };
		expect(compare(twins, 0).declarations).toEqual(tokens({ cacheWrite: 50, cacheRead: 100 }));
	});

	test("counts activations before the same request as one moment", () => {
		const activations = [1, 1, 4].map((request) => ({ request, calls: [] }));
		const twins = { with: run([], { activations, waiting: 2 }), without: run([]) };
		expect(compare(twins, 0).with).toMatchObject({ moments: 2, waiting: 2 });
	});

	test.each<[what: string, ours: number[], plain: number[], later: number | undefined]>([
		["at the second later turn", [9, 1, 1, 1], [5, 4, 2, 2], 2],
		["before the scenario ends", [1, 1, 1, 1], [5, 1, 1, 1], 0],
		["never", [2, 1, 1, 1], [1, 1, 1, 1], undefined],
		["at the end, where it was dearer in between", [1, 9, 1, 1], [5, 1, 1, 9], 2],
		["never, where the two are even", [1, 1, 1, 1], [1, 1, 1, 1], undefined],
	])("says from when the twin with mulligan stays cheaper: %s", (_, ours, plain, later) => {
		const { cheaperFrom } = compare({ with: run(writes(...ours)), without: run(writes(...plain)) }, 2);
		expect([cheaperFrom.get(sonnet), cheaperFrom.get(gpt)]).toEqual([later, later]);
	});

	test("adds a request of mulligan's own to the cost of the next one that both twins make", () => {
		const ours = [...writes(1), asked({ cacheWrite: 8 }, false), ...writes(1, 1)];
		const { cheaperFrom } = compare({ with: run(ours), without: run(writes(2, 5, 5)) }, 2);
		expect(cheaperFrom.get(sonnet)).toBe(2);
	});
});

describe("render", () => {
	const twins = (ours: number) => ({ with: run(writes(100, ours), { waiting: 3 }), without: run(writes(100, 400)) });
	const rows = [
		{ name: "the dear one", comparison: compare(twins(900), 1) },
		{ name: "the cheap one", comparison: compare(twins(100), 1) },
	];
	const text = render({ pi: "1.2.3", later: 1, rows });

	test("names what mulligan made dearer before what it made cheaper", () => {
		expect(text).toContain(
			[
				"At Sonnet-like prices mulligan loses in 1 of 2",
				"  +100.0 %  the dear one",
				"and saves in 1",
				"   -60.0 %  the cheap one",
			].join("\n"),
		);
	});

	test("says how many ops had no effect", () => {
		expect(text.match(/3 op\(s\) still wait at the end/g)).toHaveLength(2);
	});

	test("shows what the declarations and the ops add as shares that sum up to the difference", () => {
		const declared = run([asked({ cacheWrite: 140 }), asked({ cacheRead: 40, cacheWrite: 100 })]);
		const comparison = compare({ with: declared, without: run(writes(100, 100)) }, 1);
		const parts = minus(minus(comparison.with.tokens, comparison.without.tokens), comparison.declarations);
		expect(parts).toEqual(tokens({}));
		expect(render({ pi: "1.2.3", later: 1, rows: [{ name: "idle", comparison }] })).toMatch(
			/the declared tools .* \+21\.6 % +\+22\.0 %\n +the ops .* 0\.0 % +0\.0 %/,
		);
	});

	test("fits into 110 columns", () => {
		expect(text.split("\n").filter((line) => line.length > 110)).toEqual([]);
	});
});
