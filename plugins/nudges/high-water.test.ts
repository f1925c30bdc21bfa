import { describe, expect, test } from "vitest";
import { type Crossing, crossingAt, type Fill } from "./high-water.ts";

/** In which of these requests the view crosses 0.7, the first given as where it stood before. */
function crosses(start: Fill, fills: readonly Fill[]): readonly number[] {
	let crossing: Crossing | undefined = crossingAt(start, undefined, 0.7);
	return fills.flatMap((fill, index) => {
		const before = crossing;
		crossing = crossingAt(fill, before, 0.7);
		return !before && crossing ? [index] : [];
	});
}

const at = (tokens: number, { window = 1000, factor = 1 } = {}): Fill => ({
	tokens,
	window,
	share: (tokens * factor) / window,
});
const unknown: Fill = { tokens: 5000, window: undefined, share: undefined };

describe("a crossing of the fraction", () => {
	test.each<[string, Fill, readonly Fill[], readonly number[]]>([
		["is at the fraction, not below", at(0), [at(699), at(700), at(701)], [1]],
		["is one, however long it stays above", at(0), [at(800), at(900), at(1180), at(1180)], [0]],
		["comes again after a fall below", at(0), [at(800), at(699), at(700)], [0, 2]],
		["does not come again after a fall that stays above", at(0), [at(900), at(710), at(900)], [0]],
		["is none for a session that starts above", at(900), [at(910), at(950)], []],
		["comes to a session that starts above after a fall", at(900), [at(600), at(800)], [1]],
		["is what a fresh calibration finds", at(0), [at(600), at(610, { factor: 1.2 })], [1]],
		[
			"is one while the calibration moves about the fraction",
			at(0),
			[at(700), at(705, { factor: 0.97 }), at(710), at(715, { factor: 0.96 }), at(720)],
			[0],
		],
		[
			"counts a fall below its peak after the calibration moved",
			at(0),
			[at(700), at(900, { factor: 0.9 }), at(760, { factor: 0.9 }), at(800, { factor: 0.9 })],
			[0, 3],
		],
		[
			"is another one in a larger window",
			at(0),
			[at(800), at(810, { window: 2000 }), at(1400, { window: 2000 })],
			[0, 2],
		],
		["is none without a window", at(0), [unknown, unknown], []],
		["outlasts requests without a window", at(0), [at(800), unknown, at(800)], [0]],
	])("%s", (_what, start, fills, expected) => {
		expect(crosses(start, fills)).toEqual(expected);
	});
});
