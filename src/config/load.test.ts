import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import Type from "typebox";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { loadSettings } from "./load.ts";
import type { Sections } from "./schema.ts";

const pluginSections: Sections = {
	shrink: Type.Object({
		maxActive: Type.Integer({ default: 32, minimum: 1 }),
		staleAfterFires: Type.Integer({ default: 3, minimum: 1 }),
		names: Type.Array(Type.String(), { default: ["a"] }),
	}),
};
const DEFAULTS = {
	enabled: true,
	rewrites: { maxMoments: 1, flushShedTokens: 4000, safetyValveTokens: 16000 },
	ui: { activeCheckpointBanner: true },
	log: { file: null },
	shrink: { maxActive: 32, staleAfterFires: 3, names: ["a"] },
};

let folder: string;
beforeEach(() => {
	folder = mkdtempSync(join(tmpdir(), "mulligan-load-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const globalFile = () => join(folder, "agent", "settings.json");
const projectFile = () => join(folder, "project", ".pi", "settings.json");
function write(file: string, content: string | object): void {
	mkdirSync(dirname(file), { recursive: true });
	writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
}

const load = ({ isProjectTrusted = true, env = {} as Record<string, string> } = {}) =>
	loadSettings({
		agentDir: join(folder, "agent"),
		cwd: join(folder, "project"),
		isProjectTrusted,
		env,
		pluginSections,
	});

describe("the settings", () => {
	test("are the defaults where no file exists", () => {
		expect(load()).toEqual({ settings: DEFAULTS, warnings: [] });
	});

	test.each<[string, string | object]>([
		["is empty", {}],
		["speaks of other things", { theme: "dark" }],
		["has an empty block", { mulligan: {} }],
		["holds null", "null"],
		["holds a list", "[]"],
		["holds a text", '"mulligan"'],
	])("are the defaults where a file %s", (_what, content) => {
		write(globalFile(), content);
		write(projectFile(), content);
		expect(load()).toEqual({ settings: DEFAULTS, warnings: [] });
	});

	test("take the project's word over the global one, key by key, and the default where neither speaks", () => {
		write(globalFile(), {
			mulligan: { enabled: false, shrink: { maxActive: 8, staleAfterFires: 5 }, rewrites: { maxMoments: 4 } },
		});
		write(projectFile(), { mulligan: { enabled: true, shrink: { maxActive: 2 } } });
		expect(load().settings).toEqual({
			...DEFAULTS,
			rewrites: { ...DEFAULTS.rewrites, maxMoments: 4 },
			shrink: { maxActive: 2, staleAfterFires: 5, names: ["a"] },
		});
	});

	test("take a list as a whole, not item by item", () => {
		write(globalFile(), { mulligan: { shrink: { names: ["b", "c"] } } });
		write(projectFile(), { mulligan: { shrink: { names: ["d"] } } });
		expect(load().settings.shrink).toMatchObject({ names: ["d"] });
	});

	test("keep the global value where the project's is wrong", () => {
		write(globalFile(), { mulligan: { shrink: { maxActive: 8 } } });
		write(projectFile(), { mulligan: { shrink: { maxActive: 0 } } });
		const { settings, warnings } = load();
		expect(settings.shrink).toMatchObject({ maxActive: 8 });
		expect(warnings).toEqual([
			{
				key: "shrink.maxActive",
				text: `shrink.maxActive in ${projectFile()} is 0; expected an integer of at least 1. The value is ignored.`,
			},
		]);
	});

	test("do not hear a project that is not trusted, nor warn of it", () => {
		write(projectFile(), { mulligan: { enabled: false, shrink: { maxActive: 0 } } });
		expect(load({ isProjectTrusted: false })).toEqual({ settings: DEFAULTS, warnings: [] });
	});

	test("are frozen through and through", () => {
		const { settings } = load();
		expect(() => Object.assign(settings, { enabled: false })).toThrow(TypeError);
		expect(() => Object.assign(settings.rewrites, { maxMoments: 9 })).toThrow(TypeError);
		expect(() => (settings.shrink as { names: string[] }).names.push("b")).toThrow(TypeError);
	});

	test("of one session do not reach another", () => {
		write(globalFile(), { mulligan: { shrink: { maxActive: 8 } } });
		load();
		rmSync(globalFile());
		expect(load().settings).toEqual(DEFAULTS);
	});
});

describe("the environment", () => {
	test.each([
		["1", false],
		["0", true],
		["true", true],
		["", true],
	])("with MULLIGAN_DISABLED=%s leaves mulligan enabled: %s", (value, enabled) => {
		write(projectFile(), { mulligan: { enabled: true } });
		expect(load({ env: { MULLIGAN_DISABLED: value } }).settings.enabled).toBe(enabled);
	});

	test("cannot enable what a file disables", () => {
		write(globalFile(), { mulligan: { enabled: false } });
		expect(load({ env: { MULLIGAN_DISABLED: "0" } }).settings.enabled).toBe(false);
	});

	test("has the last word on the log file, relative to the working directory", () => {
		write(projectFile(), { mulligan: { log: { file: "/elsewhere.jsonl" } } });
		expect(load({ env: { MULLIGAN_LOG: "env.jsonl" } }).settings.log.file).toBe(join(folder, "project", "env.jsonl"));
		expect(load({ env: { MULLIGAN_LOG: "/abs.jsonl" } }).settings.log.file).toBe("/abs.jsonl");
		expect(load({ env: { MULLIGAN_LOG: "" } }).settings.log.file).toBe("/elsewhere.jsonl");
	});
});

describe("a log file", () => {
	test.each([
		["globally", globalFile, "logs/m.jsonl", () => join(folder, "agent", "logs", "m.jsonl")],
		["by the project", projectFile, "m.jsonl", () => join(folder, "project", ".pi", "m.jsonl")],
		["from further up", projectFile, "../m.jsonl", () => join(folder, "project", "m.jsonl")],
		["by an absolute path", projectFile, "/var/log/m.jsonl", () => "/var/log/m.jsonl"],
	])("that is named %s is relative to the file that names it", (_how, file, name, expected) => {
		write(file(), { mulligan: { log: { file: name } } });
		expect(load().settings.log.file).toBe(expected());
	});

	test("that is named globally is switched off by the project with null", () => {
		write(globalFile(), { mulligan: { log: { file: "m.jsonl" } } });
		write(projectFile(), { mulligan: { log: { file: null } } });
		expect(load().settings.log.file).toBeNull();
	});
});

describe("a file", () => {
	test("with a byte order mark is read", () => {
		write(globalFile(), `\uFEFF${JSON.stringify({ mulligan: { shrink: { maxActive: 8 } } })}`);
		expect(load()).toEqual({ settings: { ...DEFAULTS, shrink: { ...DEFAULTS.shrink, maxActive: 8 } }, warnings: [] });
	});

	test.each([
		["a stray word", '{\n\t"mulligan": nope\n}'],
		["a trailing comma", '{\n\t"mulligan": {},\n}'],
		["a missing end", '{\n\t"mulligan": {\n'],
		["nothing in it", ""],
	])("with %s is one warning that says where, and the other file counts", (_what, content) => {
		write(globalFile(), content);
		write(projectFile(), { mulligan: { shrink: { maxActive: 2 } } });
		const { settings, warnings } = load();
		expect(settings).toEqual({ ...DEFAULTS, shrink: { ...DEFAULTS.shrink, maxActive: 2 } });
		expect(warnings).toHaveLength(1);
		expect(warnings[0]?.text).toContain(`${globalFile()} cannot be read, so its mulligan block is ignored: `);
		expect(warnings[0]?.text).toMatch(/line \d+ column \d+/);
	});

	test("that is a folder is one warning", () => {
		mkdirSync(globalFile(), { recursive: true });
		const { settings, warnings } = load();
		expect(settings).toEqual(DEFAULTS);
		expect(warnings.map(({ text }) => text)).toEqual([expect.stringContaining(`${globalFile()} cannot be read`)]);
	});

	test.each([null, 3, "on", []])("whose block is %j is one warning", (mulligan) => {
		write(globalFile(), { mulligan });
		const { settings, warnings } = load();
		expect(settings).toEqual(DEFAULTS);
		expect(warnings.map(({ key }) => key)).toEqual(["mulligan"]);
	});
});
