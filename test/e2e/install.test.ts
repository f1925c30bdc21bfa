import { execFile } from "node:child_process";
import {
	cpSync,
	existsSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	rmSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type ModelRequest, type PiVersion, piVersions, shape } from "../../src/testing/index.ts";
import { runPi } from "../support/cli.ts";
import { prepareLaunch } from "../support/launch.ts";

const repository = fileURLToPath(new URL("../..", import.meta.url));
const entry = join(repository, "src/index.ts");
const pinned = piVersions().filter(({ name }) => name === "oldest" || name === "newest");
const run = promisify(execFile);

const DEFAULT_TOOLS = ["mulligan_audit", "mulligan_cancel", "mulligan_rewind", "mulligan_shrink"];
/** Dependencies of the package; their own ones come with the folders that they are linked to. */
const needed = Object.keys(JSON.parse(readFileSync(join(repository, "package.json"), "utf8")).dependencies);

/** A user's folders, which a way to load the extension prepares; what it returns are arguments of the program. */
interface User {
	readonly pi: PiVersion;
	readonly agentDir: string;
	readonly cwd: string;
}
type Way = readonly [name: string, prepare: (user: User) => readonly string[] | Promise<readonly string[]>];

const ways: readonly Way[] = [
	[
		"pi install <folder>, then plain pi",
		async (user) => {
			const { command, args, env, remove } = prepareLaunch({ ...user, extensions: [] }, []);
			await run(command, [args[0] ?? "", "install", repository], { cwd: user.cwd, env }).finally(remove);
			return [];
		},
	],
	["pi -e <folder>", () => ["-e", repository]],
	["pi -e <folder>/src/index.ts", () => ["-e", entry]],
	["a link to the folder among the user's extensions", ({ agentDir }) => link(repository, agentDir, "mulligan")],
	[
		"a link to the folder among the project's extensions",
		({ cwd }) => [...link(repository, join(cwd, ".pi"), "mulligan"), "--approve"],
	],
	["the packed tarball, installed as npm:pi-mulligan", ({ agentDir }) => useInstalled(agentDir)],
	["a link to the entry among the user's extensions", ({ agentDir }) => link(entry, agentDir, "mulligan.ts")],
	[
		"a link to the entry among the project's extensions",
		({ cwd }) => [...link(entry, join(cwd, ".pi"), "mulligan.ts"), "--approve"],
	],
];

/** A copy of the repository in which the package was packed, and a folder in which it was installed. */
let packed: string;
let installed: string;

beforeAll(async () => {
	packed = mkdtempSync(join(tmpdir(), "mulligan-packed-"));
	installed = mkdtempSync(join(tmpdir(), "mulligan-installed-"));
	await installTarball(await pack());
});
afterAll(() => {
	for (const folder of [packed, installed]) rmSync(folder, { recursive: true, force: true });
});

describe.each(pinned)("pi $version loads mulligan once by", (pi) => {
	test.concurrent.for(ways)("%s", async ([, prepare], { onTestFinished }) => {
		const folder = mkdtempSync(join(tmpdir(), "mulligan-user-"));
		onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
		const user = { pi, agentDir: join(folder, "agent"), cwd: join(folder, "project") };
		for (const path of [user.agentDir, user.cwd]) mkdirSync(path);
		const args = await prepare(user);
		using result = await runPi({ ...user, extensions: [], args, script: ["done"], prompt: "hi" });
		expect([result.code, result.stdout, result.stderr]).toEqual([0, "done\n", ""]);
		expect(result.requests.map(({ messages }) => shape(messages))).toEqual([["user: hi"]]);
		expect(result.requests.map(mulliganTools)).toEqual([DEFAULT_TOOLS]);
	});
});

test("packing leaves no bundle in the work tree", () => {
	expect(existsSync(join(packed, "dist"))).toBe(false);
});

test("an installed package carries its bundle, no tests and no Pi", () => {
	const modules = readdirSync(join(installed, "node_modules")).filter((name) => !name.startsWith("."));
	expect(modules).toEqual([...needed, "pi-mulligan"].sort());
	const files = readdirSync(join(installed, "node_modules/pi-mulligan"), { recursive: true, encoding: "utf8" });
	expect(files.filter((file) => /\.test\.ts$|^src\/testing|^test/.test(file))).toEqual([]);
	expect(files).toContain("dist/extension.js");
});

describe.each(pinned)("with pi $version the packed package", (pi) => {
	test("reads code, YAML and JSON, checks passports, finds packages and hints at slips", async ({ onTestFinished }) => {
		const folder = mkdtempSync(join(tmpdir(), "mulligan-user-"));
		onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
		const user = { pi, agentDir: join(folder, "agent"), cwd: join(folder, "project") };
		useInstalled(user.agentDir);
		cpSync(join(installed, "node_modules/jiti"), join(user.agentDir, "npm/node_modules/jiti"), {
			recursive: true,
			dereference: true,
		});
		const files = {
			"agent/mulligan.config.ts": `import { definePlugin } from "pi-mulligan/plugin";
import Type from "typebox";
const mine = definePlugin({ name: "mine", mulligan: "^2", options: Type.Object({ line: Type.String() }), setup({ hooks, options }) {
	hooks.onView.tap("mine", (view) => view.annotate(options.line));
} });
export default { plugins: ["rewind", [mine, { line: "FROM CODE" }], "theirs", "./old.mjs"] };`,
			"agent/old.mjs": 'export default { name: "old", mulligan: "^1", setup() {} };',
			"agent/node_modules/theirs/package.json": '{ "type": "module", "exports": { "import": "./index.js" } }',
			"agent/node_modules/theirs/index.js":
				'export default { name: "theirs", setup({ hooks }) { hooks.onView.tap("theirs", (view) => view.annotate("FROM A PACKAGE")); } };',
			"project/.mulliganrc": "rewind: { maxDept: 3 }\nmine: { line: 4 }\n",
		};
		for (const [path, text] of Object.entries(files)) {
			mkdirSync(dirname(join(folder, path)), { recursive: true });
			writeFileSync(join(folder, path), text);
		}
		using result = await runPi({ ...user, extensions: [], script: ["done"], prompt: "hi" });
		expect([result.code, result.stdout]).toEqual([0, "done\n"]);
		expect(result.requests.map(mulliganTools)).toEqual([["mulligan_rewind"]]);
		const sent = JSON.stringify(result.requests[0]?.messages);
		expect(["FROM CODE", "FROM A PACKAGE"].filter((line) => !sent.includes(line))).toEqual([]);
		expect(result.stderr.trim().split("\n")).toEqual([
			expect.stringMatching(
				/the plugin "\.\/old\.mjs" of plugins\[3\] in .* is left out: it is for mulligan \^1, and this is /,
			),
			expect.stringMatching(/mine\.line in .*\.mulliganrc:2:9 is 4; expected a string/),
			expect.stringMatching(
				/rewind\.maxDept in .*\.mulliganrc:1:11 is not known and ignored; did you mean "maxDepth"\?/,
			),
		]);
	});
});

test.each(pinned)("with pi $version the packed package keeps what was approved", async (pi) => {
	const folder = mkdtempSync(join(tmpdir(), "mulligan-user-"));
	onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
	const user = { pi, agentDir: join(folder, "agent"), cwd: join(folder, "project") };
	useInstalled(user.agentDir);
	cpSync(join(installed, "node_modules/jiti"), join(user.agentDir, "npm/node_modules/jiti"), {
		recursive: true,
		dereference: true,
	});
	mkdirSync(user.cwd);
	writeFileSync(join(user.cwd, "mulligan.config.ts"), 'export default { plugins: ["rewind"] };');
	const args = ["--approve", "--mulligan-trust"];
	using result = await runPi({ ...user, args, extensions: [], script: ["done"], prompt: "hi" });
	expect([result.code, result.stderr]).toEqual([0, ""]);
	expect(result.requests.map(mulliganTools)).toEqual([["mulligan_rewind"]]);
	const store = JSON.parse(readFileSync(join(user.agentDir, "mulligan/approvals.json"), "utf8"));
	expect(Object.values(store.projects)).toEqual([{ "mulligan.config.ts": expect.stringMatching(/^[0-9a-f]{64}$/) }]);
});

test("a config has its types in an editor with nothing installed in the project", async ({ onTestFinished }) => {
	const folder = mkdtempSync(join(tmpdir(), "mulligan-editor-"));
	onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
	const paths = { "pi-mulligan/*": [join(installed, "node_modules/pi-mulligan/dist/types/src/*")] };
	const options = {
		noEmit: true,
		strict: true,
		skipLibCheck: true,
		target: "es2024",
		module: "nodenext",
		types: [],
		paths,
	};
	writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions: options }));
	const config = [
		'import { defineConfig, definePlugin } from "pi-mulligan/plugin";',
		'definePlugin({ name: "mine", setup: ({ hooks }) => hooks.onView.tap("mine", (view) => view.annotat("x")) });',
		'export default defineConfig({ rewind: { maxDepth: "5" },',
		'	audit: { estimateConfidence: "sure" },',
		"	nudges: { bloatThresholdBytesByTool: { bash: 8192 }, highWaterFraction: 0.5 },",
		"	shrink: { maxActiv: 5 } });",
	];
	writeFileSync(join(folder, "mulligan.config.ts"), config.join("\n"));
	const tsc = join(repository, "node_modules/.bin/tsc");
	const { stdout } = await run(tsc, ["-p", folder], { cwd: folder }).catch((error: { stdout: string }) => error);
	expect(stdout.match(/mulligan\.config\.ts\(\d/g)).toEqual([2, 3, 4, 6].map((line) => `mulligan.config.ts(${line}`));
});

/** A folder of a plugin's author, who has installed the package, this Pi, and what the tests run with. */
function authorsFolder(pi: PiVersion): string {
	const folder = mkdtempSync(join(tmpdir(), "mulligan-author-"));
	const modules = join(folder, "node_modules");
	mkdirSync(join(modules, "@earendil-works"), { recursive: true });
	cpSync(join(installed, "node_modules/pi-mulligan"), join(modules, "pi-mulligan"), { recursive: true });
	for (const name of needed) symlinkSync(join(repository, "node_modules", name), join(modules, name));
	symlinkSync(pi.root, join(modules, "@earendil-works/pi-coding-agent"));
	for (const name of ["typebox", "vitest", "@types"])
		symlinkSync(join(repository, "node_modules", name), join(modules, name));
	return folder;
}

describe.each(pinned)("with pi $version an author of plugins", (pi) => {
	test("imports the doors in plain Node, has types, and tests a plugin on the Pi that is installed", async ({
		onTestFinished,
	}) => {
		const folder = authorsFolder(pi);
		onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
		const files = {
			"package.json": '{ "type": "module" }',
			"greps.ts": `import { defineNudge, Type } from "pi-mulligan/plugin";
export default defineNudge({
	name: "greps",
	options: Type.Object({ most: Type.Number({ default: 2 }) }),
	when: (view) => view.calls("grep").length > view.options.most,
	say: "MANY GREPS",
});
`,
			"mulligan.config.ts": `import { defineConfig } from "pi-mulligan/plugin";
import greps from "./greps.ts";
export default defineConfig({ plugins: ["...", [greps, { most: 3 }]], nudges: { driftWindowTurns: 2 } });
`,
			"greps.test.ts": `import { expect, test } from "vitest";
import { checkPlugin, openSession, piVersions, pluginTable } from "pi-mulligan/testing";
import config from "./mulligan.config.ts";
import greps from "./greps.ts";
const grep = (id: string) => ({ calls: [{ id, name: "grep", args: {} }] });
const tools = { grep: () => "a.ts" };
const valid = [{ name: "two", tools, prompts: [["go", grep("a"), grep("b"), "done"]] }] as const;
const fires = [{ name: "three", tools, prompts: [["go", grep("a"), grep("b"), grep("c"), "done"]], says: "MANY" }] as const;
test.each(pluginTable(greps, { valid, fires }))("$name", ({ run }) => run());
test("rules", () => checkPlugin(greps));
test("config", async () => {
	expect(piVersions().map(({ version }) => version)).toEqual([${JSON.stringify(pi.version)}]);
	await using session = await openSession({ config, tools });
	session.script(grep("a"), grep("b"), grep("c"), grep("d"), "done");
	await session.prompt("go");
	expect(JSON.stringify(session.requests[3]?.messages)).not.toContain("MANY GREPS");
	expect(JSON.stringify(session.lastRequest.messages)).toContain("MANY GREPS");
});
`,
			"wrong.ts": `import { defineConfig, defineNudge } from "pi-mulligan/plugin";
export const a = defineConfig({ rewind: { maxDepth: "5" } });
export const b = defineNudge({ name: "x", when: () => 5, say: "x" });
`,
		};
		for (const [path, text] of Object.entries(files)) writeFileSync(join(folder, path), text);
		const bin = (name: string) => join(repository, "node_modules/.bin", name);
		const options = { cwd: folder, env: { ...process.env, VITEST: undefined } };

		const names =
			'console.log((await Promise.all(["plugin", "testing"].map((d) => import("pi-mulligan/" + d)))).map((d) => Object.keys(d).length > 5).join())';
		const { stdout } = await run(process.execPath, ["--input-type=module", "-e", names], options);
		expect(stdout.trim()).toBe("true,true");

		for (const [module, moduleResolution] of [
			["nodenext", "nodenext"],
			["esnext", "bundler"],
		]) {
			const flags = [
				"--noEmit",
				"--strict",
				"--skipLibCheck",
				"--allowImportingTsExtensions",
				"--target",
				"es2024",
				"--types",
				"node",
			];
			const args = [...flags, "--module", module as string, "--moduleResolution", moduleResolution as string];
			await run(bin("tsc"), [...args, "greps.test.ts"], options);
			const wrong = await run(bin("tsc"), [...args, "wrong.ts"], options).catch((error: { stdout: string }) => error);
			expect(wrong.stdout.match(/wrong\.ts\(\d/g)).toEqual(["wrong.ts(2", "wrong.ts(3"]);
		}

		const tested = await run(bin("vitest"), ["run", "--root", folder], options).catch(
			(error: { stdout: string }) => error,
		);
		expect(tested.stdout).toMatch(/Tests .*4 passed/);
	});
});

/** Packs outside of the repository, whose bundle other tests would load while it is there. */
async function pack(): Promise<string> {
	for (const name of [
		"package.json",
		"README.md",
		"LICENSE",
		"CHANGELOG.md",
		"src",
		"plugins",
		"schema",
		"scripts",
		"spec",
		"tsconfig.json",
	])
		cpSync(join(repository, name), join(packed, name), { recursive: true });
	symlinkSync(join(repository, "node_modules"), join(packed, "node_modules"));
	await run("npm", ["pack", "--pack-destination", installed], { cwd: packed });
	const tarball = readdirSync(installed).find((name) => name.endsWith(".tgz"));
	return join(installed, tarball ?? "no tarball");
}

/** Installs as Pi does, with the dependencies from here so that it needs no registry. */
async function installTarball(tarball: string): Promise<void> {
	const overrides = Object.fromEntries(needed.map((name) => [name, `file:${join(repository, "node_modules", name)}`]));
	writeFileSync(join(installed, "package.json"), JSON.stringify({ private: true, overrides }));
	// A folder, unlike what a registry serves, would be prepared as its authors do.
	const args = ["install", "--offline", "--ignore-scripts", "--no-audit", "--no-fund", tarball];
	await run("npm", args, { cwd: installed });
}

/** The package where Pi has those it installed from npm, without the sources and dependencies, so that only the bundle can run. */
function useInstalled(agentDir: string): string[] {
	const folder = join(agentDir, "npm/node_modules/pi-mulligan");
	cpSync(join(installed, "node_modules/pi-mulligan"), folder, { recursive: true });
	for (const path of ["plugins", "src/extension.ts", "src/kernel"]) rmSync(join(folder, path), { recursive: true });
	writeFileSync(join(agentDir, "settings.json"), JSON.stringify({ packages: ["npm:pi-mulligan"] }));
	return [];
}

function link(target: string, folder: string, name: string): string[] {
	mkdirSync(join(folder, "extensions"), { recursive: true });
	symlinkSync(target, join(folder, "extensions", name));
	return [];
}

function mulliganTools({ tools }: ModelRequest): string[] {
	return tools
		.map(({ name }) => name)
		.filter((name) => name.startsWith("mulligan_"))
		.sort();
}
