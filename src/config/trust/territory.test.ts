import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Territory } from "./territory.ts";

let folder: string;
beforeEach(() => {
	folder = realpathSync(mkdtempSync(join(tmpdir(), "mulligan-territory-")));
	for (const file of ["project/sub/a.ts", "elsewhere/b.ts", "project2/c.ts"]) {
		mkdirSync(dirname(join(folder, file)), { recursive: true });
		writeFileSync(join(folder, file), "");
	}
	symlinkSync(join(folder, "project"), join(folder, "link"));
	symlinkSync(join(folder, "elsewhere"), join(folder, "project/out"));
	symlinkSync(join(folder, "project/sub"), join(folder, "elsewhere/in"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test.each([
	["project/sub/a.ts", "project/sub/a.ts"],
	["project/sub/../sub/a.ts", "project/sub/a.ts"],
	["link/sub/a.ts", "project/sub/a.ts"],
	["elsewhere/in/a.ts", "project/sub/a.ts"],
	["project/out/b.ts", "project/out/b.ts"],
	["link/out/b.ts", "project/out/b.ts"],
	["project/not-there.ts", "project/not-there.ts"],
	["elsewhere/in/not-there.ts", "project/sub/not-there.ts"],
	["elsewhere/b.ts", undefined],
	["project2/c.ts", undefined],
	["project/../elsewhere/b.ts", undefined],
])("%s is the project's %s, whichever way the project is named", (path, name) => {
	for (const project of ["project", "link"])
		expect(new Territory(join(folder, project)).own(join(folder, path))).toBe(name && join(folder, name));
});
