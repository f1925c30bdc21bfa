import { describe, expect, test } from "vitest";
import { schemas, settingsWith } from "../../test/support/panel-state.ts";
import { currentValue, isDefault, type Knob, knobNamed, knobsOf, offered, originOf, typedValue } from "./knobs.ts";

const named = (key: string): Knob => {
	const knob = knobNamed(key, schemas);
	if (!knob) throw new Error(`no knob ${key}`);
	return knob;
};
const config = (over?: Record<string, unknown>) => ({ settings: settingsWith(over) });

describe("a typed value is taken", () => {
	test.each<[string, string, unknown]>([
		["enabled", "off", false],
		["rewind.enabled", "ENABLE", true],
		["rewind.enabled", "true", true],
		["rewind.maxDepth", "8", 8],
		["rewind.maxDepth", "8.9", 8],
		["rewind.abortContextFraction", "0.5", 0.5],
		["rewind.protectedRoles", "latest:user", ["latest:user"]],
		["rewind.protectedRoles", "first:user, latest:user", ["first:user", "latest:user"]],
		["rewind.protectedRoles", '["latest:user"]', ["latest:user"]],
		["audit.estimateConfidence", "high", "high"],
		["audit.estimateConfidence", '"low"', "low"],
		["log.file", "null", null],
		["log.file", "./logs/m.jsonl", "./logs/m.jsonl"],
		["log.file", "5", "5"],
		["nudges.bloatThresholdBytesByTool", '{"read": 1, "grep": 2}', { read: 1, grep: 2 }],
		["nudges.bloatThresholdBytesByTool.grep", "4096", 4096],
		["nudges.bloatThresholdBytesByTool.constructor", "7", 7],
		["nudges.bloatThresholdBytesByTool.__proto__", "7", 7],
		["nudges.bloatThresholdBytesByTool.a.b", "7", 7],
	])("%s %s", (key, typed, value) => {
		expect(typedValue(named(key), typed)).toEqual({ value });
	});
});

describe("a typed value is refused, with what is taken instead", () => {
	test.each<[string, string, string]>([
		["enabled", "perhaps", "enabled takes on or off; got perhaps."],
		["rewind.maxDepth", "0", "rewind.maxDepth takes an integer of at least 1; got 0."],
		["rewind.maxDepth", "many", "rewind.maxDepth takes an integer of at least 1; got many."],
		["rewind.abortContextFraction", "1.5", "rewind.abortContextFraction takes a number above 0 up to 1; got 1.5."],
		["audit.estimateConfidence", "sure", 'audit.estimateConfidence takes "low" or "medium" or "high"; got sure.'],
		["rewind.protectedRoles", "me", 'rewind.protectedRoles takes a list of "first:user" or "latest:user"; got me.'],
		["nudges.bloatThresholdBytesByTool", "5", "nudges.bloatThresholdBytesByTool takes an object; got 5."],
		[
			"nudges.bloatThresholdBytesByTool",
			'{"read": 0}',
			'nudges.bloatThresholdBytesByTool takes an object; got {"read": 0}.',
		],
		[
			"nudges.bloatThresholdBytesByTool.grep",
			"0",
			"nudges.bloatThresholdBytesByTool.grep takes a number above 0; got 0.",
		],
		["rewind.maxDepth", "x".repeat(200), `rewind.maxDepth takes an integer of at least 1; got ${"x".repeat(79)}….`],
	])("%s %s", (key, typed, wrong) => {
		expect(typedValue(named(key), typed)).toEqual({ wrong });
	});
});

describe("knobs", () => {
	test("have names of their own, and defaults that count as such", () => {
		const knobs = knobsOf(schemas);
		expect(new Set(knobs.map(({ key }) => key)).size).toBe(knobs.length);
		expect(knobs.filter((knob) => !isDefault(knob, config())).map(({ key }) => key)).toEqual([]);
	});

	test("are found within a group of their section", () => {
		const group = { type: "object", properties: { deep: { type: "number", default: 1 } } };
		const nested = { top: {}, sections: { mine: { type: "object", properties: { group } } } } as never;
		expect(knobsOf(nested).map(({ key, path }) => [key, path])).toEqual([
			["mine.group.deep", ["mine", "group", "deep"]],
		]);
	});

	test.each(["rewind", "rewind.nope", "rewind.maxDepth.x", "nudges.bloatThresholdBytesByTool.", "", "constructor"])(
		"are not found by %j",
		(key) => {
			expect(knobNamed(key, schemas)).toBeUndefined();
		},
	);

	test("tell what they are now, an entry of a record too", () => {
		const now = config({ nudges: { bloatThresholdBytesByTool: { grep: 9 } } });
		expect(currentValue(named("nudges.bloatThresholdBytesByTool.grep"), now)).toBe(9);
		expect(currentValue(named("nudges.bloatThresholdBytesByTool.toString"), now)).toBeUndefined();
		expect(isDefault(named("nudges.bloatThresholdBytesByTool"), now)).toBe(false);
	});

	test("come from where their nearest named part comes from", () => {
		const origins = new Map([["nudges.bloatThresholdBytesByTool", "/a.json"]]);
		expect(originOf(named("nudges.bloatThresholdBytesByTool.grep"), { origins })).toBe("/a.json");
		expect(originOf(named("nudges.bloatReminder"), { origins })).toBeUndefined();
	});

	test.each<[string, readonly string[]]>([
		["rewind.enabled", ["on", "off"]],
		["audit.estimateConfidence", ["low", "medium", "high"]],
		["rewind.maxDepth", ["5"]],
	])("offer values: %s", (key, values) => {
		expect(offered(named(key))).toEqual(values);
	});
});
