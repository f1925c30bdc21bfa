import { describe, expect, test } from "vitest";
import { panelState, settingsWith } from "../../test/support/panel-state.ts";
import type { SourceReport as Source } from "../config/sources/book.ts";
import type { Answer } from "./answer.ts";
import { type Change, changeAnswer, changeOf } from "./set.ts";
import type { PanelState } from "./state.ts";
import type { Written } from "./write.ts";

const SHOP = "/home/ann/work/shop";
const OURS = `${SHOP}/mulligan.config.json`;
const MINE = "/home/ann/.pi/agent/mulligan.config.json";
const ours: Source = { file: OURS, scope: "project", state: "read" };
const mine: Source = { file: MINE, scope: "user", state: "read" };

const ask = (state: PanelState, key: string, typed: string) => changeOf(state, { key, typed, where: undefined });
const change = (state: PanelState, key: string, typed: string) => {
	const asked = ask(state, key, typed);
	if (!("target" in asked)) throw new Error(`no change: ${JSON.stringify(asked)}`);
	return asked;
};
const said = (state: PanelState, of: Change, written: Written) =>
	changeAnswer(of, written, { state, applies: "It counts." }).text;

describe("a change", () => {
	test("names old and new value, the file, and when it counts", () => {
		const state = panelState();
		const asked = change(state, "rewind.maxDepth", "8");
		expect(asked).toMatchObject({ path: ["rewind", "maxDepth"], value: 8, target: { file: MINE } });
		expect(said(state, asked, { done: "created" })).toBe(
			"Mulligan: rewind.maxDepth is 8 instead of 5, in ~/.pi/agent/mulligan.config.json, which is new. It counts.",
		);
	});

	test.each([
		["null", null, "null", "log.file is null, as it was"],
		["the same text", "/a", "/a", 'log.file is "/a", as it was'],
		["a text that only ends otherwise", `/${"a".repeat(90)}1`, `/${"a".repeat(90)}2`, "another value that begins so"],
	])("to what it is already is told as such: %s", (_what, now, typed, what) => {
		const state = panelState();
		const settings = { ...state.config.settings, log: { file: now } };
		expect(change({ ...state, config: { ...state.config, settings } }, "log.file", typed).what).toContain(what);
	});

	test.each<[string, string, string, string]>([
		["a switch", "enabled", "off", "enabled is false instead of true"],
		[
			"an entry of a record",
			"nudges.bloatThresholdBytesByTool.read",
			"1",
			"nudges.bloatThresholdBytesByTool.read is 1 instead of 24576",
		],
		[
			"a new entry of a record",
			"nudges.bloatThresholdBytesByTool.grep",
			"1",
			"nudges.bloatThresholdBytesByTool.grep is 1 instead of nothing",
		],
	])("of %s", (_what, key, typed, what) => {
		expect(change(panelState(), key, typed).what).toBe(what);
	});

	test("to default takes the value out of the file", () => {
		const state = panelState({ config: { settings: settingsWith({ rewind: { maxDepth: 9 } }) } });
		const asked = change(state, "rewind.maxDepth", "default");
		expect(asked).toMatchObject({ value: undefined });
		expect(said(state, asked, { done: "changed" })).toBe(
			"Mulligan: rewind.maxDepth is no longer set (it was 9), in ~/.pi/agent/mulligan.config.json. It counts.",
		);
		expect(said(state, asked, { done: "unchanged" })).toBe(
			"Mulligan: ~/.pi/agent/mulligan.config.json does not set rewind.maxDepth.",
		);
	});

	test("to default says where the value comes from instead", () => {
		const origins = new Map([["rewind.maxDepth", OURS]]);
		const state = panelState({ config: { origins, sources: [mine] } });
		expect(said(state, change(state, "rewind.maxDepth", "default"), { done: "unchanged" })).toBe(
			"Mulligan: ~/.pi/agent/mulligan.config.json does not set rewind.maxDepth. It comes from ~/work/shop/mulligan.config.json.",
		);
	});

	test("that is none says so", () => {
		const state = panelState();
		expect(said(state, change(state, "rewind.maxDepth", "8"), { done: "unchanged" })).toBe(
			"Mulligan: ~/.pi/agent/mulligan.config.json says so already: rewind.maxDepth is 8.",
		);
	});

	test("that failed is a refusal with the reason", () => {
		const state = panelState();
		const answer = changeAnswer(
			change(state, "enabled", "off"),
			{ done: "failed", problem: "EACCES" },
			{ state, applies: "" },
		);
		expect(answer).toEqual({
			level: "warning",
			text: "Mulligan: refused — ~/.pi/agent/mulligan.config.json was not changed: EACCES.",
		});
	});

	test.each<[string, Map<string, string>, readonly Source[], string]>([
		[
			"another file",
			new Map([["rewind.maxDepth", OURS.replace(".json", ".ts")]]),
			[mine, { ...ours, file: OURS.replace(".json", ".ts") }],
			"It has no effect: ~/work/shop/mulligan.config.ts says otherwise and counts more.",
		],
		[
			"the environment",
			new Map([["rewind.maxDepth", "MULLIGAN_DEPTH"]]),
			[mine],
			"It has no effect: MULLIGAN_DEPTH in the environment says otherwise and counts more.",
		],
	])("that %s overrides says that it has no effect, and where", (_what, origins, sources, why) => {
		const state = panelState({ config: { origins, sources } });
		expect(said(state, change(state, "rewind.maxDepth", "8"), { done: "changed" })).toBe(
			`Mulligan: rewind.maxDepth is 8 instead of 5, in ~/.pi/agent/mulligan.config.json. ${why}`,
		);
		expect(said(state, change(state, "rewind.maxDepth", "8"), { done: "unchanged" })).toBe(
			`Mulligan: ~/.pi/agent/mulligan.config.json says so already: rewind.maxDepth is 8. ${why}`,
		);
	});
});

describe("no change", () => {
	test.each<[string, string, string]>([
		["", "", "set takes a setting and a value, as in /mulligan set rewind.maxDepth 8."],
		["rewind.maxDepth", "0", "rewind.maxDepth takes an integer of at least 1; got 0."],
	])("set %s %s", (key, typed, why) => {
		expect(ask(panelState(), key, typed)).toEqual({ text: `Mulligan: refused — ${why}`, level: "warning" });
	});

	test("of an unknown setting", () => {
		expect(ask(panelState(), "rewind.nope", "1")).toEqual({ unknown: "rewind.nope" });
	});

	test("where the file is code", () => {
		const state = panelState({ config: { sources: [{ ...mine, file: MINE.replace(".json", ".ts") }] } });
		expect((ask(state, "enabled", "off") as Answer).text).toContain("is code, which only its author can change");
	});
});

describe("a setting without a value is described", () => {
	test("at its default", () => {
		expect((ask(panelState(), "rewind.maxDepth", "") as Answer).text).toBe(
			"Mulligan: rewind.maxDepth is 5, its default. It takes an integer of at least 1. Most active rewinds on a branch.",
		);
	});

	test("with where it comes from", () => {
		const config = {
			settings: settingsWith({ rewind: { enabled: false } }),
			origins: new Map([["rewind.enabled", OURS]]),
		};
		expect((ask(panelState({ config }), "rewind.enabled", "") as Answer).text).toMatch(
			/^Mulligan: rewind\.enabled is false, from ~\/work\/shop\/mulligan\.config\.json; its default is true\. It takes on or off\./,
		);
	});
});
