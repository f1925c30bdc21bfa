import { execFile } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ModelRequest, type PiVersion, piVersions, shape } from "../../src/testing/index.ts";
import { runPi } from "../support/cli.ts";
import { prepareLaunch } from "../support/launch.ts";

const repository = fileURLToPath(new URL("../..", import.meta.url));
const entry = join(repository, "src/index.ts");
const pinned = piVersions().filter(({ name }) => name === "oldest" || name === "newest");
const run = promisify(execFile);

const DEFAULT_TOOLS = ["mulligan_audit", "mulligan_cancel", "mulligan_rewind", "mulligan_shrink"];

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
	expect(modules).toEqual(["jsonc-parser", "pi-mulligan", "tapable", "unbash"]);
	const files = readdirSync(join(installed, "node_modules/pi-mulligan"), { recursive: true, encoding: "utf8" });
	expect(files.filter((file) => /\.test\.ts$|testing|^test/.test(file))).toEqual([]);
	expect(files).toContain("dist/extension.js");
});

/** Packs outside of the repository, whose bundle other tests would load while it is there. */
async function pack(): Promise<string> {
	for (const name of ["package.json", "README.md", "LICENSE", "CHANGELOG.md", "src", "plugins", "scripts"])
		cpSync(join(repository, name), join(packed, name), { recursive: true });
	symlinkSync(join(repository, "node_modules"), join(packed, "node_modules"));
	await run("npm", ["pack", "--pack-destination", installed], { cwd: packed });
	const tarball = readdirSync(installed).find((name) => name.endsWith(".tgz"));
	return join(installed, tarball ?? "no tarball");
}

/** Installs as Pi does, with the dependencies from here so that it needs no registry. */
async function installTarball(tarball: string): Promise<void> {
	const local = (name: string) => `file:${join(repository, "node_modules", name)}`;
	const overrides = { tapable: local("tapable"), unbash: local("unbash") };
	writeFileSync(join(installed, "package.json"), JSON.stringify({ private: true, overrides }));
	await run("npm", ["install", "--offline", "--no-audit", "--no-fund", tarball], { cwd: installed });
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
