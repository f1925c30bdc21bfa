import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { otherExtensions } from "./extensions.ts";

let folder: string;
beforeEach(() => {
	folder = mkdtempSync(join(tmpdir(), "mulligan-extensions-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const path = (name: string) => join(folder, name);
const file = (name: string, text: string) => {
	mkdirSync(dirname(path(name)), { recursive: true });
	writeFileSync(path(name), text);
	return path(name);
};

/** Pi as it lists the tools and commands of extensions. */
function pi(tools: readonly [string, string][], commands: readonly [string, string][] = []) {
	return {
		getAllTools: () =>
			tools.map(([name, from]) => ({
				name,
				sourceInfo: { path: from, source: from.startsWith("<builtin") ? "builtin" : "local" },
			})),
		getCommands: () => commands.map(([name, from]) => ({ name, source: "extension", sourceInfo: { path: from } })),
	} as unknown as Parameters<typeof otherExtensions>[0];
}
const found = (api: ReturnType<typeof pi>, more: Partial<Parameters<typeof otherExtensions>[1]> = {}) =>
	otherExtensions(api, { folders: [], args: [], cwd: folder, ...more });

describe("another extension is found", () => {
	test("by its tools and commands, with the events that its file names", () => {
		const a = file("a.ts", `pi.on("context", run); pi.on('session_before_compact', run); pi.on("context", again)`);
		const tools: [string, string][] = [
			["read", "<builtin:read>"],
			["one", a],
			["two", a],
		];
		expect(found(pi(tools, [["cmd", a]]))).toEqual([
			{ path: a, knownBy: ["2 tools", "1 command"], handles: ["context", "session_before_compact"] },
		]);
	});

	test("in an extensions folder, as a file or a folder with an index", () => {
		const a = file("agent/extensions/a.ts", "pi.on(`context_with_system`, run)");
		const b = file("agent/extensions/b/index.js", "return { type: 'context_edit' }");
		file("agent/extensions/readme.md", "");
		file("agent/extensions/empty/other.md", "");
		expect(found(pi([]), { folders: [path("agent"), path("nowhere")] })).toEqual([
			{ path: a, knownBy: ["extensions folder"], handles: ["context_with_system"] },
			{ path: b, knownBy: ["extensions folder"], handles: ["context_edit"] },
		]);
	});

	test("on the command line", () => {
		const a = file("a.ts", "no events");
		expect(found(pi([]), { args: ["node", "pi", "-e", "a.ts", "-p", "hi"] })).toEqual([
			{ path: a, knownBy: ["-e"], handles: [] },
		]);
	});

	test("as a package of Pi's settings", () => {
		file(
			"agent/settings.json",
			'{ "packages": ["npm:one", { "source": "git:two" }, 3, "npm:pi-mulligan@2", "../pi-mulligan"] }',
		);
		expect(found(pi([]), { folders: [path("agent")] }).map(({ path, handles }) => [path, handles])).toEqual([
			["npm:one", undefined],
			["git:two", undefined],
		]);
	});

	test("once, however it is found", () => {
		const a = file("agent/extensions/a.ts", "");
		expect(found(pi([["one", a]]), { folders: [path("agent")] })).toEqual([
			{ path: a, knownBy: ["1 tool", "extensions folder"], handles: [] },
		]);
	});
});

test("mulligan itself is none, nor the package or folder that it lies in", () => {
	const own = file("agent/extensions/pi-mulligan/src/index.ts", `pi.on("context", run)`);
	file("agent/extensions/pi-mulligan/index.ts", "");
	const api = pi([["mulligan_rewind", own]], [["mulligan", own]]);
	const args = ["-e", path("agent/extensions/pi-mulligan"), "-e", own];
	expect(found(api, { args })).toEqual([]);
});

test("settings that can't be read are passed over", () => {
	file("agent/settings.json", "{ nope");
	expect(found(pi([]), { folders: [path("agent")] })).toEqual([]);
});
