import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ConfigFolders, openGateForAll, textsOf } from "../../../test/support/config.ts";
import type { LoadedConfig } from "../load.ts";

const DEFAULTS = ["checkpoints", "rewind", "shrink", "cancel", "nudges", "audit"];

let folders: ConfigFolders;
beforeEach(() => {
	folders = new ConfigFolders();
});
afterEach(() => folders[Symbol.dispose]());

const namesOf = ({ plugins }: LoadedConfig) => plugins.map(({ plugin }) => plugin.name);
const optionsOf = ({ plugins }: LoadedConfig, name: string) =>
	plugins.find(({ plugin }) => plugin.name === name)?.options;
/** A plugin as a module; `more` are further fields. */
const module = (name: string, more = "") =>
	`import { definePlugin } from "pi-mulligan/plugin";\nexport default definePlugin({ name: "${name}", setup() {}, ${more} });`;
/** What a config is warned of, without the project's folder. */
const warned = (config: LoadedConfig) => textsOf(config).map((text) => text.replaceAll(`${folders.project}/`, ""));

describe("the list of plugins", () => {
	test.each<[unknown, readonly string[]]>([
		[undefined, DEFAULTS],
		[["..."], DEFAULTS],
		[[], []],
		[["shrink"], ["shrink"]],
		[
			["audit", "rewind"],
			["audit", "rewind"],
		],
		[
			["./mine.ts", "..."],
			["mine", ...DEFAULTS],
		],
		[
			["shrink", "./mine.ts"],
			["shrink", "mine"],
		],
		[
			["shrink", ["rewind", { maxDepth: 2 }]],
			["shrink", "rewind"],
		],
		[[["./mine.ts"]], ["mine"]],
	])("%j is %j, in this order", async (plugins, names) => {
		folders.write("mine.ts", module("mine"));
		folders.write("mulligan.config.json", { plugins });
		const config = await folders.load();
		expect([namesOf(config), config.warnings]).toEqual([names, []]);
		expect(config.leftOut).toEqual(DEFAULTS.filter((name) => !names.includes(name)));
	});

	test("is that of the highest source, and not joined with others", async () => {
		folders.write(join(folders.agentDir, "mulligan.config.json"), { plugins: ["rewind", "shrink"] });
		folders.write(".pi/settings.json", { mulligan: { plugins: ["audit"] } });
		const config = await folders.load();
		expect([namesOf(config), config.origins.get("plugins")]).toEqual([
			["audit"],
			join(folders.project, ".pi/settings.json"),
		]);
	});

	test.each(['"shrink"', "{}", "null", "3", "true"])(
		"that is %s is a warning, and the default set stays",
		async (plugins) => {
			folders.write("mulligan.config.json", `{ "plugins": ${plugins} }`);
			const config = await folders.load();
			expect(namesOf(config)).toEqual(DEFAULTS);
			expect(warned(config)).toEqual([
				`plugins in mulligan.config.json:1:3 is ${plugins}; expected a list of plugins: names, paths, packages, [plugin, options] or "...". The value is ignored.`,
			]);
		},
	);

	const wrong = [3, null, true, "", {}, [], [3], [null, {}], ["shrink", {}, 1], ["..."], { name: "mine", setup: 1 }];
	test.each(wrong.map((item) => [item] as const))(
		"leaves out %j, with a warning, and keeps the others",
		async (item) => {
			folders.write("mulligan.config.json", { plugins: ["rewind", item, "audit"] });
			const config = await folders.load();
			expect(namesOf(config)).toEqual(["rewind", "audit"]);
			expect(warned(config)).toEqual([
				`plugins[1] in mulligan.config.json:1:22 is ${JSON.stringify(item)}; expected a name, a path, a package or [plugin, options]. The value is ignored.`,
			]);
		},
	);

	test("is not looked at while mulligan is disabled: no plugin's code is loaded", async () => {
		const gate = openGateForAll();
		folders.write("mine.ts", module("mine"));
		folders.write("mulligan.config.json", { enabled: false, plugins: ["./mine.ts", "./nowhere.ts"] });
		const config = await folders.load({ gate });
		expect([config.plugins, config.leftOut, config.warnings]).toEqual([[], [], []]);
		expect([gate.prepared, gate.loaded, config.settings.enabled]).toEqual([[], [], false]);
	});
});

describe("a plugin is found", () => {
	test.each<[string, string, string]>([
		["./mine.ts", "mine.ts", ""],
		["./mine", "mine.mts", ""],
		["./plugins/mine", "plugins/mine/index.ts", ""],
		["./plugins/mine.mjs", "plugins/mine.mjs", ""],
		[".", "index.ts", ""],
		["mine", "node_modules/mine/index.js", '{ "name": "mine", "type": "module" }'],
		["@team/mine", "node_modules/@team/mine/lib/mine.mjs", '{ "exports": { "import": "./lib/mine.mjs" } }'],
		["mine/nudge", "node_modules/mine/nudge.ts", '{ "exports": { "./nudge": "./nudge.ts" } }'],
	])("as %s at %s", async (entry, place, manifest) => {
		const file = folders.write(place, module("mine"));
		if (manifest) folders.write(join(file, entry.startsWith("@") ? "../.." : "..", "package.json"), manifest);
		folders.write("mulligan.config.json", { plugins: [entry] });
		const gate = openGateForAll();
		const config = await folders.load({ gate });
		expect([namesOf(config), config.warnings]).toEqual([["mine"], []]);
		expect([gate.prepared, gate.loaded]).toEqual([[file], [file]]);
	});

	test("by its path from the file that says it, whichever that is", async () => {
		folders.write(join(folders.agentDir, "a.ts"), module("a"));
		folders.write(join(folders.agentDir, "settings.json"), { mulligan: { plugins: ["./a.ts"] } });
		expect(namesOf(await folders.load())).toEqual(["a"]);
		folders.write(".pi/b.ts", module("b"));
		folders.write("c.ts", module("c"));
		folders.write(".pi/settings.json", { mulligan: { plugins: ["./b.ts", "../c.ts"] } });
		expect(namesOf(await folders.load())).toEqual(["b", "c"]);
		folders.write(".config/d.ts", module("d"));
		folders.write(".config/mulligan.config.yaml", "plugins: [./d.ts, ../c.ts]");
		expect(namesOf(await folders.load())).toEqual(["d", "c"]);
	});

	test("by an absolute path in the user's own config, outside of any project", async () => {
		const file = folders.write(join(folders.root, "mine.ts"), module("mine"));
		folders.write(join(folders.agentDir, "settings.json"), { mulligan: { plugins: [file] } });
		expect(namesOf(await folders.load())).toEqual(["mine"]);
	});

	test("as a package that Pi installed for the user", async () => {
		folders.write(join(folders.agentDir, "npm/node_modules/mine/index.ts"), module("mine"));
		folders.write(join(folders.agentDir, "npm/node_modules/mine/package.json"), { exports: "./index.ts" });
		folders.write(join(folders.agentDir, "settings.json"), { mulligan: { plugins: ["mine"] } });
		expect(namesOf(await folders.load())).toEqual(["mine"]);
	});

	test("as the object itself in a config that is code, and as one that it imports", async () => {
		folders.write("lib/nudge.ts", 'export const nudge = { name: "nudge", setup() {} };');
		folders.write(
			"mulligan.config.ts",
			`import { definePlugin } from "pi-mulligan/plugin";
import { nudge } from "./lib/nudge.ts";
const mine = definePlugin({ name: "mine", setup() {} });
export default { plugins: ["shrink", mine, [nudge, { loud: true }]] };`,
		);
		const config = await folders.load();
		expect([namesOf(config), config.warnings]).toEqual([["shrink", "mine", "nudge"], []]);
		expect(optionsOf(config, "nudge")).toEqual({ loud: true });
	});

	test.each([
		["export const mine = { name: 'mine', setup() {} }; export const other = 3;"],
		["module.exports = { name: 'mine', setup() {} };"],
		["class Mine { name = 'mine'; #said = 1; setup() { return this.#said; } }\nexport default new Mine();"],
	])("whichever way a module exports it: %s", async (text) => {
		folders.write("mine.ts", text);
		folders.write("mulligan.config.json", { plugins: ["./mine.ts"] });
		const config = await folders.load();
		expect([namesOf(config), config.warnings]).toEqual([["mine"], []]);
		expect(() => config.plugins[0]?.plugin.setup({} as never)).not.toThrow();
	});
});

describe("a plugin is left out, with a warning that says which, where and why, and the others stay:", () => {
	test.each<[string, string, string, RegExp]>([
		["whose file is nowhere", "./nowhere.ts", "", /there is no file .*nowhere\.ts/],
		[
			"whose package is nowhere",
			"nowhere",
			"",
			/no built-in plugin and, seen from .*project, no package of this name\.$/,
		],
		["whose name is a slip", "shrnk", "", /no package of this name; did you mean "shrink"\?/],
		["whose path lacks the ./", "mine.ts", module("mine"), /a path begins with \.\/, as in "\.\/mine\.ts"/],
		["that is a part of Node", "fs", "", /no package of this name/],
		["that does not parse", "./mine.ts", "export default {\n\tname: ][\n};", /mine\.ts:2/],
		["that throws", "./mine.ts", 'throw new Error("no luck");', /no luck/],
		["that exports nothing", "./mine.ts", "export {};", /it holds no plugin: an object with a name and a setup/],
		[
			"that exports two",
			"./mine.ts",
			"export const a = { setup() {} }; export const b = { setup() {} };",
			/holds no plugin/,
		],
		["that exports a function", "./mine.ts", "export default () => ({});", /holds no plugin/],
		["without a name", "./mine.ts", "export default { setup() {} };", /its "name" is not a name of letters/],
		[
			"named as a part of the config",
			"./mine.ts",
			module("log"),
			/its "name" is not a name .* the config does not use/,
		],
		["named __proto__", "./mine.ts", module("__proto__"), /its "name" is not a name/],
		["without a setup", "./mine.ts", 'export default { name: "mine" };', /its "setup" is not a function/],
		[
			"whose options are no schema",
			"./mine.ts",
			module("mine", "options: { a: 1 }"),
			/its "options" is not the schema/,
		],
		[
			"whose schema cannot be used",
			"./mine.ts",
			module("mine", 'options: { type: "object", properties: { a: { type: "string", pattern: "(", default: "x" } } }'),
			/nothing can be checked against its "options"/,
		],
		["whose tools are none", "./mine.ts", module("mine", "tools: [{ name: 1 }]"), /its "tools" is not a list of tools/],
		["whose records are none", "./mine.ts", module("mine", 'records: "a"'), /its "records" is not a list/],
		["whose commands are none", "./mine.ts", module("mine", "commands: { a: 1 }"), /its "commands" is not an object/],
		["for an older mulligan", "./mine.ts", module("mine", 'mulligan: "^1"'), /it is for mulligan \^1, and this is 2\./],
		["for a newer mulligan", "./mine.ts", module("mine", 'mulligan: ">=99"'), /it is for mulligan >=99/],
		[
			"whose passport cannot be read",
			"./mine.ts",
			module("mine", 'mulligan: "two"'),
			/its "mulligan" is "two", no range/,
		],
		[
			"whose passport is no text",
			"./mine.ts",
			module("mine", "mulligan: 2"),
			/its "mulligan" is not a range of versions/,
		],
		[
			"that needs one that is not there",
			"./mine.ts",
			module("mine", 'dependencies: ["other"]'),
			/needs the plugin "other"/,
		],
	])("%s", async (_what, entry, text, why) => {
		if (text) folders.write("mine.ts", text);
		folders.write("mulligan.config.json", { plugins: ["rewind", entry, "audit"] });
		const config = await folders.load();
		expect(namesOf(config)).toEqual(["rewind", "audit"]);
		expect(config.warnings).toHaveLength(1);
		expect(config.warnings[0]).toMatchObject({ key: "plugins[1]", line: 1, column: 22 });
		expect(warned(config)[0]).toMatch(
			/^the plugin "(?:mine|\.?\/?[\w.]+)" of plugins\[1\] in mulligan\.config\.json:1:22 is left out: /,
		);
		expect(warned(config)[0]).toMatch(why);
	});

	test("set-ups do not run before the passports are checked", async () => {
		folders.write(
			"mine.ts",
			module("mine", 'mulligan: "^1"').replace("setup() {}", 'setup() { throw new Error("ran"); }'),
		);
		folders.write("mulligan.config.json", { plugins: ["./mine.ts"] });
		expect(warned(await folders.load())[0]).not.toContain("ran");
	});

	test("one that a config holds and that is none", async () => {
		folders.write("mulligan.config.mjs", 'export default { plugins: ["audit", { name: "mine" }, { setup() {} }] };');
		const config = await folders.load();
		expect(namesOf(config)).toEqual(["audit"]);
		expect(warned(config)).toEqual([
			'the plugin "mine" of plugins[1] in mulligan.config.mjs is left out: its "setup" is not a function.',
			expect.stringContaining(
				'the plugin "without a name" of plugins[2] in mulligan.config.mjs is left out: its "name"',
			),
		]);
	});

	test.each([
		["by a path", "../outside.ts"],
		["by a link", "./link.ts"],
		["by a package above", "outside"],
	])("code outside of the project, which its config names %s", async (_how, entry) => {
		const outside = folders.write(join(folders.home, "outside.ts"), module("outside"));
		folders.write(join(folders.home, "node_modules/outside/index.js"), "module.exports = {};");
		symlinkSync(outside, join(folders.project, "link.ts"));
		folders.write("mulligan.config.json", { plugins: ["audit", entry] });
		const gate = openGateForAll();
		const config = await folders.load({ gate });
		expect([namesOf(config), gate.loaded]).toEqual([["audit"], []]);
		expect(warned(config)[0]).toContain("lies outside of the project, whose config may only name code of its own");
	});
});

describe("the passport", () => {
	test.each(["^2", "2.x", ">=2.0.0 <3", "*", "1 || 2"])("%s lets a plugin in", async (range) => {
		folders.write("mine.ts", module("mine", `mulligan: "${range}"`));
		folders.write("mulligan.config.json", { plugins: ["./mine.ts"] });
		const config = await folders.load();
		expect([namesOf(config), config.warnings]).toEqual([["mine"], []]);
	});

	test("lets a plugin in whose dependencies stand anywhere in the list", async () => {
		folders.write("mine.ts", module("mine", 'dependencies: ["shrink", "audit"]'));
		folders.write("mulligan.config.json", { plugins: ["shrink", "./mine.ts", "audit"] });
		expect(namesOf(await folders.load())).toEqual(["shrink", "mine", "audit"]);
	});

	test("takes along who depends on one that is left out", async () => {
		folders.write("a.ts", module("a", 'dependencies: ["b"]'));
		folders.write("b.ts", module("b", 'dependencies: ["c"]'));
		folders.write("c.ts", module("c", 'mulligan: "^1"'));
		folders.write("mulligan.config.json", { plugins: ["./a.ts", "audit", "./b.ts", "./c.ts"] });
		const config = await folders.load();
		expect(namesOf(config)).toEqual(["audit"]);
		expect(warned(config).map((text) => text.slice(0, 14))).toEqual([
			'the plugin "./',
			'the plugin "b"',
			'the plugin "a"',
		]);
	});
});

describe("of two plugins", () => {
	test("of one name the later counts, with a warning", async () => {
		folders.write("mine.ts", module("shrink"));
		folders.write("mulligan.config.json", { plugins: ["shrink", "audit", "./mine.ts"] });
		const config = await folders.load();
		expect(namesOf(config)).toEqual(["audit", "shrink"]);
		expect(config.plugins[1]?.plugin.tools).toBeUndefined();
		expect(warned(config)).toEqual([
			'the plugin "shrink" of plugins[0] in mulligan.config.json:1:13 is left out: "shrink" is listed twice, and the later one counts.',
		]);
	});

	test("one of which is in the default set the later counts, with its options", async () => {
		folders.write("mulligan.config.json", { plugins: ["...", ["shrink", { maxActive: 2 }]] });
		const config = await folders.load();
		expect(namesOf(config)).toEqual(["checkpoints", "rewind", "cancel", "nudges", "audit", "shrink"]);
		expect(optionsOf(config, "shrink")).toMatchObject({ maxActive: 2, staleAfterFires: 3 });
		expect(config.warnings).toHaveLength(1);
	});

	test("default sets the later counts, with one warning", async () => {
		folders.write("mulligan.config.json", { plugins: ["...", "./mine.ts", "..."] });
		folders.write("mine.ts", module("mine"));
		const config = await folders.load();
		expect(namesOf(config)).toEqual(["mine", ...DEFAULTS]);
		expect(warned(config)).toEqual([
			'"..." is listed twice, and the later one counts: not plugins[0] in mulligan.config.json:1:13.',
		]);
	});

	const claim = (name: string, tool: string) =>
		module(name, `tools: [{ name: "${tool}", label: "x", description: "x", parameters: { type: "object" } }]`);

	test("that claim one tool the later is left out", async () => {
		folders.write("a.ts", claim("a", "mulligan_shrink"));
		folders.write("b.ts", claim("b", "other"));
		folders.write("mulligan.config.json", { plugins: ["./b.ts", "shrink", "./a.ts"] });
		const config = await folders.load();
		expect(namesOf(config)).toEqual(["b", "shrink"]);
		expect(warned(config)).toEqual([
			'the plugin "a" of plugins[2] in mulligan.config.json:1:31 is left out: the tool mulligan_shrink belongs to "shrink", which stands before it.',
		]);
	});

	test("that claim one tool the later is left out, be it a default one, and with it who depends on it", async () => {
		folders.write("a.ts", claim("a", "mulligan_shrink"));
		folders.write("c.ts", module("c", 'dependencies: ["shrink"]'));
		folders.write("mulligan.config.json", { plugins: ["./a.ts", "...", "./c.ts"] });
		const config = await folders.load();
		expect(namesOf(config)).toEqual(["a", ...DEFAULTS.filter((name) => name !== "shrink")]);
		expect(config.leftOut).toEqual(["shrink"]);
		expect(config.warnings).toHaveLength(2);
	});

	test("that claim one command the later is left out", async () => {
		folders.write("a.ts", module("a", 'commands: { mulligan_checkpoint: "x" }'));
		folders.write("mulligan.config.json", { plugins: ["...", "./a.ts"] });
		const config = await folders.load();
		expect(namesOf(config)).toEqual(DEFAULTS);
		expect(warned(config)[0]).toContain("the command /mulligan_checkpoint belongs to");
	});
});

describe("a replacement", () => {
	test("stands in the place of another under its name, with its own options' schema", async () => {
		folders.write(
			"mine.ts",
			`import Type from "typebox";\n${module("mine", "options: Type.Object({ lines: Type.Integer({ default: 5, minimum: 1 }) })")}`,
		);
		folders.write("mulligan.config.json", { replace: { shrink: "./mine.ts" }, shrink: { lines: 7.5, maxActive: 3 } });
		const config = await folders.load();
		expect([namesOf(config), config.leftOut, config.warnings]).toEqual([DEFAULTS, [], []]);
		const [, , shrink] = config.plugins;
		expect(shrink).toMatchObject({ ownName: "mine", options: { lines: 7 } });
		expect(shrink?.plugin.tools).toBeUndefined();
	});

	test("may bring options, and those beside the replaced one stay where it brings none", async () => {
		folders.write("mine.ts", module("mine"));
		folders.write(".pi/settings.json", {
			mulligan: {
				plugins: [
					["shrink", { a: 1 }],
					["audit", { b: 1 }],
				],
			},
		});
		folders.write("mulligan.config.json", {
			replace: { shrink: ["../project/mine.ts", { a: 2 }], audit: "./mine.ts" },
		});
		const config = await folders.load();
		expect(config.plugins.map(({ options }) => options)).toEqual([{ a: 2 }, { b: 1 }]);
	});

	test("is one for each name, over all sources", async () => {
		for (const name of ["a", "b", "c"]) folders.write(join(folders.agentDir, `${name}.ts`), module(name));
		for (const name of ["a", "b", "c"]) folders.write(`${name}.ts`, module(name));
		folders.write(join(folders.agentDir, "mulligan.config.json"), { replace: { shrink: "./a.ts", audit: "./b.ts" } });
		folders.write("mulligan.config.json", { replace: { audit: "./c.ts" } });
		const { plugins, origins } = await folders.load();
		expect(plugins.flatMap(({ ownName }) => ownName ?? [])).toEqual(["a", "c"]);
		expect(origins.get("replace.audit")).toBe(join(folders.project, "mulligan.config.json"));
	});

	test("that cannot be loaded is a warning, and what it should replace stays", async () => {
		folders.write("mulligan.config.json", { replace: { shrink: "./nowhere.ts" } });
		const config = await folders.load();
		expect(namesOf(config)).toEqual(DEFAULTS);
		expect(config.plugins[2]?.plugin.tools).toHaveLength(1);
		expect(warned(config)).toEqual([
			expect.stringMatching(/^the plugin "\.\/nowhere\.ts" of replace\.shrink in .* is left out/),
		]);
	});

	test("of what is not in the list is a warning", async () => {
		folders.write("mine.ts", module("mine"));
		folders.write("mulligan.config.json", { plugins: ["shrink"], replace: { shrnk: "./mine.ts", audit: "./mine.ts" } });
		const config = await folders.load();
		expect([namesOf(config), config.plugins[0]?.ownName]).toEqual([["shrink"], undefined]);
		expect(warned(config)).toEqual([
			'replace.shrnk in mulligan.config.json:1:34 replaces nothing: no plugin "shrnk" is in the list. Did you mean "shrink"?',
			'replace.audit in mulligan.config.json:1:54 replaces nothing: no plugin "audit" is in the list.',
		]);
	});

	test.each([[3], ["x"], [[]], [null]])("table that is %j is one warning", async (replace) => {
		folders.write("mulligan.config.json", { replace });
		const config = await folders.load();
		expect(namesOf(config)).toEqual(DEFAULTS);
		expect(warned(config)).toEqual([expect.stringContaining("expected an object of names and plugins")]);
	});
});

describe("options", () => {
	const schema = `options: Type.Object({
		lines: Type.Integer({ default: 5, minimum: 1 }),
		words: Type.Array(Type.String(), { default: ["a"] }),
		inner: Type.Object({ a: Type.Number({ default: 1 }), b: Type.Number({ default: 2 }) }),
	})`;
	const mine = `import Type from "typebox";\n${module("mine", schema)}`;

	test("are the defaults of the schema, under the section of each source, under those beside the plugin", async () => {
		folders.write("mine.ts", mine);
		folders.write(join(folders.agentDir, "settings.json"), { mulligan: { mine: { lines: 6, inner: { a: 7 } } } });
		folders.write("mulligan.config.json", {
			plugins: [["./mine.ts", { words: ["c"] }]],
			mine: { lines: 7, words: ["b"], inner: { b: 8 } },
		});
		const config = await folders.load();
		expect([optionsOf(config, "mine"), config.warnings]).toEqual([
			{ lines: 7, words: ["c"], inner: { a: 7, b: 8 } },
			[],
		]);
		expect(config.settings.mine).toBe(optionsOf(config, "mine"));
	});

	test("of a wrong type are the default, with one warning that says where, and unknown ones are ignored", async () => {
		folders.write("mine.ts", mine);
		folders.write("mulligan.config.json", {
			plugins: [["./mine.ts", { lines: "many", line: 3, colour: 1 }]],
			mine: { words: 3 },
		});
		const config = await folders.load();
		expect(optionsOf(config, "mine")).toEqual({ lines: 5, words: ["a"], inner: { a: 1, b: 2 } });
		expect(warned(config)).toEqual([
			"mine.words in mulligan.config.json:1:73 is 3; expected a list in which each is a string. The value is ignored.",
			'mine.lines in mulligan.config.json:1:27 is "many"; expected an integer of at least 1. The value is ignored.',
			'mine.line in mulligan.config.json:1:42 is not known and ignored; did you mean "lines"?',
		]);
	});

	test.each([[3], ["x"], [null], [[]]])("that are %j are a warning, and the plugin stays", async (options) => {
		folders.write("mine.ts", mine);
		folders.write("mulligan.config.json", { plugins: [["./mine.ts", options]] });
		const config = await folders.load();
		expect(optionsOf(config, "mine")).toMatchObject({ lines: 5 });
		expect(warned(config)).toEqual([expect.stringContaining("plugins[0][1] in mulligan.config.json:1:26 is")]);
	});

	test("of a plugin without a schema are taken as they are, and frozen", async () => {
		folders.write("mine.ts", module("mine"));
		folders.write(
			"mulligan.config.mjs",
			'export default { plugins: [["./mine.ts", { when: () => 3 }]], mine: { a: { b: 1 } } };',
		);
		const config = await folders.load();
		const options = optionsOf(config, "mine") as { when(): number; a: { b: number } };
		expect([options.when(), options.a, config.warnings]).toEqual([3, { b: 1 }, []]);
		expect(() => Object.assign(options.a, { b: 2 })).toThrow(TypeError);
	});
});

test("the human is asked once for all code that the list names", async () => {
	const gate = openGateForAll();
	const files = ["a", "b", "c"].map((name) => folders.write(`${name}.ts`, module(name)));
	folders.write("mulligan.config.json", { plugins: ["./a.ts", "./b.ts", "./a.ts"], replace: { b: "./c.ts" } });
	const questions: (readonly string[])[] = [];
	gate.prepare = async (asked) => void questions.push(asked);
	await folders.load({ gate });
	expect(questions).toEqual([files]);
});

test("the human is not asked for what their own config names, though it lies in the project", async () => {
	const gate = openGateForAll();
	const said: unknown[] = [];
	const { load } = gate;
	gate.load = async (path, saidBy) => {
		said.push([path, saidBy]);
		return load(path, saidBy);
	};
	const file = folders.write("mine.ts", module("mine"));
	folders.write(
		join(folders.agentDir, "mulligan.config.mjs"),
		`export default { plugins: [${JSON.stringify(file)}] };`,
	);
	const config = await folders.load({ gate });
	expect([namesOf(config), gate.prepared]).toEqual([["mine"], []]);
	expect(said).toEqual([
		[join(folders.agentDir, "mulligan.config.mjs"), "user"],
		[file, "user"],
	]);
});
