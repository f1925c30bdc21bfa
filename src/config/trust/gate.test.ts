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
	const outcome = await gate.load(inProject(entry)).then(
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

	test("the user's own runs, whatever the project", async () => {
		const file = join(folder, "agent", "mulligan.config.ts");
		mkdirSync(dirname(file));
		writeFileSync(file, 'import { mark } from "pi-mulligan/plugin"; export default { mark };');
		const gate = open({ isProjectTrusted: false, ask: undefined });
		await gate.prepare([file]);
		expect(await gate.load(file)).toEqual({ mark: shared.mark });
	});

	test("a file of another user does not, even where all of the project is trusted", async ({ skip }) => {
		if (process.getuid?.() !== 0) skip("only root can give a file away");
		write(CONFIG);
		chownSync(inProject("mulligan.config.ts"), 12345, 12345);
		const { error } = await session("mulligan.config.ts", { savedDecision: true });
		// This process is root's: for it every other user is another one.
		expect(error?.message).toContain("it belongs to another user");
	});
});

describe("the human", () => {
	test("is asked once for all that would run: the config, what it imports, and the plugins that it names", async () => {
		write({
			"mulligan.config.ts": `import { helper } from "./tools/helper"; export default { helper, plugins: ["./plugins/mine.ts", "shrink"] };`,
			"tools/helper.ts": `import data from "./data.json"; export const helper: number = data.seven;`,
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
		expect(await gate.load(inProject("plugins/mine.ts"))).toEqual({ name: "mine" });
		expect(asked).toHaveLength(1);
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
		expect(await gate.approve()).toEqual([inProject("mulligan.config.ts")]);
		expect(gate.pending).toEqual([]);
		expect(await session("mulligan.config.ts", { ask: undefined })).toMatchObject({ value: RAN });
	});

	test("is warned where nobody can be asked", async () => {
		write(CONFIG);
		await session("mulligan.config.ts", { ask: undefined });
		expect(warnings).toEqual([
			"mulligan.config.ts is not run: nobody has approved it. Approve with /mulligan trust, or start Pi once with --mulligan-trust.",
		]);
	});

	test("has approved one project, not another with the same files", async () => {
		write(CONFIG);
		await session();
		mkdirSync(join(folder, "other"));
		writeFileSync(join(folder, "other", "mulligan.config.ts"), CONFIG["mulligan.config.ts"]);
		const gate = open({ projectRoot: join(folder, "other"), ask: undefined });
		await expect(gate.load(join(folder, "other", "mulligan.config.ts"))).rejects.toThrow(NotApproved);
	});
});

describe("nothing gets past the check", () => {
	test("a file that changes between the question and the load is refused", async () => {
		write(CONFIG);
		const gate = open();
		await gate.prepare([inProject("mulligan.config.ts")]);
		write({ "mulligan.config.ts": "export default 'other';" });
		await expect(gate.load(inProject("mulligan.config.ts"))).rejects.toThrow("it has changed since it was approved");
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
			return gate.load(file);
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
		const { value, error } = await session();
		expect(error).toBeUndefined();
		expect(value).toEqual(expected);
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
