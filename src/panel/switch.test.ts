import { describe, expect, test } from "vitest";
import { defaults, panelState } from "../../test/support/panel-state.ts";
import type { SourceReport as Source } from "../config/sources/book.ts";
import type { Where } from "./command.ts";
import type { PluginState } from "./state.ts";
import { type ListInForce, listChange } from "./switch.ts";

const SHOP = "/home/ann/work/shop";
const AGENT = "/home/ann/.pi/agent";
const OURS = `${SHOP}/mulligan.config.json`;
const MINE = `${AGENT}/mulligan.config.json`;
const BUILT_IN = [...defaults, "tool-repair"];

interface Given {
	/** The list as the config says it; none: the default set. */
	readonly entries?: readonly unknown[] | undefined;
	readonly file?: string;
	readonly sources?: readonly Source[];
	/** Names of the list, where they are not those of the entries. */
	readonly listed?: readonly string[];
	readonly where?: Where;
}

/** A state in which this list is in force. */
function given({ entries = ["..."], file, sources = [], listed }: Given) {
	const names =
		listed ??
		entries.flatMap((entry) => (entry === "..." ? defaults : [String(Array.isArray(entry) ? entry[0] : entry)]));
	const plugins: PluginState[] = names.map((name) => ({ name, state: "on", isBuiltIn: BUILT_IN.includes(name) }));
	const off = BUILT_IN.filter((name) => !names.includes(name)).map(
		(name) => ({ name, state: "off", isBuiltIn: true }) as const,
	);
	const origins = new Map(file === undefined ? [] : [["plugins", file]]);
	return panelState({ plugins: [...plugins, ...off], config: { sources, origins } });
}

const change = (of: Given, switches: Record<string, boolean>) => {
	const list: ListInForce = { entries: "entries" in of ? of.entries : ["..."], file: of.file };
	return listChange(given(of), new Map(Object.entries(switches)), { list, where: of.where });
};
const written = (of: Given, switches: Record<string, boolean>) => {
	const outcome = change(of, switches);
	if (!("target" in outcome)) throw new Error(outcome.text);
	return outcome;
};

const without = (...names: readonly string[]) => defaults.filter((name) => !names.includes(name));

describe("the list that is written", () => {
	test.each<[string, readonly unknown[], Record<string, boolean>, readonly unknown[]]>([
		["names what stays of the default set", ["..."], { shrink: false }, without("shrink")],
		["is the default set again once it is whole", without("shrink"), { shrink: true }, ["..."]],
		["keeps what comes beside the default set", ["...", "mine"], { nudges: false }, [...without("nudges"), "mine"]],
		["keeps what comes before it", ["mine", "..."], { audit: false }, ["mine", ...without("audit")]],
		["gathers the default set beside others", ["mine", ...without("audit")], { audit: true }, ["mine", "..."]],
		[
			"has a plugin that is not of the default set at its end",
			["..."],
			{ "tool-repair": true },
			["...", "tool-repair"],
		],
		["keeps an order of the human's own", ["audit", "rewind"], { shrink: true }, ["audit", "rewind", "shrink"]],
		["puts one before the next where none comes before it", ["audit"], { checkpoints: true }, ["checkpoints", "audit"]],
		["keeps options", [["rewind", { maxDepth: 1 }], "shrink"], { shrink: false }, [["rewind", { maxDepth: 1 }]]],
		["loses a plugin with its options", [["rewind", {}], "shrink"], { rewind: false }, ["shrink"]],
		["loses a plugin that is named twice", ["rewind", "shrink", "rewind"], { rewind: false }, ["shrink"]],
		["may be empty", ["rewind"], { rewind: false }, []],
		["has one again after it was empty", [], { rewind: true }, ["rewind"]],
		[
			"takes several at once",
			["..."],
			{ shrink: false, audit: false, "tool-repair": true },
			[...without("shrink", "audit"), "tool-repair"],
		],
	])("%s", (_what, entries, switches, expected) => {
		const file = MINE;
		const sources: Source[] = [{ file, scope: "user", state: "read" }];
		expect(written({ entries, file, sources }, switches).value).toEqual(expected);
	});

	test("goes off and on again to where it began", () => {
		for (const name of defaults) {
			const off = written({}, { [name]: false }).value as readonly unknown[];
			expect(written({ entries: off, file: MINE }, { [name]: true }).value).toEqual(["..."]);
		}
	});

	test("has relative paths as its file must say them", () => {
		const file = `${SHOP}/.pi/settings.json`;
		const entries = ["rewind", "./mine.ts", ["../other.ts", { a: 1 }], "pkg", "/abs.ts"];
		const sources: Source[] = [
			{ file, scope: "project", state: "read" },
			{ file: OURS, scope: "project", state: "read" },
		];
		const listed = ["rewind", "mine", "other", "pkg", "abs"];
		expect(written({ entries, file, sources, listed }, { shrink: true }).value).toEqual([
			"rewind",
			"shrink",
			"./.pi/mine.ts",
			["./other.ts", { a: 1 }],
			"pkg",
			"/abs.ts",
		]);
	});
});

describe("the list is changed", () => {
	test.each<[string, Given, string]>([
		["in the user's config where nobody says one", {}, MINE],
		["where it is in force", { file: OURS, sources: [{ file: OURS, scope: "project", state: "read" }] }, OURS],
		[
			"beside Pi's settings, which Pi writes",
			{ file: `${AGENT}/settings.json`, sources: [{ file: `${AGENT}/settings.json`, scope: "user", state: "read" }] },
			MINE,
		],
		[
			"in the file that is asked for",
			{ file: MINE, sources: [{ file: MINE, scope: "user", state: "read" }], where: "project" },
			OURS,
		],
	])("%s", (_what, of, file) => {
		expect(written(of, { shrink: false }).target.file).toBe(file);
	});

	test("by names where the list in force is code that counts less", () => {
		const file = `${AGENT}/mulligan.config.ts`;
		const of: Given = {
			entries: undefined,
			file,
			sources: [{ file, scope: "user", state: "read" }],
			listed: ["rewind", "shrink"],
			where: "project",
		};
		expect(written(of, { shrink: false })).toMatchObject({ value: ["rewind"], target: { file: OURS } });
	});

	test("and the answer says what is on and off", () => {
		expect(written({}, { shrink: false, "tool-repair": true }).what).toBe("shrink is off, tool-repair is on");
	});
});

describe("nothing is written", () => {
	const code = `${SHOP}/mulligan.config.ts`;
	test.each<[string, Given, Record<string, boolean>, string]>([
		["where it is so", {}, { rewind: true }, "Mulligan: rewind is on already."],
		["where it is off", {}, { "tool-repair": false }, "Mulligan: tool-repair is off already."],
		[
			"where the list is code that counts more",
			{ entries: undefined, file: code, sources: [{ file: code, scope: "project", state: "read" }], listed: defaults },
			{ rewind: false },
			"Mulligan: refused — the list of plugins is set in ~/work/shop/mulligan.config.ts, which is code, which only its author can change. Change it there, then /reload.",
		],
		[
			"where the list counts more than the file that is asked for",
			{
				file: OURS,
				sources: [
					{ file: MINE, scope: "user", state: "read" },
					{ file: OURS, scope: "project", state: "read" },
				],
				where: "user",
			},
			{ rewind: false },
			"Mulligan: refused — the list of plugins is set in ~/work/shop/mulligan.config.json, which counts more. Change it there, then /reload.",
		],
		[
			"where a config names the plugin by a path",
			{
				entries: ["...", "./mine.ts"],
				file: MINE,
				sources: [{ file: MINE, scope: "user", state: "read" }],
				listed: [...defaults, "mine"],
			},
			{ mine: false },
			'Mulligan: refused — "plugins" in ~/.pi/agent/mulligan.config.json has mine under another name, by a path or a package. Take it out there, then /reload.',
		],
		[
			"where code lists a plugin that no file can name",
			{
				entries: undefined,
				file: `${AGENT}/mulligan.config.ts`,
				sources: [{ file: `${AGENT}/mulligan.config.ts`, scope: "user", state: "read" }],
				listed: ["rewind", "object"],
				where: "project",
			},
			{ rewind: false },
			"Mulligan: refused — the list of plugins is set in ~/.pi/agent/mulligan.config.ts, which is code, which only its author can change. Change it there, then /reload.",
		],
	])("%s", (_what, of, switches, text) => {
		expect(change(of, switches)).toMatchObject({ text });
	});

	test("for a plugin that is in the list and does not run: it is said why", () => {
		const state = panelState({
			plugins: [{ name: "nudges", state: "switched off", why: "threw in onView 3 times in a row", isBuiltIn: true }],
		});
		const list = { entries: ["..."], file: undefined };
		expect(listChange(state, new Map([["nudges", true]]), { list, where: undefined })).toEqual({
			level: "answer",
			text: "Mulligan: nudges is in the list already, but switched off (threw in onView 3 times in a row).",
		});
	});
});
