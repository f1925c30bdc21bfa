import Type from "typebox";
import { describe, expect, test } from "vitest";
import { checkSection, type Spot } from "./check.ts";
import { defaultsOf } from "./defaults.ts";
import { type Block, isProblem } from "./read/block.ts";
import { readJson } from "./read/json.ts";

/** One knob of each kind. */
const shapes = Type.Object({
	flag: Type.Boolean({ default: true }),
	count: Type.Integer({ default: 5, minimum: 1 }),
	size: Type.Number({ default: 4000, minimum: 0 }),
	share: Type.Number({ default: 0.9, exclusiveMinimum: 0, maximum: 1 }),
	name: Type.String({ default: "x" }),
	mood: Type.Unsafe<"low" | "high">({ type: "string", enum: ["low", "high"], default: "low" }),
	list: Type.Array(Type.Unsafe<"a" | "b">({ type: "string", enum: ["a", "b"] }), { default: ["a"] }),
	file: Type.Union([Type.String({ minLength: 1 }), Type.Null()], { default: null }),
	group: Type.Object({ inner: Type.Boolean({ default: false }), count: Type.Integer({ default: 1, minimum: 1 }) }),
});
const FILE = "/home/me/settings.json";
const spot: Spot = { key: "shapes", file: FILE, path: ["shapes"], placeOf: () => undefined };
const check = (section: unknown) => checkSection(shapes, section, spot);
const warning = (key: string, given: string, allowed: string) => ({
	key,
	file: FILE,
	text: `${key} in ${FILE} is ${given}; expected ${allowed}. The value is ignored.`,
});

describe("a value is taken", () => {
	test.each<[string, unknown, unknown]>([
		["flag", false, false],
		["count", 1, 1],
		["count", 2.9, 2],
		["size", 0, 0],
		["size", 0.5, 0.5],
		["share", 1, 1],
		["share", 0.001, 0.001],
		["name", "", ""],
		["mood", "high", "high"],
		["list", [], []],
		["list", ["b", "a"], ["b", "a"]],
		["file", null, null],
		["file", "log.jsonl", "log.jsonl"],
		["group", { inner: true }, { inner: true }],
		["group", { inner: true, count: 2.5 }, { inner: true, count: 2 }],
	])("where %s is %j", (key, given, taken) => {
		expect(check({ [key]: given })).toEqual({ values: { [key]: taken }, warnings: [], unknown: [] });
	});
});

describe("a value is ignored with one warning that names key, file, value and what is allowed", () => {
	test.each<[string, unknown, string]>([
		["flag", "yes", "a boolean"],
		["flag", 1, "a boolean"],
		["flag", null, "a boolean"],
		["count", 0, "an integer of at least 1"],
		["count", 0.9, "an integer of at least 1"],
		["count", -3, "an integer of at least 1"],
		["count", "5", "an integer of at least 1"],
		["count", [5], "an integer of at least 1"],
		["size", -1, "a number of at least 0"],
		["size", "many", "a number of at least 0"],
		["share", 0, "a number above 0 up to 1"],
		["share", 1.01, "a number above 0 up to 1"],
		["share", true, "a number above 0 up to 1"],
		["name", 3, "a string"],
		["mood", "medium", '"low" or "high"'],
		["mood", null, '"low" or "high"'],
		["list", "a", 'a list of "a" or "b"'],
		["list", { 0: "a" }, 'a list of "a" or "b"'],
		["file", 3, "a string or null"],
		["file", "", "a string or null"],
		["file", false, "a string or null"],
		["group", 3, "an object"],
	])("%s: %j", (key, given, allowed) => {
		expect(check({ [key]: given })).toEqual({
			values: {},
			warnings: [warning(`shapes.${key}`, JSON.stringify(given), allowed)],
			unknown: [],
		});
	});

	test.each([Number.NaN, Number.POSITIVE_INFINITY])("a count of %j", (given) => {
		const { values, warnings } = check({ count: given });
		expect(values).toEqual({});
		expect(warnings).toHaveLength(1);
	});

	test.each([null, true, 3, "on", []])("a whole section: %j", (section) => {
		expect(check(section)).toEqual({
			values: {},
			warnings: [warning("shapes", JSON.stringify(section), "an object")],
			unknown: [],
		});
	});

	test("a long value, cut to 80 characters", () => {
		const { warnings } = check({ count: "x".repeat(500) });
		expect(warnings[0]?.text).toBe(
			`shapes.count in ${FILE} is "${"x".repeat(78)}…; expected an integer of at least 1. The value is ignored.`,
		);
	});

	const cyclic: { self?: object } = {};
	cyclic.self = cyclic;
	test.each<[string, unknown, string]>([
		["a function", () => 1, "[Function"],
		["a big integer", 5n, "5n"],
		["a symbol", Symbol("s"), "Symbol(s)"],
		["an object that holds itself", cyclic, "[Circular"],
	])("%s, which no JSON can hold", (_what, given, part) => {
		const { values, warnings } = check({ count: given });
		expect(values).toEqual({});
		expect(warnings.map(({ text }) => text)).toEqual([expect.stringContaining(part)]);
	});
});

test("a list keeps its good items, and the others are one warning", () => {
	expect(check({ list: ["b", "me", 3, "a"] })).toEqual({
		values: { list: ["b", "a"] },
		warnings: [warning("shapes.list", '["me",3]', 'a list of "a" or "b"')],
		unknown: [],
	});
});

test("a group of knobs keeps its good ones", () => {
	expect(check({ group: { inner: true, count: 0 } })).toMatchObject({
		values: { group: { inner: true } },
		warnings: [warning("shapes.group.count", "0", "an integer of at least 1")],
	});
});

test("one wrong value does not touch the others", () => {
	const { values, warnings } = check({ flag: false, count: 0, size: 7 });
	expect(values).toEqual({ flag: false, size: 7 });
	expect(warnings.map(({ key }) => key)).toEqual(["shapes.count"]);
});

test("what is not given is not among the values, and undefined counts as not given", () => {
	expect(check({})).toEqual({ values: {}, warnings: [], unknown: [] });
	expect(check({ flag: undefined })).toEqual({ values: {}, warnings: [], unknown: [] });
});

test("unknown keys are no values, and named with those that are known", () => {
	const { values, warnings, unknown } = check({ unheard: 1, flag: false, group: { iner: true } });
	expect([values, warnings]).toEqual([{ flag: false, group: {} }, []]);
	expect(unknown.map(({ spot: { key }, known }) => [key, known])).toEqual([
		["shapes.unheard", Object.keys(shapes.properties)],
		["shapes.group.iner", ["inner", "count"]],
	]);
});

test("a wrong value is named with the line and column of its key", () => {
	const block = readJson('{\n\t"shapes": {\n\t\t"flag": true,\n\t\t"count": 0\n\t}\n}', "strict");
	if (isProblem(block)) throw new Error(block.problem);
	const { shapes: section } = block.value as { readonly shapes: object };
	const { warnings } = checkSection(shapes, section, { ...spot, placeOf: (block as Block).placeOf });
	expect(warnings).toEqual([
		{
			...{ key: "shapes.count", file: FILE, line: 4, column: 3 },
			text: `shapes.count in ${FILE}:4:3 is 0; expected an integer of at least 1. The value is ignored.`,
		},
	]);
});

test("the defaults are those of the schema, and nobody's to change", () => {
	const defaults = defaultsOf(shapes);
	expect(defaults).toEqual({
		flag: true,
		count: 5,
		size: 4000,
		share: 0.9,
		name: "x",
		mood: "low",
		list: ["a"],
		file: null,
		group: { inner: false, count: 1 },
	});
	(defaults.list as string[]).push("b");
	expect(defaultsOf(shapes).list).toEqual(["a"]);
});
