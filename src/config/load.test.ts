import { mkdirSync, rmSync, symlinkSync } from "node:fs";
import { join, resolve } from "node:path";
import Type from "typebox";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ConfigFolders, textsOf } from "../../test/support/config.ts";
import type { Plugin } from "../kernel/plugin.ts";
import type { ConfigOptions } from "./load.ts";

/** The default set of these tests. */
const shrink: Plugin = {
	name: "shrink",
	options: Type.Object({
		maxActive: Type.Integer({ default: 32, minimum: 1 }),
		staleAfterFires: Type.Integer({ default: 3, minimum: 1 }),
		names: Type.Array(Type.String(), { default: ["a"] }),
	}),
	setup: () => {},
};
const DEFAULTS = {
	enabled: true,
	persistence: "auto",
	rewrites: { maxMoments: 1, flushShedTokens: 4000, safetyValveTokens: 16000 },
	ui: { activeCheckpointBanner: true },
	log: { file: null },
	shrink: { maxActive: 32, staleAfterFires: 3, names: ["a"] },
};

let folders: ConfigFolders;
beforeEach(() => {
	folders = new ConfigFolders();
});
afterEach(() => folders[Symbol.dispose]());

const globalFile = () => join(folders.agentDir, "settings.json");
const projectFile = () => join(folders.project, ".pi", "settings.json");
const write = (file: string, content: string | object) => folders.write(file, content);
const load = (options: Partial<ConfigOptions> = {}) => folders.load({ builtIns: [shrink], ...options });

describe("the settings", () => {
	test("are the defaults where no file exists", async () => {
		expect(await load()).toMatchObject({ settings: DEFAULTS, warnings: [], leftOut: [] });
	});

	test.each<[string, string | object]>([
		["is empty", {}],
		["speaks of other things", { theme: "dark" }],
		["has an empty block", { mulligan: {} }],
		["holds null", "null"],
		["holds a list", "[]"],
		["holds a text", '"mulligan"'],
	])("are the defaults where a file %s", async (_what, content) => {
		write(globalFile(), content);
		write(projectFile(), content);
		expect(await load()).toMatchObject({ settings: DEFAULTS, warnings: [] });
	});

	test("take the project's word over the global one, key by key, and the default where neither speaks", async () => {
		write(globalFile(), {
			mulligan: { enabled: false, shrink: { maxActive: 8, staleAfterFires: 5 }, rewrites: { maxMoments: 4 } },
		});
		write(projectFile(), { mulligan: { enabled: true, shrink: { maxActive: 2 } } });
		expect((await load()).settings).toEqual({
			...DEFAULTS,
			rewrites: { ...DEFAULTS.rewrites, maxMoments: 4 },
			shrink: { maxActive: 2, staleAfterFires: 5, names: ["a"] },
		});
	});

	test("take a list as a whole, not item by item", async () => {
		write(globalFile(), { mulligan: { shrink: { names: ["b", "c"] } } });
		write(projectFile(), { mulligan: { shrink: { names: ["d"] } } });
		expect((await load()).settings.shrink).toMatchObject({ names: ["d"] });
	});

	test("keep the global value where the project's is wrong", async () => {
		write(globalFile(), { mulligan: { shrink: { maxActive: 8 } } });
		write(projectFile(), { mulligan: { shrink: { maxActive: 0 } } });
		const { settings, warnings } = await load();
		expect(settings.shrink).toMatchObject({ maxActive: 8 });
		expect(warnings).toEqual([
			{
				...{ key: "shrink.maxActive", file: projectFile(), line: 1, column: 24 },
				text: `shrink.maxActive in ${projectFile()}:1:24 is 0; expected an integer of at least 1. The value is ignored.`,
			},
		]);
	});

	test("do not hear a project that is not trusted, nor warn of it", async () => {
		write(projectFile(), { mulligan: { enabled: false, shrink: { maxActive: 0 } } });
		expect(await load({ isProjectTrusted: false })).toMatchObject({ settings: DEFAULTS, warnings: [] });
	});

	test("are frozen through and through", async () => {
		const { settings } = await load();
		expect(() => Object.assign(settings, { enabled: false })).toThrow(TypeError);
		expect(() => Object.assign(settings.rewrites, { maxMoments: 9 })).toThrow(TypeError);
		expect(() => (settings.shrink as { names: string[] }).names.push("b")).toThrow(TypeError);
	});

	test("of one session do not reach another", async () => {
		write(globalFile(), { mulligan: { shrink: { maxActive: 8 } } });
		await load();
		rmSync(globalFile());
		expect((await load()).settings).toEqual(DEFAULTS);
	});
});

describe("the environment", () => {
	test.each([
		["1", false],
		["0", true],
		["true", true],
		["", true],
	])("with MULLIGAN_DISABLED=%s leaves mulligan enabled: %s", async (value, enabled) => {
		write(projectFile(), { mulligan: { enabled: true } });
		expect((await load({ env: { MULLIGAN_DISABLED: value } })).settings.enabled).toBe(enabled);
	});

	test("cannot enable what a file disables", async () => {
		write(globalFile(), { mulligan: { enabled: false } });
		expect((await load({ env: { MULLIGAN_DISABLED: "0" } })).settings.enabled).toBe(false);
	});

	test("has the last word on the log file, relative to the working directory", async () => {
		write(globalFile(), { mulligan: { log: { file: "/elsewhere.jsonl" } } });
		expect((await load({ env: { MULLIGAN_LOG: "env.jsonl" } })).settings.log.file).toBe(
			join(folders.project, "env.jsonl"),
		);
		expect((await load({ env: { MULLIGAN_LOG: "/abs.jsonl" } })).settings.log.file).toBe("/abs.jsonl");
		expect((await load({ env: { MULLIGAN_LOG: "" } })).settings.log.file).toBe("/elsewhere.jsonl");
	});
});

describe("a log file", () => {
	test.each([
		["globally", globalFile, "logs/m.jsonl", () => join(folders.agentDir, "logs", "m.jsonl")],
		["by the project", projectFile, "m.jsonl", () => join(folders.project, ".pi", "m.jsonl")],
		["from further up", projectFile, "../m.jsonl", () => join(folders.project, "m.jsonl")],
		["by an absolute path", globalFile, "/var/log/m.jsonl", () => "/var/log/m.jsonl"],
	])("that is named %s is relative to the file that names it", async (_how, file, name, expected) => {
		write(file(), { mulligan: { log: { file: name } } });
		expect((await load()).settings.log.file).toBe(expected());
	});

	test.each([
		["by an absolute path", "/var/log/m.jsonl"],
		["from too far up", "../../m.jsonl"],
		["through a link", "link/m.jsonl"],
	])("outside of a project that names it %s is a warning, unless the project is approved", async (_how, name) => {
		symlinkSync(folders.home, join(folders.write(".pi/x", ""), "../link"));
		write(projectFile(), { mulligan: { log: { file: name } } });
		const refused = await load();
		expect(refused.settings.log.file).toBeNull();
		expect(textsOf(refused)).toEqual([
			expect.stringMatching(
				/^log\.file in .*settings\.json:1:\d+ is .*m\.jsonl, outside of the project, which nobody approved\. The value is ignored\.$/,
			),
		]);
		const approved = await load({ isProjectApproved: () => true });
		expect([approved.settings.log.file, approved.warnings]).toEqual([resolve(folders.project, ".pi", name), []]);
	});

	test("that is named globally is switched off by the project with null", async () => {
		write(globalFile(), { mulligan: { log: { file: "m.jsonl" } } });
		write(projectFile(), { mulligan: { log: { file: null } } });
		expect((await load()).settings.log.file).toBeNull();
	});
});

describe("where a value comes from", () => {
	test("is the highest source that says it, and none for a default", async () => {
		write(globalFile(), { mulligan: { enabled: true, shrink: { maxActive: 8, staleAfterFires: 9 } } });
		write(projectFile(), { mulligan: { shrink: { maxActive: 2, staleAfterFires: 0 }, plugins: ["..."] } });
		const { origins } = await load({ env: { MULLIGAN_LOG: "m.jsonl" } });
		expect(Object.fromEntries(origins)).toEqual({
			enabled: globalFile(),
			plugins: projectFile(),
			"shrink.maxActive": projectFile(),
			"shrink.staleAfterFires": globalFile(),
			"log.file": "MULLIGAN_LOG",
		});
	});
});

describe("an unknown key", () => {
	test.each<[object, string | undefined]>([
		[{ shrnk: {} }, 'shrnk in FILE:1:14 is not known and ignored; did you mean "shrink"?'],
		[{ shrink: { maxactive: 3 } }, 'shrink.maxactive in FILE:1:24 is not known and ignored; did you mean "maxActive"?'],
		[
			{ rewrites: { maxMoment: 3 } },
			'rewrites.maxMoment in FILE:1:26 is not known and ignored; did you mean "maxMoments"?',
		],
		[{ plugin: [] }, 'plugin in FILE:1:14 is not known and ignored; did you mean "plugins"?'],
		[{ my_own_notes: 1, shrink: { colour: "red" } }, undefined],
		[{ $schema: "x" }, undefined],
	])("%j is a warning where it is close to a known one", async (mulligan, text) => {
		write(projectFile(), { mulligan });
		const { settings, warnings } = await load();
		expect(settings).toEqual(DEFAULTS);
		expect(warnings.map((warning) => warning.text.replace(projectFile(), "FILE"))).toEqual(
			text === undefined ? [] : [text],
		);
		if (text !== undefined) expect(warnings[0]?.didYouMean).toBe(text.match(/mean "(.*)"/)?.[1]);
	});

	test.each(["__proto__", "constructor", "prototype", "toString", "hasOwnProperty"])(
		"%s reaches neither the settings nor any other object",
		async (key) => {
			const evil = `{"${key}": {"enabled": false, "maxActive": 1}}`;
			write(globalFile(), `{"mulligan": ${evil}, "${key}": {"mulligan": {"enabled": false}}}`);
			write(projectFile(), `{"mulligan": {"shrink": ${evil}, "rewrites": ${evil}, "replace": ${evil}}}`);
			const { settings } = await load();
			expect(settings).toStrictEqual(DEFAULTS);
			expect(Object.getPrototypeOf(settings.shrink)).toBe(Object.prototype);
			expect(({} as Record<string, unknown>).maxActive).toBeUndefined();
		},
	);
});

describe("a file", () => {
	test("with a byte order mark is read", async () => {
		write(globalFile(), `\uFEFF${JSON.stringify({ mulligan: { shrink: { maxActive: 8 } } })}`);
		expect(await load()).toMatchObject({
			settings: { ...DEFAULTS, shrink: { ...DEFAULTS.shrink, maxActive: 8 } },
			warnings: [],
		});
	});

	test.each([
		["a stray word", '{\n\t"mulligan": nope\n}'],
		["a trailing comma", '{\n\t"mulligan": {},\n}'],
		["a missing end", '{\n\t"mulligan": {\n'],
		["nothing in it", ""],
	])("with %s is one warning that says where, and the other file counts", async (_what, content) => {
		write(globalFile(), content);
		write(projectFile(), { mulligan: { shrink: { maxActive: 2 } } });
		const { settings, warnings } = await load();
		expect(settings).toEqual({ ...DEFAULTS, shrink: { ...DEFAULTS.shrink, maxActive: 2 } });
		expect(warnings).toHaveLength(1);
		expect(warnings[0]?.text).toContain(`${globalFile()} cannot be read, so its mulligan block is ignored: `);
		expect(warnings[0]?.text).toMatch(/line \d+ column \d+/);
	});

	test("that is a folder is one warning", async () => {
		mkdirSync(globalFile(), { recursive: true });
		const { settings, warnings } = await load();
		expect(settings).toEqual(DEFAULTS);
		expect(warnings.map(({ text }) => text)).toEqual([expect.stringContaining(`${globalFile()} cannot be read`)]);
	});

	test.each([null, 3, "on", []])("whose block is %j is one warning", async (mulligan) => {
		write(globalFile(), { mulligan });
		const { settings, warnings } = await load();
		expect(settings).toEqual(DEFAULTS);
		expect(warnings.map(({ key }) => key)).toEqual(["mulligan"]);
	});
});
