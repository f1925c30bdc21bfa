import {
	chmodSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	rmSync,
	statSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Target } from "./target.ts";
import { textOf, write } from "./write.ts";

let folder: string;
beforeEach(() => {
	folder = mkdtempSync(join(tmpdir(), "mulligan-write-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const target = (name: string): Target => ({ file: join(folder, name), scope: "user", format: "json", at: [] });
const off = { path: ["enabled"], value: false };

test("a file is made with its folder", async () => {
	expect(await write(target("new/mulligan.config.json"), off)).toEqual({ done: "created" });
	expect(JSON.parse(readFileSync(join(folder, "new/mulligan.config.json"), "utf8"))).toMatchObject({ enabled: false });
});

test("a file is changed whole, keeps its mode, and nothing is left beside it", async () => {
	const file = join(folder, "m.json");
	writeFileSync(file, '{ "enabled": true }');
	chmodSync(file, 0o600);
	expect(await write(target("m.json"), off)).toEqual({ done: "changed" });
	expect(readFileSync(file, "utf8")).toBe('{ "enabled": false }');
	expect(statSync(file).mode & 0o777).toBe(0o600);
	expect(readdirSync(folder)).toEqual(["m.json"]);
});

test("a link stays a link", async () => {
	const real = join(folder, "real.json");
	writeFileSync(real, "{}");
	symlinkSync(real, join(folder, "m.json"));
	expect(await write(target("m.json"), off)).toEqual({ done: "changed" });
	expect(JSON.parse(readFileSync(real, "utf8"))).toEqual({ enabled: false });
});

test.each<[string, string, RegExp]>([
	["to another file", "../secret.json", /leads out of the project/],
	["to nothing", "../nothing.json", /ENOENT/],
])("a project's link that leads out of it, %s, is not followed", async (_what, to, problem) => {
	mkdirSync(join(folder, "shop"));
	writeFileSync(join(folder, "secret.json"), "{}");
	symlinkSync(to, join(folder, "shop/m.json"));
	expect(await write(target("shop/m.json"), off, join(folder, "shop"))).toEqual({
		done: "failed",
		problem: expect.stringMatching(problem),
	});
	expect(readFileSync(join(folder, "secret.json"), "utf8")).toBe("{}");
	expect(readdirSync(folder).sort()).toEqual(["secret.json", "shop"]);
});

test("a project's own file, and a link within it, is written", async () => {
	writeFileSync(join(folder, "real.json"), "{}");
	symlinkSync("real.json", join(folder, "m.json"));
	expect(await write(target("m.json"), off, folder)).toEqual({ done: "changed" });
	expect(await write(target("new.json"), off, folder)).toEqual({ done: "created" });
});

test("what says so already is not written", async () => {
	const file = join(folder, "m.json");
	writeFileSync(file, '{ "enabled": false }');
	chmodSync(file, 0o400);
	expect(await write(target("m.json"), off)).toEqual({ done: "unchanged" });
	expect(await write(target("none.json"), { path: ["enabled"], value: undefined })).toEqual({ done: "unchanged" });
	expect(readdirSync(folder)).toEqual(["m.json"]);
});

test.each<[string, () => void, RegExp]>([
	["can't be parsed", () => writeFileSync(join(folder, "m.json"), "{ nope"), /does not parse/],
	["is a folder", () => mkdirSync(join(folder, "m.json")), /EISDIR/],
])("a file that %s is left alone, and it is said why", async (_what, prepare, problem) => {
	prepare();
	const before = readdirSync(folder);
	expect(await write(target("m.json"), off)).toEqual({ done: "failed", problem: expect.stringMatching(problem) });
	expect(readdirSync(folder)).toEqual(before);
});

test("a folder that can't be made is a failure that says why", async () => {
	writeFileSync(join(folder, "file"), "");
	expect(await write(target("file/m.json"), off)).toMatchObject({
		done: "failed",
		problem: expect.stringMatching(/ENOTDIR|EEXIST/),
	});
});

test("the text of a file that is not there is undefined", async () => {
	expect(await textOf(join(folder, "none"))).toBeUndefined();
	await expect(textOf(folder)).rejects.toThrow("EISDIR");
});
