import { execFileSync } from "node:child_process";
import { existsSync, globSync, readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));
const read = (path: string) => readFileSync(join(root, path), "utf8");
const manifest = JSON.parse(read("package.json"));

const PI = "@earendil-works/";

interface Import {
	readonly file: string;
	/** A path in the repository, or the name of a package or built-in. */
	readonly target: string;
	/** `import type`, which is gone at run time. */
	readonly isType: boolean;
}

const imports = sources("{src,plugins}/**/*.ts").flatMap((file) => importsOf(file, read(file)));

describe("arrows", () => {
	test("imports are found in every form", () => {
		const text = [
			'import a, { type B } from "./a.ts";',
			"import {",
			"\tc,",
			'} from "pkg/sub";',
			'import type { D } from "@scope/pkg";',
			'export { e } from "node:fs";',
			'export type { F } from "../f.ts";',
			'import "./effect.ts";',
			'const g = await import("./g.ts");',
			'type H = typeof import("./h.ts");',
		];
		expect(importsOf("x/y/z.ts", text.join("\n")).map(({ target, isType }) => [target, isType])).toEqual([
			["x/y/a.ts", false],
			["pkg", false],
			["@scope/pkg", true],
			["node:fs", false],
			["x/f.ts", true],
			["x/y/effect.ts", false],
			["x/y/g.ts", false],
			["x/y/h.ts", true],
		]);
		expect(imports.length).toBeGreaterThan(100);
	});

	test("a plugin imports its own files, src/plugin.ts and declared dependencies, and no other plugin", () => {
		const isAllowed = ({ file, target }: Import) =>
			target === "src/plugin.ts" || target.startsWith(`plugins/${pluginOf(file)}/`) || isDependency(target);
		expect(broken({ from: "plugins/", isAllowed })).toEqual([]);
	});

	test("the kernel imports itself and declared dependencies, and of Pi at most types", () => {
		const isAllowed = ({ target, isType }: Import) =>
			target.startsWith("src/kernel/") || isDependency(target) || (isType && target.startsWith(PI));
		expect(broken({ from: "src/kernel/", isAllowed })).toEqual([]);
	});

	test("only src/pi, the entry and the test harness import Pi at run time", () => {
		const mayUsePi = (file: string) =>
			/^src\/(pi|testing)\//.test(file) || ["src/extension.ts", "src/index.ts"].includes(file);
		const isAllowed = ({ file, target, isType }: Import) => isType || !target.startsWith(PI) || mayUsePi(file);
		expect(broken({ from: "", isAllowed })).toEqual([]);
	});

	test("what runs in a user's Pi imports none of the test harness", () => {
		const isAllowed = ({ file, target }: Import) =>
			file.startsWith("src/testing/") || !/^(src\/testing|test|scripts)\//.test(target);
		expect(broken({ from: "", isAllowed })).toEqual([]);
	});
});

test("the lockfile names no registry", () => {
	expect(read("package-lock.json").match(/"resolved":|registry/g)).toBeNull();
});

test("no file names a path of the machine it was written on", ({ skip }) => {
	if (!existsSync(join(root, ".git"))) skip("this is no git repository");
	const machinePath = new RegExp(`/(${["work/main", "work/shared", "work/\\.library", "root"].join("|")})/`);
	const files = repositoryFiles().filter((path) => existsSync(join(root, path)));
	expect(files.filter((path) => machinePath.test(read(path)))).toEqual([]);
});

function sources(pattern: string): string[] {
	return globSync(pattern, { cwd: root }).filter((path) => !path.endsWith(".test.ts"));
}

/** Statements as the formatter writes them: each begins its line. */
function importsOf(file: string, text: string): Import[] {
	const statement = /^(?:import|export)\s+(type\s)?(?:[^;"']*?\sfrom\s+)?["']([^"']+)["']/gm;
	const expression = /(typeof\s+)?\bimport\(\s*["']([^"']+)["']\s*\)/g;
	return [...text.matchAll(statement), ...text.matchAll(expression)].map(([, type, specifier = ""]) => ({
		file,
		target: targetOf(file, specifier),
		isType: type !== undefined,
	}));
}

function targetOf(file: string, specifier: string): string {
	if (specifier.startsWith(".")) return relative(root, join(root, dirname(file), specifier));
	if (isBuiltin(specifier)) return specifier;
	return specifier
		.split("/")
		.slice(0, specifier.startsWith("@") ? 2 : 1)
		.join("/");
}

function pluginOf(file: string): string {
	return file.split("/")[1] ?? "";
}

function isDependency(target: string): boolean {
	const supplied = Object.keys(manifest.peerDependencies).filter((name) => !name.startsWith(PI));
	return isBuiltin(target) || target in manifest.dependencies || supplied.includes(target);
}

function broken({ from, isAllowed }: { from: string; isAllowed: (arrow: Import) => boolean }): string[] {
	const all = imports.filter(({ file }) => file.startsWith(from));
	return all.filter((arrow) => !isAllowed(arrow)).map(({ file, target }) => `${file} → ${target}`);
}

/** Tracked files, and new ones that git would track. */
function repositoryFiles(): string[] {
	const args = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
	return execFileSync("git", args, { cwd: root, encoding: "utf8" }).split("\0").filter(Boolean);
}
