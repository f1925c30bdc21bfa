import { expect, test } from "vitest";
import { isPath } from "./locate.ts";

test.each([
	["./mine.ts", true],
	["../mine", true],
	[".", true],
	["..", true],
	["/home/me/mine.ts", true],
	[".\\mine.ts", true],
	["C:\\mine.ts", true],
	["C:/mine.ts", true],
	["\\\\server\\mine.ts", true],
	["mine", false],
	["mine.ts", false],
	["@team/mine", false],
	["mine/sub.ts", false],
	["...", false],
	[".hidden", false],
])("%s is a path: %s", (text, is) => {
	expect(isPath(text)).toBe(is);
});
