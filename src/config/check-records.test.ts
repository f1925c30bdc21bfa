import Type from "typebox";
import { describe, expect, test } from "vitest";
import { checkSection, type Spot } from "./check.ts";

const nudges = Type.Object({
	byTool: Type.Record(Type.String(), Type.Number({ exclusiveMinimum: 0 }), { default: { read: 24576 } }),
	turns: Type.Record(Type.String(), Type.Integer({ minimum: 1 }), { default: {} }),
});
const file = "settings.json";
const spot: Spot = { key: "nudges", file, path: ["nudges"], placeOf: () => undefined };
const check = (section: object) => checkSection(nudges, section, spot);
const named = (key: string, given: string, expected: string) =>
	`nudges.${key} in settings.json is ${given}; expected ${expected}. The value is ignored.`;

describe("a knob that is a record", () => {
	test.each([
		["keeps its entries", { byTool: { read: 1, grep: 0.5 } }, { byTool: { read: 1, grep: 0.5 } }],
		["may be empty", { byTool: {} }, { byTool: {} }],
		["has its integers floored", { turns: { grep: 2.9 } }, { turns: { grep: 2 } }],
		["takes any name", JSON.parse('{"byTool":{"__proto__":7}}'), JSON.parse('{"byTool":{"__proto__":7}}')],
	])("%s", (_what, given, expected) => {
		const { values, warnings } = check(given);
		expect(values).toStrictEqual(expected);
		expect(warnings).toEqual([]);
	});

	test("drops each bad entry with a warning that names it, and keeps the rest", () => {
		const { values, warnings } = check({ byTool: { read: 0, grep: 100, bash: "big", ls: null, find: -1 } });
		expect(values).toStrictEqual({ byTool: { grep: 100 } });
		expect(warnings).toEqual([
			{ file, key: "nudges.byTool.read", text: named("byTool.read", "0", "a number above 0") },
			{ file, key: "nudges.byTool.bash", text: named("byTool.bash", '"big"', "a number above 0") },
			{ file, key: "nudges.byTool.ls", text: named("byTool.ls", "null", "a number above 0") },
			{ file, key: "nudges.byTool.find", text: named("byTool.find", "-1", "a number above 0") },
		]);
	});

	test.each([[[1, 2]], ["16384"], [16384], [null]])("is ignored as a whole where it is no object: %j", (given) => {
		const { values, warnings } = check({ byTool: given });
		expect(values).toStrictEqual({});
		expect(warnings).toEqual([
			{ file, key: "nudges.byTool", text: named("byTool", JSON.stringify(given), "an object") },
		]);
	});
});
