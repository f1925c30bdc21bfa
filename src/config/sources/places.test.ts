import { posix, win32 } from "node:path";
import { expect, test } from "vitest";
import { isInside } from "./places.ts";

test.each([
	["C:\\p", "C:\\p\\a.ts", true],
	["C:\\p", "C:\\p", true],
	["C:\\p", "c:\\P\\A.TS", true],
	["c:\\p\\", "C:/p/sub/a.ts", true],
	["C:\\p", "C:\\p\\..a.ts", true],
	["C:\\", "C:\\p\\a.ts", true],
	["C:\\p", "C:\\p2\\a.ts", false],
	["C:\\p", "C:\\a.ts", false],
	["C:\\p", "C:\\p\\..\\a.ts", false],
	["C:\\p", "D:\\p\\a.ts", false],
	["C:\\p", "\\\\server\\share\\p\\a.ts", false],
	["\\\\server\\share\\p", "\\\\SERVER\\share\\p\\a.ts", true],
	["\\\\server\\share\\p", "\\\\server\\other\\p\\a.ts", false],
])("on Windows, in %s lies %s: %s", (folder, path, is) => {
	expect(isInside(path, folder, win32)).toBe(is);
});

test.each([
	["/p", "/p/a.ts", true],
	["/p", "/p", true],
	["/p/", "/p/..a.ts", true],
	["/", "/p", true],
	["/p", "/P/a.ts", false],
	["/p", "/p2/a.ts", false],
	["/p", "/p/../a.ts", false],
	["/p", "/p/\\..\\..\\a.ts", true],
])("elsewhere, in %s lies %s: %s", (folder, path, is) => {
	expect(isInside(path, folder, posix)).toBe(is);
});
