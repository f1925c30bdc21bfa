import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Candidate, type GateOptions, NotApproved, openGate } from "./gate.ts";

let folder: string;
let warnings: string[];
let asked: (readonly Candidate[])[];
beforeEach(() => {
	folder = mkdtempSync(join(tmpdir(), "mulligan-gate-"));
	warnings = [];
	asked = [];
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const inProject = (path: string) => join(folder, "project", path);
function write(files: Readonly<Record<string, string>>): void {
	for (const [path, text] of Object.entries(files)) {
		mkdirSync(dirname(inProject(path)), { recursive: true });
		writeFileSync(inProject(path), text);
	}
}

const shared = { mark: Symbol("ours"), definePlugin: (plugin: object) => plugin };
const open = (more: Partial<GateOptions> & { readonly answer?: boolean } = {}) =>
	openGate({
		agentDir: join(folder, "agent"),
		projectRoot: join(folder, "project"),
		isProjectTrusted: true,
		savedDecision: null,
		approveAll: false,
		ask: async (candidates) => {
			asked.push(candidates);
			return more.answer ?? true;
		},
		virtualModules: { "pi-mulligan/plugin": shared },
		warn: ({ text }) => void warnings.push(text),
		...more,
	});
const paths = (candidates: readonly Candidate[] = []) => candidates.map(({ path }) => path).sort();

/** What one session makes of a config of the project. */
async function session(entry = "mulligan.config.ts", more: Parameters<typeof open>[0] = {}) {
	const gate = open(more);
	await gate.prepare([inProject(entry)]);
	const outcome = await gate.load(inProject(entry), "project").then(
		(value) => ({ value }),
		(error: Error) => ({ error }),
	);
	return { gate, ...outcome } as { gate: typeof gate; value?: unknown; error?: Error };
}

const CONFIG = { "mulligan.config.ts": "export default { ran: true as boolean };" };
const RAN = { ran: true };

describe("whose code runs", () => {
	test.each<[string, Partial<GateOptions>, boolean]>([
		["an untrusted project's does not", { isProjectTrusted: false, savedDecision: true, approveAll: true }, false],
		["one that the human told Pi not to trust does not", { savedDecision: false, approveAll: true }, false],
		["one that the human told Pi to trust for good does", { savedDecision: true, ask: undefined }, true],
		["one that nobody decided on does not where nobody can be asked", { ask: undefined }, false],
		["one that is approved by the flag does", { approveAll: true, ask: undefined }, true],
	])("%s", async (_what, options, runs) => {
		write(CONFIG);
		const { value, error } = await session("mulligan.config.ts", options);
		expect(value).toEqual(runs ? RAN : undefined);
		expect(error instanceof NotApproved).toBe(!runs);
		expect(asked).toEqual([]);
	});

	test("what the user's own config is or names runs, wherever it lies and whatever the project", async () => {
		write({ "named.ts": 'import { mark } from "pi-mulligan/plugin"; export default { mark };' });
		mkdirSync(join(folder, "agent"));
		const config = join(folder, "agent", "mulligan.config.ts");
		symlinkSync(inProject("named.ts"), config);
		for (const options of [{}, { isProjectTrusted: false }, { projectRoot: folder }, { savedDecision: false }]) {
			const gate = open({ ask: undefined, ...options });
			expect(await gate.load(inProject("named.ts"), "user")).toEqual({ mark: shared.mark });
			expect(await gate.load(config, "user")).toEqual({ mark: shared.mark });
		}
	});

	test("what the project names outside of itself does not", async () => {
		write(CONFIG);
		const gate = open({ projectRoot: join(folder, "project", "sub"), savedDecision: true });
		await expect(gate.load(inProject("mulligan.config.ts"), "project")).rejects.toThrow(
			"it lies outside of the project",
		);
	});

	test("a file of another user does not, even where all of the project is trusted, and nobody is asked", async ({
		skip,
	}) => {
		// This process is root's: for it every other user is another one.
		if (process.getuid?.() !== 0) skip("only root can give a file away");
		write({ "mulligan.config.ts": `import "./theirs.ts"; export default { ran: true };`, "theirs.ts": "export {};" });
		chownSync(inProject("theirs.ts"), 12345, 12345);
		for (const options of [{ savedDecision: true }, { approveAll: true }, {}]) {
			const { error } = await session("mulligan.config.ts", options);
			expect(error?.message).toContain("theirs.ts is not run: it belongs to another user");
		}
		expect(asked.map(paths)).toEqual([]);
	});
});

describe("the human", () => {
	test("is asked once for all that would run: the config, what it imports, and the plugins that it names", async () => {
		write({
			"mulligan.config.ts": `import { helper, plugins } from "./tools/helper"; export default { helper, plugins };`,
			"tools/helper.ts": `import data from "./data.json"; export const helper: number = data.seven; export const plugins = ["./plugins/mine.ts", "shrink"];`,
			"tools/data.json": `{ "seven": 7 }`,
			"plugins/mine.ts": `import "./deep/part.mjs"; export default { name: "mine" };`,
			"plugins/deep/part.mjs": "export {};",
			"unrelated.ts": "throw new Error('never');",
		});
		const { gate, value } = await session();
		expect(asked.map(paths)).toEqual([
			["mulligan.config.ts", "plugins/deep/part.mjs", "plugins/mine.ts", "tools/data.json", "tools/helper.ts"],
		]);
		expect(value).toEqual({ helper: 7, plugins: ["./plugins/mine.ts", "shrink"] });
		await gate.prepare([inProject("plugins/mine.ts")]);
		expect(await gate.load(inProject("plugins/mine.ts"), "project")).toEqual({ name: "mine" });
		expect(asked).toHaveLength(1);
	});

	test.each<[string, string, string]>([
		["without its extension", "./plugins/mine", "plugins/mine.ts"],
		["as a folder", "./plugins", "plugins/index.ts"],
		["as a package", "some-plugin", "node_modules/some-plugin/main.js"],
		["as a package with a scope", "@team/nudges", "node_modules/@team/nudges/index.js"],
		["as a part of a package", "some-plugin/part.js", "node_modules/some-plugin/part.js"],
		["as a package that only an import finds", "esm-plugin", "node_modules/esm-plugin/esm.mjs"],
	])("is asked in one go for a plugin that is named %s", async (_how, name, file) => {
		write({
			"mulligan.config.ts": `export default { plugins: ["...", ["${name}", { share: 0.5 }]] };`,
			"plugins/mine.ts": "export default {};",
			"plugins/index.ts": "export default {};",
			"node_modules/some-plugin/package.json": `{ "name": "some-plugin", "main": "main.js" }`,
			"node_modules/some-plugin/main.js": "module.exports = {};",
			"node_modules/some-plugin/part.js": "module.exports = {};",
			"node_modules/@team/nudges/index.js": "module.exports = {};",
			"node_modules/esm-plugin/package.json": `{ "name": "esm-plugin", "exports": { "import": "./esm.mjs" } }`,
			"node_modules/esm-plugin/esm.mjs": "export default {};",
		});
		const { gate } = await session();
		await gate.prepare([inProject(file)]);
		expect(asked.map(paths)).toEqual([["mulligan.config.ts", file].sort()]);
	});

	test("is not asked for packages that a config only speaks of", async () => {
		write({
			"mulligan.config.ts": `const text = "other"; export default { text, log: { file: "./notes/" } }; throw "other" + "fs";`,
			"node_modules/other/index.js": "module.exports = {};",
		});
		await session();
		expect(asked.map(paths)).toEqual([["mulligan.config.ts"]]);
	});

	test("is not asked again in later sessions, until a file changes: then for that one, and told so", async () => {
		write({ "mulligan.config.ts": `export { default } from "./part.ts";`, "part.ts": "export default 1;" });
		expect(await session()).toMatchObject({ value: 1 });
		expect(await session()).toMatchObject({ value: 1 });
		expect(asked).toHaveLength(1);
		write({ "part.ts": "export default 2;" });
		expect(await session("mulligan.config.ts", { answer: false })).toMatchObject({ error: expect.any(NotApproved) });
		expect(asked.at(-1)).toEqual([{ path: "part.ts", standing: "changed" }]);
		expect(await session("mulligan.config.ts", { ask: undefined })).toMatchObject({
			error: { message: expect.stringContaining("part.ts is not run: it has changed since it was approved") },
		});
		expect(await session()).toMatchObject({ value: 2 });
	});

	test("who says no has the files left out and can approve them later", async () => {
		write(CONFIG);
		const { gate, error } = await session("mulligan.config.ts", { answer: false });
		expect(error?.message).toBe(
			`${inProject("mulligan.config.ts")} is not run: nobody has approved it. Approve with /mulligan trust, or start Pi once with --mulligan-trust.`,
		);
		expect(gate.pending).toEqual([inProject("mulligan.config.ts")]);
		expect(await gate.approve()).toEqual({ files: [inProject("mulligan.config.ts")], isKept: true });
		expect(gate.pending).toEqual([]);
		expect(await session("mulligan.config.ts", { ask: undefined })).toMatchObject({ value: RAN });
	});

	test("who says no is not asked the same again in this session, only about what is new", async () => {
		const refused = new Set<string>();
		write({ "mulligan.config.ts": "export default 1;", "plugin.ts": "export default 2;" });
		const gate = open({ answer: false, refused });
		for (const file of ["mulligan.config.ts", "mulligan.config.ts", "plugin.ts"]) await gate.prepare([inProject(file)]);
		expect(asked.map(paths)).toEqual([["mulligan.config.ts"], ["plugin.ts"]]);
		expect(gate.pending).toEqual([inProject("mulligan.config.ts"), inProject("plugin.ts")]);
		expect(await session("mulligan.config.ts", { refused })).toMatchObject({ error: expect.any(NotApproved) });
		expect(asked).toHaveLength(2);
		write({ "mulligan.config.ts": "export default 3;" });
		expect(await session("mulligan.config.ts", { refused })).toMatchObject({ value: 3 });
		expect(await session("plugin.ts", { refused: new Set() })).toMatchObject({ value: 2 });
	});

	test("whose question fails has said no", async () => {
		write(CONFIG);
		const { gate, error } = await session("mulligan.config.ts", { ask: () => Promise.reject(new Error("gone")) });
		expect([gate.pending.length, error?.name]).toEqual([1, "NotApproved"]);
	});

	test("who wants all of it by the flag gets what is only found while it runs as well, and keeps it", async () => {
		write({
			"mulligan.config.ts": 'export default await import("./" + "hidden.mjs");',
			"hidden.mjs": "export const a = 1;",
		});
		expect(await session("mulligan.config.ts", { approveAll: true })).toMatchObject({ value: { a: 1 } });
		expect(await session("mulligan.config.ts", { ask: undefined })).toMatchObject({ value: { a: 1 } });
		write({ "hidden.mjs": "export const a = 2;" });
		expect(await session("mulligan.config.ts", { ask: undefined })).toMatchObject({ error: expect.any(NotApproved) });
	});

	test("is not asked about what is only a type, nor about code that comments name", async () => {
		write({
			"mulligan.config.ts":
				'import type { A } from "./types.ts"; import { part } from /* ours */ "./part.js"; export default part;',
			"types.ts": "export type A = 1;",
			"part.js": `import {\n\ta,\n} from\n"./a.js";\nexport const part = a + require("./b.cjs"); // never: import "./nowhere.js"`,
			"a.js": "export const a = 1;",
			"b.cjs": "module.exports = 2;",
		});
		expect(await session()).toMatchObject({ value: 3 });
		expect(asked.map(paths)).toEqual([["a.js", "b.cjs", "mulligan.config.ts", "part.js"]]);
	});

	test("is told by the load where nobody can be asked, and only by it", async () => {
		write(CONFIG);
		const { error } = await session("mulligan.config.ts", { ask: undefined });
		expect(error?.message).toContain("is not run: nobody has approved it. Approve with /mulligan trust");
		expect(warnings).toEqual([]);
	});

	test("has approved one project, not another with the same files", async () => {
		write(CONFIG);
		await session();
		mkdirSync(join(folder, "other"));
		writeFileSync(join(folder, "other", "mulligan.config.ts"), CONFIG["mulligan.config.ts"]);
		const gate = open({ projectRoot: join(folder, "other"), ask: undefined });
		await expect(gate.load(join(folder, "other", "mulligan.config.ts"), "project")).rejects.toThrow(NotApproved);
	});
});

describe("nothing gets past the check", () => {
	test("a file that changes between the question and the load is refused", async () => {
		write(CONFIG);
		const gate = open();
		await gate.prepare([inProject("mulligan.config.ts")]);
		write({ "mulligan.config.ts": "export default 'other';" });
		await expect(gate.load(inProject("mulligan.config.ts"), "project")).rejects.toThrow(
			"it has changed since it was approved",
		);
	});

	test.each<[string, string]>([
		["a computed import", 'export default await import("./" + "hidden.mjs");'],
		["a computed require", 'export default require(["./hid", "den.cjs"].join(""));'],
		["an absolute path", `export default await import(new URL("hidden" + ".mjs", import.meta.url).href);`],
	])("a file that is reached by %s is refused while nobody has approved it", async (_how, config) => {
		write({ "mulligan.config.ts": config, "hidden.mjs": "export default 1;", "hidden.cjs": "module.exports = 1;" });
		const { gate, error } = await session();
		expect(error?.message).toMatch(/hidden\.[cm]js is not run: nobody has approved it/);
		expect(gate.pending.map((file) => basename(file))).toEqual([expect.stringMatching(/^hidden/)]);
	});

	test.each<[string, string, Readonly<Record<string, string>>]>([
		["a folder's package.json", "./dir", { "dir/package.json": '{ "main": "hidden.js" }', "dir/hidden.js": "" }],
		[
			"a package for require alone",
			"dep",
			{
				"node_modules/dep/package.json": '{ "exports": { "require": "./hidden.cjs" } }',
				"node_modules/dep/hidden.cjs": "",
			},
		],
		[
			"the project's own imports",
			"#hidden",
			{ "package.json": '{ "imports": { "#hidden": "./hidden.mjs" } }', "hidden.mjs": "" },
		],
		["an unknown extension", "./hidden.weird", { "hidden.weird": "" }],
		["no extension", "./hidden", { hidden: "" }],
		["a name in percents", "./%68idden.mjs", { "hidden.mjs": "" }],
		["a query", "./hidden.mjs?again", { "hidden.mjs": "" }],
		["data", "./hidden.json", { "hidden.json": "{}" }],
		["a native addon", "./hidden", { "hidden.node": "" }],
		[
			"code outside of the project",
			"../outside.mjs",
			{ "../outside.mjs": 'import "./project/hidden.mjs";', "hidden.mjs": "" },
		],
	])("%s is no way around, by import and by require", async (_way, id, files) => {
		const computed = JSON.stringify([...id]);
		write({
			"a.config.mjs": `export default await import(${computed}.join(""));`,
			"b.config.cjs": `module.exports = require(${computed}.join(""));`,
			...files,
		});
		for (const entry of ["a.config.mjs", "b.config.cjs"]) {
			const { gate, error } = await session(entry);
			expect(error?.message).toMatch(/hidden.* is not run: nobody has approved it/);
			expect(gate.pending.map((file) => basename(file))).toEqual([expect.stringMatching(/^hidden/)]);
		}
	});

	test("a pipe is no file, and nobody waits for it", async () => {
		write({ "mulligan.config.cjs": 'module.exports = require(["./pi", "pe.cjs"].join(""));' });
		execFileSync("mkfifo", [inProject("pipe.cjs")]);
		expect((await session("mulligan.config.cjs")).error?.message).toBe(`${inProject("pipe.cjs")} is no file`);
	});

	test("a plain CommonJS file that an approved one requires is checked like any other", async () => {
		write({
			"mulligan.config.cjs": `module.exports = require("./part.cjs");`,
			"part.cjs": "module.exports = { n: 1 };",
		});
		expect(await session("mulligan.config.cjs")).toMatchObject({ value: { n: 1 } });
		write({ "part.cjs": "module.exports = { n: 2 };" });
		expect(await session("mulligan.config.cjs", { ask: undefined })).toMatchObject({
			error: { message: expect.stringContaining("part.cjs is not run: it has changed") },
		});
	});

	test("a package in the project's node_modules counts as the project's code", async () => {
		write({
			"mulligan.config.ts": 'import value from "dep"; export default value;',
			"node_modules/dep/package.json": '{ "name": "dep", "version": "1.0.0", "main": "index.js" }',
			"node_modules/dep/index.js": "module.exports = 'dep';",
		});
		expect(await session()).toMatchObject({ value: "dep" });
		expect(paths(asked[0])).toEqual(["mulligan.config.ts", "node_modules/dep/index.js"]);
		write({ "node_modules/dep/index.js": "module.exports = 'evil';" });
		expect(await session("mulligan.config.ts", { answer: false })).toMatchObject({ error: expect.any(NotApproved) });
	});

	test("a link that leads out of the project is approved by what it leads to", async () => {
		mkdirSync(inProject(""), { recursive: true });
		writeFileSync(join(folder, "elsewhere.ts"), "export default 1;");
		symlinkSync(join(folder, "elsewhere.ts"), inProject("mulligan.config.ts"));
		expect(await session()).toMatchObject({ value: 1 });
		expect(asked).toHaveLength(1);
		writeFileSync(join(folder, "elsewhere.ts"), "export default 2;");
		expect(await session("mulligan.config.ts", { answer: false })).toMatchObject({ error: expect.any(NotApproved) });
	});

	test("a project that is reached through a link is the same project", async () => {
		write(CONFIG);
		symlinkSync(inProject(""), join(folder, "link"));
		const through = async (root: string, file: string, more: Partial<GateOptions> = {}) => {
			const gate = open({ projectRoot: root, ...more });
			await gate.prepare([file]);
			return gate.load(file, "project");
		};
		expect(await through(join(folder, "link"), join(folder, "link", "mulligan.config.ts"))).toEqual(RAN);
		expect(await through(inProject(""), inProject("mulligan.config.ts"), { ask: undefined })).toEqual(RAN);
		expect(await through(inProject(""), join(folder, "link", "mulligan.config.ts"), { ask: undefined })).toEqual(RAN);
		expect(asked).toHaveLength(1);
	});
});

describe("approved code", () => {
	test.each<[string, Readonly<Record<string, string>>, unknown]>([
		["TypeScript with an enum", { "mulligan.config.ts": "enum A { X = 3 } export default A.X;" }, 3],
		["a top-level await", { "mulligan.config.ts": "const n = await Promise.resolve(4); export default n;" }, 4],
		[
			"our own modules, the same instance",
			{ "mulligan.config.ts": 'import { mark } from "pi-mulligan/plugin"; export default mark;' },
			shared.mark,
		],
		[
			"all of our module",
			{ "mulligan.config.ts": 'import * as api from "pi-mulligan/plugin"; export default api.mark;' },
			shared.mark,
		],
		[
			"built-in modules",
			{
				"mulligan.config.ts":
					'import { basename } from "node:path"; import fs from "fs"; export default basename("/a/b") + typeof fs.readFileSync;',
			},
			"bfunction",
		],
		[
			"where it is",
			{
				"mulligan.config.ts":
					'import { basename } from "node:path"; export default [basename(import.meta.dirname), import.meta.url.slice(-9), basename(__filename)];',
			},
			["project", "config.ts", "mulligan.config.ts"],
		],
		[
			"a file by its .js name",
			{ "mulligan.config.ts": 'import n from "./n.js"; export default n;', "n.ts": "export default 5;" },
			5,
		],
		[
			"CommonJS by default and by name",
			{
				"mulligan.config.ts": 'import whole, { n } from "./n.cjs"; export default [whole.n, n];',
				"n.cjs": "exports.n = 6;",
			},
			[6, 6],
		],
		[
			"a folder's index",
			{ "mulligan.config.ts": 'export { default } from "./n";', "n/index.ts": "export default 7;" },
			7,
		],
		["a byte order mark", { "mulligan.config.ts": "\uFEFFexport default 8;" }, 8],
		["named exports only", { "mulligan.config.ts": "export const a = 1;" }, expect.objectContaining({ a: 1 })],
		["a path that is asked for", { "mulligan.config.cjs": 'module.exports = require.resolve("node:fs");' }, "node:fs"],
		[
			"a dynamic import in CommonJS, beside types in comments",
			{
				"mulligan.config.cjs": `/** @type {import("./nowhere").T} */\nmodule.exports = { n: import("./n.mjs").then(({ n }) => n) };`,
				"n.mjs": "export const n = 1;",
			},
			{ n: expect.any(Promise) },
		],
		["a wait without an import", { "mulligan.config.js": "module.exports = await Promise.resolve(10);" }, 10],
		["a script's first line", { "mulligan.config.cjs": "#!/usr/bin/env node\nmodule.exports = 9;" }, 9],
		[
			"a circle",
			{
				"mulligan.config.ts": 'import { b } from "./b.ts"; export const a = () => "a"; export default b();',
				"b.ts": 'import { a } from "./mulligan.config.ts"; export const b = () => typeof a + "b";',
			},
			"functionb",
		],
		[
			"two files that import each other at once",
			{
				"mulligan.config.ts":
					'const [a, b] = await Promise.all([import("./a.ts"), import("./b.ts")]); export default [a.a, b.b];',
				"a.ts": 'import "./b.ts"; export const a = 1;',
				"b.ts": 'import "./a.ts"; export const b = 2;',
			},
			[1, 2],
		],
	])("may have %s", async (_what, files, expected) => {
		write(files);
		const { value, error } = await session(Object.keys(files)[0]);
		expect(error).toBeUndefined();
		expect(value).toEqual(expected);
	});

	test.each<[string, Readonly<Record<string, string>>]>([
		["CommonJS", { "part.cjs": "exports.half = 1; throw new Error('boom');" }],
		["an ES module", { "part.mjs": "export const half = 1; throw new Error('boom');" }],
		["broken code", { "part.mjs": "export const half = ; // boom" }],
		["broken data", { "part.json": "{ boom" }],
	])("that fails does so for everybody who imports it: %s", async (_kind, files) => {
		const [name = ""] = Object.keys(files);
		write({
			...files,
			"mulligan.config.ts": `
				const fails = async () => import("./${name}").then(() => "runs", (error) => error.message);
				export default [await fails(), await fails()];`,
		});
		const { value } = await session();
		const [first, second] = value as [string, string];
		expect([first, second]).toEqual([expect.stringMatching(/boom|Unexpected token|Expected property/), first]);
	});

	test("outside of the project is one instance too", async () => {
		write({
			"mulligan.config.ts":
				'import { a } from "./a.ts"; import { shared } from "../shared.ts"; export default a === shared;',
			"a.ts": 'export { shared as a } from "../shared.ts";',
			"../shared.ts": "export const shared = {};",
		});
		expect(await session()).toMatchObject({ value: true });
	});

	test("that is broken says where", async () => {
		write({ "mulligan.config.ts": "export default {\n  a: ,\n};" });
		const { error } = await session();
		expect(error?.message).toMatch(/mulligan\.config\.ts:2:\d+: /);
	});

	test("that throws says what it threw", async () => {
		write({ "mulligan.config.ts": 'throw new Error("no disk");' });
		expect((await session()).error?.message).toBe("no disk");
	});

	test("that imports what does not exist says so", async () => {
		write({ "mulligan.config.ts": 'import "./nowhere.ts";' });
		expect((await session()).error?.message).toContain("./nowhere.ts");
	});
});

test.skipIf(process.getuid?.() === 0)("a file that can't be read says so", async () => {
	write(CONFIG);
	chmodSync(inProject("mulligan.config.ts"), 0);
	expect((await session()).error?.message).toContain("EACCES");
});
