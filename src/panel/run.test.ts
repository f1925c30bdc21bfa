import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { panelState, settingsWith } from "../../test/support/panel-state.ts";
import type { SourceReport as Source } from "../config/sources/book.ts";
import { type Effects, run } from "./run.ts";
import type { ConfigState, PanelState } from "./state.ts";

let folder: string;
beforeEach(() => {
	folder = mkdtempSync(join(tmpdir(), "mulligan-run-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const path = (name: string) => join(folder, name);
const read = (name: string) => JSON.parse(readFileSync(path(name), "utf8"));
const file = (name: string, content: object): string => {
	writeFileSync(path(name), JSON.stringify(content));
	return path(name);
};

/** Runs a line over a state whose folders are the temporary one; returns what was told and done. */
async function ran(
	line: string,
	{ effects = {}, ...over }: Parameters<typeof panelState>[0] & { effects?: Partial<Effects> } = {},
) {
	const told: string[] = [];
	const did: string[] = [];
	const host = { agentDir: folder, cwd: folder, projectRoot: folder, home: folder, ...over?.host };
	const state: PanelState = panelState({ ...over, host });
	await run(line, {
		state,
		width: 80,
		tell: ({ text }) => told.push(text),
		select: undefined,
		takeBack(ops) {
			did.push(`took back ${ops.map(({ id }) => id).join(", ")}`);
			return { returned: [], activated: [] };
		},
		audit: async (args) => void did.push(`audit ${args}`),
		approve: async () => ({ files: state.pending, isKept: true }),
		diagnose: () => ({ extensions: [], request: undefined, contextEdits: 0, log: { file: null }, entries: {} }),
		canReload: true,
		reload: async ({ reloaded }) => void did.push(`reloaded: ${reloaded.text}`),
		...effects,
	});
	return { told, did };
}

describe("a change", () => {
	test("is written and told after the reload", async () => {
		const { told, did } = await ran("set rewind.maxDepth 8");
		expect(read("mulligan.config.json").rewind).toEqual({ maxDepth: 8 });
		expect(told).toEqual([]);
		expect(did).toEqual([
			"reloaded: Mulligan: rewind.maxDepth is 8 instead of 5, in ./mulligan.config.json, which is new. Pi has reloaded, and it counts.",
		]);
	});

	test("that has no effect is told so, without a reload", async () => {
		const config: Partial<ConfigState> = {
			sources: [
				{ file: path("mulligan.config.json"), scope: "user", state: "absent" },
				{ file: path("p.ts"), scope: "project", state: "read" },
			],
			origins: new Map([["rewind.maxDepth", path("p.ts")]]),
		};
		const { told, did } = await ran("set rewind.maxDepth 8", { config });
		expect(told[0]).toContain("It has no effect: ./p.ts says otherwise and counts more.");
		expect(did).toEqual([]);
	});

	test("that is none, or failed, has nothing reloaded", async () => {
		file("mulligan.config.json", { rewind: { maxDepth: 8 } });
		expect(await ran("set rewind.maxDepth 8")).toEqual({
			told: ["Mulligan: ./mulligan.config.json says so already: rewind.maxDepth is 8."],
			did: [],
		});
		writeFileSync(path("mulligan.config.json"), "{ nope");
		const { told, did } = await ran("set rewind.maxDepth 8");
		expect(told[0]).toMatch(/^Mulligan: refused — \.\/mulligan\.config\.json was not changed: it does not parse: /);
		expect(did).toEqual([]);
	});

	test("of the master switch goes the same way", async () => {
		const { did } = await ran("off");
		expect(read("mulligan.config.json").enabled).toBe(false);
		expect(did[0]).toContain("enabled is false instead of true");
	});
});

describe("the list of plugins is read where it is in force", () => {
	const inForce = (name: string, scope: Source["scope"] = "user"): Partial<ConfigState> => ({
		sources: [{ file: path(name), scope, state: "read" }],
		origins: new Map([["plugins", path(name)]]),
	});
	const plugins = ["rewind", "shrink"].map((name) => ({ name, state: "on", isBuiltIn: true }) as const);

	test("in a config of ours, which is changed", async () => {
		file("mulligan.config.json", { plugins: [["rewind", { maxDepth: 2 }], "shrink"] });
		await ran("shrink off", { plugins, config: inForce("mulligan.config.json") });
		expect(read("mulligan.config.json").plugins).toEqual([["rewind", { maxDepth: 2 }]]);
	});

	test("in Pi's settings, which are left alone", async () => {
		file("settings.json", { mulligan: { plugins: ["rewind", "shrink"] } });
		await ran("shrink off", { plugins, config: inForce("settings.json") });
		expect(read("mulligan.config.json").plugins).toEqual(["rewind"]);
		expect(read("settings.json")).toEqual({ mulligan: { plugins: ["rewind", "shrink"] } });
	});

	test("in a manifest", async () => {
		file("package.json", { name: "shop", mulligan: { plugins: ["rewind", "shrink"] } });
		await ran("shrink", { plugins, config: inForce("package.json", "project") });
		expect(read("package.json")).toEqual({ name: "shop", mulligan: { plugins: ["rewind"] } });
	});

	test("not in code: by the names of what it lists", async () => {
		writeFileSync(path("mulligan.config.ts"), "");
		const { told } = await ran("shrink off", { plugins, config: inForce("mulligan.config.ts") });
		expect(told[0]).toContain("./mulligan.config.ts is code, which only its author can change.");
		expect(existsSync(path("mulligan.config.json"))).toBe(false);
	});

	test("not while mulligan is off", async () => {
		const { told } = await ran("shrink off", { config: { settings: settingsWith({ enabled: false }) } });
		expect(told).toEqual([
			"Mulligan: refused — mulligan is off. /mulligan on switches it on, and then its plugins can be switched.",
		]);
	});
});

describe("trust", () => {
	test("approves what waits, and has Pi reload", async () => {
		const { did } = await ran("trust", { pending: [path("mulligan.config.ts")] });
		expect(did).toEqual([
			"reloaded: Mulligan: 1 file approved as it is now: ./mulligan.config.ts. Pi has reloaded, and it counts.",
		]);
	});

	test("does nothing where nothing waits", async () => {
		expect((await ran("trust")).did).toEqual([]);
	});
});

describe("what is not known is named, with what was probably meant", () => {
	test.each([
		["undoo", 'Mulligan: refused — /mulligan does not know "undoo". Did you mean undo?'],
		["rewnd off", 'Mulligan: refused — /mulligan does not know "rewnd". Did you mean rewind?'],
		["Rewind", 'Mulligan: refused — /mulligan does not know "Rewind". Did you mean rewind?'],
		["frobnicate", 'Mulligan: refused — /mulligan does not know "frobnicate". /mulligan help lists what it takes.'],
		[
			"set rewind.maxdepth 3",
			'Mulligan: refused — /mulligan does not know "rewind.maxdepth". Did you mean rewind.maxDepth?',
		],
		[
			"set nothing.like 3",
			'Mulligan: refused — /mulligan does not know "nothing.like". /mulligan set followed by Tab lists the settings.',
		],
		["undo x", "Mulligan: refused — undo takes the number that /mulligan lists, from 1 on; got x."],
	])("%s", async (line, text) => {
		expect(await ran(line)).toEqual({ told: [text], did: [] });
	});
});

test("audit is handed on, and refused without its plugin", async () => {
	expect(await ran("audit 20")).toEqual({ told: [], did: ["audit 20"] });
	const plugins = [{ name: "audit", state: "off", isBuiltIn: true }] as const;
	const { told } = await ran("audit", { plugins, effects: { audit: undefined } });
	expect(told).toEqual(["Mulligan: refused — the plugin audit is off. /mulligan audit on switches it on."]);
});

test.each(["show", "help", "trace", "doctor"])("%s tells and does nothing", async (line) => {
	const { told, did } = await ran(line);
	expect(told).toHaveLength(1);
	expect(did).toEqual([]);
});

test("bare, without a terminal, it shows; with one it shows and lets choose", async () => {
	expect((await ran("")).told).toHaveLength(1);
	const titles: string[] = [];
	const select = async (title: string) => {
		titles.push(title);
		return undefined;
	};
	expect((await ran("", { effects: { select } })).told).toHaveLength(1);
	expect(titles).toHaveLength(1);
	const off = { settings: settingsWith({ enabled: false }) };
	expect((await ran("", { effects: { select }, config: off })).told).toHaveLength(1);
	expect(titles).toHaveLength(1);
});

test("help names every sub-command", async () => {
	const { told } = await ran("help");
	for (const name of ["show", "set KNOB VALUE", "undo [N]", "restore", "audit [TOP]", "trace", "trust", "doctor"])
		expect(told[0]).toContain(name);
});
