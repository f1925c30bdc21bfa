import Type from "typebox";
import { describe, expect, test } from "vitest";
import { checkBlock, defaultsOf } from "./check.ts";
import type { Sections } from "./schema.ts";

/** One knob of each kind. */
const sections: Sections = {
	shapes: Type.Object({
		flag: Type.Boolean({ default: true }),
		count: Type.Integer({ default: 5, minimum: 1 }),
		size: Type.Number({ default: 4000, minimum: 0 }),
		share: Type.Number({ default: 0.9, exclusiveMinimum: 0, maximum: 1 }),
		name: Type.String({ default: "x" }),
		mood: Type.Unsafe<"low" | "high">({ type: "string", enum: ["low", "high"], default: "low" }),
		list: Type.Array(Type.Unsafe<"a" | "b">({ type: "string", enum: ["a", "b"] }), { default: ["a"] }),
		file: Type.Union([Type.String({ minLength: 1 }), Type.Null()], { default: null }),
	}),
	other: Type.Object({ flag: Type.Boolean({ default: false }) }),
};
const FILE = "/home/me/settings.json";
const check = (block: unknown) => checkBlock(block, sections, FILE);
const warning = (key: string, given: string, allowed: string) => ({
	key,
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
	])("where %s is %j", (key, given, taken) => {
		expect(check({ shapes: { [key]: given } })).toEqual({ values: { shapes: { [key]: taken } }, warnings: [] });
	});

	test.each([true, false])("where the master switch is %j", (enabled) => {
		expect(check({ enabled })).toEqual({ values: { enabled }, warnings: [] });
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
	])("%s: %j", (key, given, allowed) => {
		expect(check({ shapes: { [key]: given } })).toEqual({
			values: { shapes: {} },
			warnings: [warning(`shapes.${key}`, JSON.stringify(given), allowed)],
		});
	});

	test.each([Number.NaN, Number.POSITIVE_INFINITY])("a count of %j", (given) => {
		const { values, warnings } = check({ shapes: { count: given } });
		expect(values).toEqual({ shapes: {} });
		expect(warnings).toHaveLength(1);
	});

	test.each(["yes", 1, null, {}])("enabled: %j", (enabled) => {
		expect(check({ enabled })).toEqual({
			values: {},
			warnings: [warning("enabled", JSON.stringify(enabled), "a boolean")],
		});
	});

	test.each([null, true, 3, "on", []])("a whole section: %j", (section) => {
		expect(check({ shapes: section })).toEqual({
			values: { shapes: {} },
			warnings: [warning("shapes", JSON.stringify(section), "an object")],
		});
	});

	test.each([null, true, 3, "on", []])("the whole block: %j", (block) => {
		expect(check(block)).toEqual({ values: {}, warnings: [warning("mulligan", JSON.stringify(block), "an object")] });
	});

	test("a long value, cut to 80 characters", () => {
		const { warnings } = check({ shapes: { count: "x".repeat(500) } });
		expect(warnings[0]?.text).toBe(
			`shapes.count in ${FILE} is "${"x".repeat(78)}…; expected an integer of at least 1. The value is ignored.`,
		);
	});
});

test("a list keeps its good items, and the others are one warning", () => {
	expect(check({ shapes: { list: ["b", "me", 3, "a"] } })).toEqual({
		values: { shapes: { list: ["b", "a"] } },
		warnings: [warning("shapes.list", '["me",3]', 'a list of "a" or "b"')],
	});
});

test("one wrong value does not touch the others, of its section and of other sections", () => {
	const { values, warnings } = check({ enabled: 0, shapes: { flag: false, count: 0, size: 7 }, other: { flag: true } });
	expect(values).toEqual({ shapes: { flag: false, size: 7 }, other: { flag: true } });
	expect(warnings.map(({ key }) => key)).toEqual(["enabled", "shapes.count"]);
});

test("what is not given is not among the values, and undefined counts as not given", () => {
	expect(check({})).toEqual({ values: {}, warnings: [] });
	expect(check({ shapes: { flag: undefined } })).toEqual({ values: { shapes: {} }, warnings: [] });
});

test("unknown sections and keys are ignored", () => {
	expect(check({ elsewhere: { a: 1 }, shapes: { unheard: 1, flag: false } })).toEqual({
		values: { shapes: { flag: false } },
		warnings: [],
	});
});

test("the defaults are those of the schema, and nobody's to change", () => {
	const schema = sections.shapes as never;
	const defaults = defaultsOf(schema);
	expect(defaults).toEqual({
		flag: true,
		count: 5,
		size: 4000,
		share: 0.9,
		name: "x",
		mood: "low",
		list: ["a"],
		file: null,
	});
	(defaults.list as string[]).push("b");
	expect(defaultsOf(schema).list).toEqual(["a"]);
});
