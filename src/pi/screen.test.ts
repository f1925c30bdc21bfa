import { visibleWidth } from "@earendil-works/pi-tui";
import { describe, expect, test } from "vitest";
import type { ScreenLine } from "../kernel/plugin.ts";
import { resultComponent } from "./screen.ts";

const show = (lines: readonly ScreenLine[]) => resultComponent(() => lines, { content: [] }, true);
const shown = (lines: readonly ScreenLine[], width: number) =>
	show(lines)
		.render(width)
		.map((line) => line.trimEnd());

describe("a line on the screen", () => {
	const row = { lead: "  1,200 ██ ", text: "one two three four five six" };

	test("stands on one row where there is room", () => {
		expect(shown(["head", row], 60)).toEqual([" head", "   1,200 ██ one two three four five six"]);
	});

	test("goes on below: a row's text beside its lead, a plain line at the margin", () => {
		expect(shown([row, row.text], 28)).toEqual([
			"   1,200 ██ one two three",
			"            four five six",
			" one two three four five",
			" six",
		]);
	});

	test("has the text of a row at the margin where beside the lead there would be no room", () => {
		expect(shown([row], 20)).toEqual(["   1,200 ██ one two", " three four five", " six"]);
	});

	test("of wide characters takes no more columns than there are, and breaks words that are too long", () => {
		const wide = { lead: "  7 ", text: "漢字かな交じり文👩‍👩‍👧‍👦🎉".repeat(3) };
		for (const width of [16, 17, 40]) {
			const lines = show([wide]).render(width);
			expect(lines.map(visibleWidth)).toEqual(lines.map(() => width));
			expect(lines.length).toBeGreaterThan(1);
			expect(lines.slice(1).every((line) => line.startsWith("     "))).toBe(true);
		}
	});

	test("without a text is its lead", () => {
		expect(shown([{ lead: "  7 ", text: "" }], 40)).toEqual(["   7"]);
	});

	test("is laid out anew when the terminal changes its width", () => {
		const component = show([row]);
		const at = (width: number) => component.render(width).length;
		expect([at(60), at(28), at(60)]).toEqual([1, 2, 1]);
		component.invalidate();
		expect(at(28)).toBe(2);
	});

	test.each([0, 1, 2, 3])("costs no fault at a width of %i", (width) => {
		expect(() => show(["head", row]).render(width)).not.toThrow();
	});
});
