import { describe, expect, test } from "vitest";
import { counted, cut, figure, plain, table, wrapped } from "./layout.ts";

describe("wrapped text", () => {
	test.each<[string, string, number, string, readonly string[]]>([
		["stays whole where it fits", "one two", 20, "", ["one two"]],
		["breaks between words", "aaaaaaaaaa bbbbbbbbbb cc", 20, "", ["aaaaaaaaaa", "bbbbbbbbbb cc"]],
		["indents all but the first line", "aaaaaaaaaa bbbbbbbbbb", 20, "  ", ["aaaaaaaaaa", "  bbbbbbbbbb"]],
		["breaks a word that is too long", "x".repeat(45), 20, "", ["x".repeat(20), "x".repeat(20), "x".repeat(5)]],
		["is one empty line where it is empty", "", 20, "", [""]],
		["has at least twenty columns", "aaaaaaaaaa bbbbbbbbb", 3, "", ["aaaaaaaaaa bbbbbbbbb"]],
	])("%s", (_what, text, width, indent, expected) => {
		expect(wrapped(text, width, indent)).toEqual(expected);
	});
});

describe("a table", () => {
	test("aligns its columns and wraps the last within itself", () => {
		expect(
			table(
				[
					["a", "one two three four five"],
					["long", "x"],
				],
				30,
			),
		).toEqual(["  a     one two three four", "        five", "  long  x"].map((line) => line.trimEnd()));
	});

	test("puts cells after each other where the last column would get too narrow", () => {
		expect(table([["a name of some length", "its text"]], 30)).toEqual(["  a name of some length  its", "    text"]);
	});

	test("of nothing is nothing", () => {
		expect(table([], 80)).toEqual([]);
	});

	test.each([40, 80, 120])("keeps to %i columns", (width) => {
		const rows = [
			["name", "state", "word ".repeat(60).trim()],
			["another name", "x".repeat(200)],
		];
		expect(Math.max(...table(rows, width).map((line) => line.length))).toBeLessThanOrEqual(width);
	});
});

describe("small texts", () => {
	test("plain takes out what a terminal would obey", () => {
		expect(plain("a\u001b[31mred\nnext\u0007 ")).toBe("a [31mred next");
	});

	test.each([
		["abc", 3, "abc"],
		["abcd", 3, "ab…"],
		["😀😀😀", 2, "😀…"],
	])("cut %s to %i", (text, length, expected) => {
		expect(cut(text, length)).toBe(expected);
	});

	test.each<[number, string]>([
		[0, "0 messages"],
		[1, "1 message"],
		[1234, "1,234 messages"],
	])("counted %i", (count, expected) => {
		expect(counted(count, "message")).toBe(expected);
	});

	test("figure rounds", () => {
		expect(figure(1234.5)).toBe("1,235");
	});
});
