import { execFileSync } from "node:child_process";
import { chownSync, existsSync, mkdirSync, symlinkSync, truncateSync } from "node:fs";
import { extname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ConfigFolders, openGateForAll, textsOf } from "../../../test/support/config.ts";
import { DEFAULT_PLUGINS } from "../../default-set.ts";
import type { ConfigOptions, LoadedConfig } from "../load.ts";
import { readConfig } from "../read-config.ts";
import { NotApproved } from "../trust/gate.ts";
import { AGENT_PLACES, PROJECT_PLACES } from "./places.ts";
import { importCosmiconfig } from "./search.ts";

let folders: ConfigFolders;
beforeEach(() => {
	folders = new ConfigFolders();
});
afterEach(() => folders[Symbol.dispose]());

/** What a place holds so that the config says `shrink.maxActive`. */
function saying(maxActive: number, place: string): string {
	const json = JSON.stringify({ shrink: { maxActive } });
	const texts: Readonly<Record<string, string>> = {
		".ts": `import { definePlugin } from "pi-mulligan/plugin";\nconst made: string = typeof definePlugin;\nexport default made === "function" ? ${json} : {};`,
		".mts": `const max: number = ${maxActive};\nexport default { shrink: { maxActive: max } };`,
		".js": `export default ${json};`,
		".mjs": `export default ${json};`,
		".cjs": `module.exports = ${json};`,
		".json": place === "package.json" ? `{ "name": "x", "mulligan": ${json} }` : json,
		".yaml": `shrink:\n  maxActive: ${maxActive}\n`,
		".yml": `shrink: { maxActive: ${maxActive} }\n`,
		"": `shrink:\n  maxActive: ${maxActive}\n`,
	};
	return texts[extname(place)] ?? "";
}

const maxActive = ({ settings }: LoadedConfig) => (settings.shrink as { readonly maxActive: number }).maxActive;
const statesOf = ({ sources }: LoadedConfig) =>
	sources.filter(({ state }) => state !== "absent").map(({ file, scope, state }) => [file, scope, state]);

describe("a config counts", () => {
	test.each(PROJECT_PLACES)("in the project as %s", async (place) => {
		const file = folders.write(place, saying(7, place));
		const config = await folders.load();
		expect([maxActive(config), config.warnings]).toEqual([7, []]);
		expect(statesOf(config)).toEqual([[file, "project", "read"]]);
		expect(config.origins.get("shrink.maxActive")).toBe(file);
	});

	test.each(AGENT_PLACES)("in Pi's agent folder as %s", async (place) => {
		const file = folders.write(join(folders.agentDir, place), saying(7, place));
		const config = await folders.load();
		expect([maxActive(config), config.warnings]).toEqual([7, []]);
		expect(statesOf(config)).toEqual([[file, "user", "read"]]);
	});

	test.each(["mulligan.config.mjs", ".mulliganrc"])("wherever the agent folder is: %s", async (place) => {
		const agentDir = join(folders.root, "elsewhere");
		const isTaken = (AGENT_PLACES as readonly string[]).includes(place);
		folders.write(join(agentDir, place), saying(7, place));
		folders.write(join(folders.agentDir, "mulligan.config.json"), saying(8, "x.json"));
		expect(maxActive(await folders.load({ agentDir }))).toBe(isTaken ? 7 : 32);
	});

	test("in a folder above, up to the one with .git", async () => {
		folders.write(".git/HEAD", "");
		folders.write("mulligan.config.json", saying(7, "x.json"));
		folders.write("packages/a/package.json", { name: "a" });
		expect(maxActive(await folders.load({ cwd: join(folders.project, "packages/a") }))).toBe(7);
	});

	test("in a folder above, up to the one with package.json where there is no .git", async () => {
		folders.write("package.json", { name: "x", mulligan: { shrink: { maxActive: 7 } } });
		folders.write("src/a.ts", "");
		expect(maxActive(await folders.load({ cwd: join(folders.project, "src") }))).toBe(7);
	});

	test("nearest to the working directory, as a whole", async () => {
		folders.write(".git/HEAD", "");
		folders.write("mulligan.config.json", { shrink: { maxActive: 7, notifyMaxChars: 9 } });
		folders.write("packages/a/.mulliganrc", saying(8, ""));
		const { settings } = await folders.load({ cwd: join(folders.project, "packages/a") });
		expect(settings.shrink).toMatchObject({ maxActive: 8, notifyMaxChars: 2048 });
	});

	test("where the working directory is a link to the project", async () => {
		folders.write("mulligan.config.json", saying(7, "x.json"));
		symlinkSync(folders.project, join(folders.root, "link"));
		expect(maxActive(await folders.load({ cwd: join(folders.root, "link") }))).toBe(7);
	});
});

describe("a config does not count", () => {
	const isDefault = async (options: Parameters<ConfigFolders["load"]>[0] = {}) => {
		const config = await folders.load(options);
		expect([maxActive(config), config.warnings]).toEqual([32, []]);
	};

	test.each(["mulligan.config.json", "mulligan.config.ts", "package.json", ".mulliganrc"])(
		"in the home folder, nor above it: %s",
		async (place) => {
			folders.write(join(folders.home, ".git/HEAD"), "");
			folders.write(join(folders.home, place), saying(7, place));
			folders.write(join(folders.root, place), saying(7, place));
			await isDefault();
			await isDefault({ cwd: folders.home });
			await isDefault({ cwd: folders.root });
		},
	);

	test("above the folder with .git, nor beside a package.json further up", async () => {
		folders.write("mulligan.config.json", saying(7, "x.json"));
		folders.write("package.json", {});
		folders.write("sub/.git", "gitdir: elsewhere");
		folders.write("sub/deep/a.ts", "");
		await isDefault({ cwd: join(folders.project, "sub/deep") });
	});

	test("above the working directory where there is neither .git nor package.json", async () => {
		folders.write("mulligan.config.json", saying(7, "x.json"));
		folders.write("sub/a.ts", "");
		await isDefault({ cwd: join(folders.project, "sub") });
	});

	test("where Pi does not trust the project, and none of it runs", async () => {
		const gate = openGateForAll();
		folders.write(".pi/settings.json", { mulligan: { shrink: { maxActive: 7 } } });
		const file = folders.write("mulligan.config.ts", saying(7, "x.ts"));
		const config = await folders.load({ isProjectTrusted: false, gate });
		expect([maxActive(config), config.warnings, gate.prepared, gate.loaded]).toEqual([32, [], [], []]);
		expect(statesOf(config)).toEqual([
			[join(folders.project, ".pi/settings.json"), "project", "untrusted"],
			[file, "project", "untrusted"],
		]);
	});

	test("where a package.json names mulligan in another place", async () => {
		folders.write("package.json", { devDependencies: { mulligan: "^1" }, config: { mulligan: { enabled: false } } });
		await isDefault();
	});
});

describe("of several configs", () => {
	test.each(PROJECT_PLACES.slice(0, -1).map((place, index) => [place, PROJECT_PLACES[index + 1] ?? ""] as const))(
		"%s counts before %s, and one warning names the other",
		async (first, second) => {
			const files = [folders.write(first, saying(7, first)), folders.write(second, saying(8, second))];
			const config = await folders.load();
			expect(maxActive(config)).toBe(7);
			expect(textsOf(config)).toEqual([`${files[0]} counts, so ${files[1]} is not read; keep one of them.`]);
			expect(statesOf(config)).toEqual([
				[files[0], "project", "read"],
				[files[1], "project", "shadowed"],
			]);
		},
	);

	test("in one folder one warning names all that do not count", async () => {
		const [first, ...others] = ["mulligan.config.json", ".config/mulligan.config.yml", ".mulliganrc"].map((place) =>
			folders.write(place, saying(7, place)),
		);
		expect(textsOf(await folders.load())).toEqual([
			`${first} counts, so ${others.join(", ")} is not read; keep one of them.`,
		]);
	});

	test("the sources stand on each other in their order", async () => {
		const layers = [
			join(folders.agentDir, "settings.json"),
			join(folders.agentDir, "mulligan.config.yaml"),
			join(folders.project, ".pi/settings.json"),
			join(folders.project, "mulligan.config.json"),
		];
		for (const [index, file] of layers.entries()) {
			const { settings, origins, warnings } = await (async () => {
				const block = { shrink: { maxActive: index + 2 }, rewrites: { maxMoments: index }, rewind: { maxDepth: 9 } };
				folders.write(file, file.endsWith("settings.json") ? { mulligan: block } : block);
				return folders.load();
			})();
			expect(settings).toMatchObject({ shrink: { maxActive: index + 2 }, rewrites: { maxMoments: index } });
			expect([origins.get("shrink.maxActive"), warnings]).toEqual([file, []]);
		}
	});

	test("objects merge key by key, lists replace", async () => {
		folders.write(join(folders.agentDir, "mulligan.config.json"), {
			nudges: { bloatThresholdBytesByTool: { grep: 1, read: 2 } },
			rewind: { protectedRoles: ["latest:user"] },
		});
		folders.write(
			".mulliganrc",
			"nudges: { bloatThresholdBytesByTool: { read: 3 } }\nrewind: { protectedRoles: [] }\n",
		);
		const { settings } = await folders.load();
		expect(settings.nudges).toMatchObject({ bloatThresholdBytesByTool: { grep: 1, read: 3 } });
		expect(settings.rewind).toMatchObject({ protectedRoles: [] });
	});
});

describe("a text is taken", () => {
	const MARK = "\uFEFF";
	const utf16 = (text: string) => Buffer.from(`${MARK}${text}`, "utf16le");
	test.each<[string, string, string | Uint8Array]>([
		["JSON with a byte order mark", "mulligan.config.json", `${MARK}${saying(7, "x.json")}`],
		["JSON in UTF-16", "mulligan.config.json", utf16(saying(7, "x.json"))],
		["JSON with CRLF", "mulligan.config.json", '{\r\n\t"shrink": {\r\n\t\t"maxActive": 7\r\n\t}\r\n}\r\n'],
		[
			"JSON with comments and trailing commas",
			"mulligan.config.json",
			'{\n// why\n"shrink": { /* so */ "maxActive": 7, },\n}',
		],
		["an rc file in JSON with comments", ".mulliganrc", '{ // why\n"shrink": { "maxActive": 7, }, }'],
		["an rc file in JSON with a byte order mark", ".mulliganrc", `${MARK} ${saying(7, "x.json")}`],
		["an rc file in JSON by its name", ".mulliganrc.json", '{ "shrink": { "maxActive": 7, } }'],
		["YAML with a byte order mark and CRLF", "mulligan.config.yaml", `${MARK}shrink:\r\n  maxActive: 7 # why\r\n`],
		["YAML with anchors", ".mulliganrc.yml", "x-max: &max 7\nshrink: { maxActive: *max }\n"],
		["YAML that is JSON", "mulligan.config.yml", saying(7, "x.json")],
		["a package.json with a byte order mark", "package.json", `${MARK}${saying(7, "package.json")}`],
		[
			"TypeScript with a byte order mark and CRLF",
			"mulligan.config.ts",
			`${MARK}${saying(7, "x.ts").replaceAll("\n", "\r\n")}`,
		],
		["code that exports by name", "mulligan.config.mjs", "export const shrink = { maxActive: 7 };"],
	])("%s", async (_what, place, text) => {
		folders.write(place, text);
		const config = await folders.load();
		expect([maxActive(config), config.warnings]).toEqual([7, []]);
	});

	test.each(["mulligan.config.json", "mulligan.config.ts", "mulligan.config.yaml", ".mulliganrc"])(
		"where it is empty, as all defaults: %s",
		async (place) => {
			folders.write(place, " \n");
			const config = await folders.load();
			expect([maxActive(config), config.warnings]).toEqual([32, []]);
		},
	);

	test("where YAML holds nothing but comments, as all defaults", async () => {
		folders.write(".mulliganrc", "# shrink:\n#   maxActive: 7\n");
		expect((await folders.load()).warnings).toEqual([]);
	});
});

describe("a config that is no object is one warning, and the rest counts", () => {
	test.each<[string, string, string, string]>([
		["a body that is null", "mulligan.config.json", "null", "the config in .* is null; expected an object"],
		["a body that is a list", ".mulliganrc", "- a\n", "the config in .* is \\[.a.\\]; expected an object"],
		["a body that is a text", ".mulliganrc.json", '"x"', 'the config in .* is "x"; expected an object'],
		["a block that is null", "package.json", '{ "mulligan": null }', "mulligan in .* is null; expected an object"],
	])("%s", async (_what, name, text, expected) => {
		folders.write(name, text);
		const { warnings } = await folders.load();
		expect(warnings.map((warning) => warning.text)).toEqual([expect.stringMatching(`^${expected}`)]);
	});
});

describe("a text that cannot be taken is one warning with its place, and the rest counts", () => {
	test.each<[string, string, string, string]>([
		[
			"JSON",
			"mulligan.config.json",
			'{\n\t"shrink": nope\n}',
			"a word without quotes is neither true, false nor null at line 2 column 12",
		],
		[
			"JSON of a package",
			"package.json",
			'{ "mulligan": {}, // no comments here\n}',
			"a comment is not taken here at line 1 column 19",
		],
		[
			"a comma in a package",
			"package.json",
			'{ "mulligan": {},\n}',
			"the name of a key in double quotes is expected at line 2 column 1",
		],
		[
			"JSON that is cut off",
			"mulligan.config.json",
			'{\n\t"shrink": { "maxActive": 7',
			"a closing } is expected: the file ends too early at line 2 column 28",
		],
		[
			"JSON that is cut off in a text",
			"mulligan.config.json",
			'{ "log": { "file": "/tm',
			"its closing quote is missing",
		],
		["YAML", "mulligan.config.yaml", "shrink:\n  maxActive: [1\nrewind: 3\n", "at line 3 column 1"],
		["YAML of two documents", ".mulliganrc", "shrink: {}\n---\nrewind: {}\n", "multiple documents"],
		[
			"a key of YAML that is said twice",
			".mulliganrc.yaml",
			"shrink: {}\nshrink: {}\n",
			"Map keys must be unique at line 2 column 1",
		],
		["an alias of YAML that is nowhere", ".mulliganrc.yml", "shrink: *none\n", "Unresolved alias"],
		["TypeScript", "mulligan.config.ts", "export default {\n\tshrink: ][\n};", "mulligan.config.ts:2"],
		["code that throws", "mulligan.config.mjs", 'throw new Error("no luck");', "no luck"],
		["code whose import is nowhere", "mulligan.config.ts", 'import "./nowhere.ts";\nexport default {};', "nowhere"],
		[
			"code that reads a file that is nowhere",
			"mulligan.config.cjs",
			'require("node:fs").readFileSync("/nowhere/x");',
			"ENOENT",
		],
		[
			"code with a trap",
			"mulligan.config.cjs",
			'module.exports = { get shrink() { throw new Error("trap") } };',
			"trap",
		],
	])("%s", async (_what, place, text, part) => {
		folders.write(join(folders.agentDir, "settings.json"), { mulligan: { rewind: { maxDepth: 9 } } });
		const file = folders.write(place, text);
		const config = await folders.load();
		expect(config.settings.rewind).toMatchObject({ maxDepth: 9 });
		expect(textsOf(config)).toEqual([expect.stringContaining(`${file} cannot be read, so it is ignored: `)]);
		expect(textsOf(config)[0]).toContain(part);
		expect(statesOf(config).at(-1)).toEqual([file, "project", "unreadable"]);
	});

	test.each<[string, string, string]>([
		["JSON", "mulligan.config.json", '{\n\t"shrink": {\n\t\t"maxActive": 0\n\t}\n}'],
		["JSON with CRLF", "mulligan.config.json", '{\r\n\t"shrink": {\r\n\t\t"maxActive": 0\r\n\t}\r\n}'],
		["YAML", "mulligan.config.yaml", "# why\nshrink:\n  maxActive: 0\n"],
		["YAML through an alias", ".mulliganrc", "x: &x\n  # a comment\n  maxActive: 0\nshrink: *x\n"],
		["a package.json", "package.json", '{ "mulligan": {\n "shrink": {\n\t\t"maxActive": 0 } } }'],
	])("a wrong value of %s is named with line and column", async (_what, place, text) => {
		const file = folders.write(place, text);
		const [warning] = (await folders.load()).warnings;
		expect(warning).toEqual({
			...{ key: "shrink.maxActive", file, line: 3, column: 3 },
			text: `shrink.maxActive in ${file}:3:3 is 0; expected an integer of at least 1. The value is ignored.`,
		});
	});
});

describe("a file that should not be opened is one warning, and the next place counts", () => {
	const isPassedOver = async (file: string, why: string) => {
		folders.write(".mulliganrc", saying(7, ""));
		const config = await folders.load();
		expect([maxActive(config), textsOf(config)]).toEqual([
			7,
			[expect.stringContaining(`${file} cannot be read, so it is ignored: `)],
		]);
		expect(textsOf(config)[0]).toContain(why);
	};
	const config = () => join(folders.project, "mulligan.config.json");

	test("a folder", async () => {
		mkdirSync(config());
		await isPassedOver(config(), "it is no file");
	});

	test("a pipe, which nobody writes to", async ({ skip }) => {
		if (process.platform === "win32") skip("Windows has no named pipes in folders");
		execFileSync("mkfifo", [config()]);
		await isPassedOver(config(), "it is no file");
	});

	test("a file of several megabytes", async () => {
		truncateSync(folders.write("mulligan.config.json", "{}"), 5_000_000);
		await isPassedOver(config(), "it is larger than 1024 KiB");
	});

	test("a link that leads nowhere", async () => {
		symlinkSync(join(folders.root, "nowhere"), config());
		await isPassedOver(config(), "ENOENT");
	});

	test("a link that leads to itself", async () => {
		symlinkSync(config(), config());
		await isPassedOver(config(), "ELOOP");
	});

	test.runIf(process.getuid?.() === 0)("a file of another user", async () => {
		chownSync(folders.write("mulligan.config.json", saying(8, "x.json")), 12345, 12345);
		await isPassedOver(config(), "it belongs to another user");
	});
});

describe("a hostile text does no harm", () => {
	test("JSON that is nested a hundred thousand times", async () => {
		folders.write("mulligan.config.json", `{"shrink":${"[".repeat(100_000)}${"]".repeat(100_000)}}`);
		expect(textsOf(await folders.load())).toEqual([expect.stringContaining("it is nested too deep")]);
	});

	test("YAML whose aliases would grow into gigabytes", async () => {
		const steps = "abcdefgh".split("").map((name, index, all) => {
			const items = Array(9).fill(index === 0 ? "x" : `*${all[index - 1]}`);
			return `${name}: &${name} [${items.join(",")}]`;
		});
		folders.write(".mulliganrc", steps.join("\n"));
		expect(textsOf(await folders.load())).toEqual([expect.stringContaining("Excessive alias count")]);
	});

	test.each([
		"shrink: &a { maxActive: *a }",
		"shrink: &a [*a]",
		"nudges: { bloatThresholdBytesByTool: &a { read: *a } }",
	])("YAML that holds itself: %s", async (text) => {
		folders.write(".mulliganrc", text);
		const config = await folders.load();
		expect(maxActive(config)).toBe(32);
		expect(config.warnings.length).toBeLessThanOrEqual(1);
	});

	test("an object of code that holds itself", async () => {
		folders.write(
			"mulligan.config.cjs",
			"const shrink = { maxActive: 7 }; shrink.self = shrink; module.exports = { shrink };",
		);
		const config = await folders.load();
		expect([maxActive(config), config.warnings]).toEqual([7, []]);
	});

	test("an $import, which is nobody's key", async () => {
		folders.write("other.json", { shrink: { maxActive: 8 } });
		folders.write("mulligan.config.json", { $import: "./other.json", shrink: { notifyMaxChars: 9 } });
		const config = await folders.load();
		expect([maxActive(config), config.warnings]).toEqual([32, []]);
	});

	test("a config of cosmiconfig itself, which neither runs nor steers the search", async () => {
		const ran = join(folders.root, "ran");
		folders.write(
			".config/config.cjs",
			`require("node:fs").writeFileSync(${JSON.stringify(ran)}, ""); module.exports = { cosmiconfig: { searchPlaces: ["evil.json"] } };`,
		);
		folders.write("package.json", { cosmiconfig: { searchPlaces: ["evil.json"] } });
		folders.write("evil.json", saying(8, "x.json"));
		folders.write("mulligan.config.json", saying(7, "x.json"));
		const before = process.cwd();
		process.chdir(folders.project);
		const config = await folders.load().finally(() => process.chdir(before));
		expect([maxActive(config), config.warnings, existsSync(ran)]).toEqual([7, [], false]);
	});
});

describe("code", () => {
	test("is prepared before it is loaded, and named where nobody approved it", async () => {
		const gate = openGateForAll();
		const file = folders.write("mulligan.config.ts", saying(7, "x.ts"));
		gate.load = async () => {
			throw new NotApproved("ask first");
		};
		const config = await folders.load({ gate });
		expect([gate.prepared, maxActive(config), textsOf(config)]).toEqual([[file], 32, ["ask first"]]);
		expect(statesOf(config)).toEqual([[file, "project", "unapproved"]]);
	});

	test("does not run where MULLIGAN_DISABLED is set, while data is read", async () => {
		const gate = openGateForAll();
		folders.write("mulligan.config.ts", saying(7, "x.ts"));
		folders.write(join(folders.agentDir, "mulligan.config.json"), { rewind: { maxDepth: 9 } });
		const { settings, warnings, sources } = await folders.load({ gate, env: { MULLIGAN_DISABLED: "1" } });
		expect([settings.enabled, warnings, gate.prepared, gate.loaded]).toEqual([false, [], [], []]);
		expect(settings.rewind).toMatchObject({ maxDepth: 9 });
		expect(sources.map(({ state }) => state)).toEqual(["absent", "read", "absent", "disabled", "read"]);
	});

	test("that exports something else than an object is one warning", async () => {
		const file = folders.write("mulligan.config.mjs", "export default () => ({});");
		expect(textsOf(await folders.load())).toEqual([
			expect.stringMatching(`the config in ${file} is \\[Function.*\\]; expected an object`),
		]);
	});
});

test("code that forgot its default export is one warning", async () => {
	const file = folders.write("mulligan.config.ts", "export const config = { shrink: { maxActive: 7 } };");
	expect(textsOf(await folders.load())).toEqual([
		`${file} exports nothing that mulligan knows (config); write "export default defineConfig({ … })".`,
	]);
});

test.each<[string, (folders: ConfigFolders) => Partial<ConfigOptions> | undefined]>([
	["with no file at all", () => undefined],
	[
		"with settings and a package.json that are silent",
		(at) => {
			at.write(".pi/settings.json", { theme: "dark" });
			at.write(join(at.agentDir, "settings.json"), {});
			at.write("package.json", { name: "mulligan" });
			return undefined;
		},
	],
	["in a project that is not trusted", () => ({ isProjectTrusted: false })],
	["in the home folder", (at) => ({ cwd: at.home })],
])("%s, what is found without reading is what reading would find", async (_where, prepare) => {
	const options = { ...prepare(folders) };
	const silent = await folders.load(options);
	const read = await readConfig({
		...{ agentDir: folders.agentDir, cwd: folders.project, home: folders.home, isProjectTrusted: true, env: {} },
		...{ builtIns: DEFAULT_PLUGINS, gate: openGateForAll(), isProjectApproved: () => false },
		...options,
	});
	expect(silent).toEqual(read);
});

describe("cosmiconfig", () => {
	test("is not imported where no config file is", async () => {
		folders.write("package.json", { name: "x" });
		folders.write(".pi/settings.json", { mulligan: { shrink: { maxActive: 7 } } });
		const config = await folders.load({
			cosmiconfig: () => Promise.reject(new Error("it was imported")),
		});
		expect([maxActive(config), config.warnings]).toEqual([7, []]);
	});

	test("where it cannot be imported is one warning, and Pi's settings count", async () => {
		folders.write(".pi/settings.json", { mulligan: { shrink: { maxActive: 7 } } });
		const file = folders.write("mulligan.config.json", saying(8, "x.json"));
		const config = await folders.load({
			cosmiconfig: () => Promise.reject(new Error("Cannot find module 'lines-and-columns'")),
		});
		expect([maxActive(config), textsOf(config)]).toEqual([
			7,
			[
				`cosmiconfig cannot be loaded here (Cannot find module 'lines-and-columns'), so ${file} is not read; Pi's settings still count.`,
			],
		]);
	});

	test("has the part that is used here", async () => {
		expect(await importCosmiconfig()).toHaveProperty("Explorer");
	});
});
