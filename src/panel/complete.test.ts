import { describe, expect, test } from "vitest";
import { panelState } from "../../test/support/panel-state.ts";
import { completions } from "./complete.ts";

const state = panelState({
	run: {
		standing: [
			{ id: "1", kind: "queued", what: "shrink of grep c3" },
			{ id: "2", kind: "rewind", what: "last turn" },
		],
	},
});
const values = (typed: string) => completions(typed, state).map(({ value }) => value);

describe("completion", () => {
	test("of nothing offers sub-commands and plugins, each once, with what they are", () => {
		const all = completions("", state);
		expect(all.map(({ label }) => label)).toEqual(expect.arrayContaining(["set", "undo", "rewind", "audit"]));
		expect(new Set(all.map(({ label }) => label)).size).toBe(all.length);
		expect(all.find(({ label }) => label === "rewind")?.description).toBe("plugin, on");
		expect(all.every(({ description }) => description)).toBe(true);
	});

	test.each<[string, readonly string[]]>([
		["re", ["restore", "rewind"]],
		["RE", ["restore", "rewind"]],
		["set rewind.max", ["set rewind.maxDepth", "set rewind.maxRetriesPerPrompt"]],
		["set  shrink.s", ["set  shrink.staleAfterFires"]],
		["set rewind.enabled ", ["set rewind.enabled on", "set rewind.enabled off", "set rewind.enabled default"]],
		["set rewind.enabled o", ["set rewind.enabled on", "set rewind.enabled off"]],
		["set audit.estimateConfidence h", ["set audit.estimateConfidence high"]],
		["set rewind.maxDepth ", ["set rewind.maxDepth 5", "set rewind.maxDepth default"]],
		["set nope ", []],
		["set rewind.maxDepth 5 ", []],
		["rewind ", ["rewind on", "rewind off"]],
		["audit of", ["audit off"]],
		["rewind on ", []],
		["undo ", ["undo 1", "undo 2"]],
		["show ", []],
		["nothing like it", []],
	])("of %j", (typed, expected) => {
		expect(values(typed)).toEqual(expected);
	});

	test("of undo says what would be taken back", () => {
		expect(completions("undo ", state).map(({ description }) => description)).toEqual([
			"queued shrink of grep c3",
			"rewind last turn",
		]);
	});
});
