import { describe, expect, test } from "vitest";
import { panelState, settingsWith } from "../../test/support/panel-state.ts";
import { showLines } from "./show.ts";

const MINE = "/home/ann/.pi/agent/mulligan.config.json";
const shown = (state: Parameters<typeof panelState>[0], width = 80) => showLines(panelState(state), width).join("\n");

/** A state in which there is something to say about everything. */
const full: Parameters<typeof panelState>[0] = {
	plugins: [
		{ name: "rewind", state: "on", isBuiltIn: true },
		{ name: "mine", state: "left out", why: "its set-up failed: no disk", isBuiltIn: false },
		{ name: "nudges", state: "switched off", why: "threw in onView 3 times in a row", isBuiltIn: true },
		{ name: "tool-repair", state: "off", isBuiltIn: true },
	],
	config: {
		settings: settingsWith({ rewind: { maxDepth: 8 }, log: { file: "/var/log/m.jsonl" } }),
		origins: new Map([["rewind.maxDepth", MINE]]),
		warnings: [
			{ key: "shrink.maxActive", text: `shrink.maxActive in ${MINE} is 0; expected an integer of at least 1.` },
		],
	},
	pending: ["/home/ann/work/shop/mulligan.config.ts"],
	run: {
		standing: [
			{ id: "q", kind: "queued", what: "shrink of grep c3, ~4,100 tokens" },
			{ id: "r", kind: "rewind", what: "last turn, 3 messages hidden, ~2,100 tokens" },
		],
		moments: {
			spent: 1,
			max: 1,
			queuedTokens: 4100,
			flushShedTokens: 4000,
			safetyValveTokens: 16_000,
			last: undefined,
		},
		checkpoints: [
			{ name: "before", isUsable: true },
			{ name: "gone", isUsable: false },
		],
	},
};

test("without any config the panel is short", () => {
	expect(shown({})).toBe(
		[
			"Mulligan 2.0.0 is on. /mulligan help lists what it takes.",
			"",
			"Plugins, in their order:",
			"  checkpoints  on",
			"  rewind       on",
			"  shrink       on",
			"  cancel       on",
			"  nudges       on",
			"  audit        on",
			"",
			"Moments: 0 of 1 spent, none queued.",
			"Checkpoints: none.",
		].join("\n"),
	);
});

test("the panel shows plugins, settings, what is in force, what waits, and warnings", () => {
	expect(shown(full)).toBe(
		[
			"Mulligan 2.0.0 is on. /mulligan help lists what it takes.",
			"",
			"Plugins, in their order:",
			"  rewind       on",
			"  mine         left out: its set-up failed: no disk",
			"  nudges       switched off: threw in onView 3 times in a row",
			"  tool-repair  off",
			"",
			"Settings that differ from their default:",
			"  rewind.maxDepth  8 instead of 5, from ~/.pi/agent/mulligan.config.json",
			'  log.file         "/var/log/m.jsonl" instead of null',
			"",
			"In force, the newest first (/mulligan undo N takes one back):",
			"  1  queued  shrink of grep c3, ~4,100 tokens",
			"  2  rewind  last turn, 3 messages hidden, ~2,100 tokens",
			"",
			"Moments: 1 of 1 spent, 1 queued, ~4,100 tokens.",
			"Checkpoints: before.",
			"",
			"Waits for your approval (/mulligan trust):",
			"  ~/work/shop/mulligan.config.ts",
			"",
			"Warnings:",
			`  shrink.maxActive in ${MINE} is 0; expected an`,
			"  integer of at least 1.",
		].join("\n"),
	);
});

describe.each([40, 80, 120])("at %i columns", (width) => {
	test("no line is longer, and nothing is lost", () => {
		const lines = showLines(panelState(full), width);
		expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(width);
		const words = lines.join(" ").replace(/\s+/g, "");
		for (const what of ["nudges", "3timesinarow", "rewind.maxDepth", "before.", "2,100tokens", "aninteger"])
			expect(words).toContain(what);
	});
});

describe("while mulligan is off the panel says why, and what to do", () => {
	const off = (origins: Map<string, string>) =>
		showLines(panelState({ config: { settings: settingsWith({ enabled: false }), origins } }), 120)[0];

	test.each<[string, Map<string, string>, string]>([
		[
			"by a file",
			new Map([["enabled", MINE]]),
			'Mulligan 2.0.0 is off: "enabled" is false in ~/.pi/agent/mulligan.config.json. /mulligan on switches it on.',
		],
		[
			"by the environment",
			new Map([["enabled", "MULLIGAN_DISABLED"]]),
			"Mulligan 2.0.0 is off: MULLIGAN_DISABLED is set in the environment. Unset it and start Pi again.",
		],
		["by who knows what", new Map(), 'Mulligan 2.0.0 is off: "enabled" is false. /mulligan on switches it on.'],
	])("%s", (_what, origins, text) => {
		expect(off(origins)).toBe(text);
	});
});

test("names that others chose can't command the terminal", () => {
	const evil = "a\u001b[2Jb";
	const state = {
		plugins: [{ name: evil, state: "left out", why: evil, isBuiltIn: false }] as const,
		run: {
			standing: [{ id: "x", kind: "shrink", what: evil }] as const,
			checkpoints: [{ name: evil, isUsable: true }],
		},
	};
	expect(shown(state)).not.toContain("\u001b");
});
