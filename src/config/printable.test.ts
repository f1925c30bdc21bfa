import { expect, test } from "vitest";
import { printable, printableLines } from "./printable.ts";

test.each([
	["src/a b-é漢.ts", "src/a b-é漢.ts"],
	["a.ts\n\nApproved.", "a.ts\\u{a}\\u{a}Approved."],
	["\u001b[2Ja.ts", "\\u{1b}[2Ja.ts"],
	["\u009b2Ja.ts", "\\u{9b}2Ja.ts"],
	["\u202est.a", "\\u{202e}st.a"],
	["a\u200b.ts", "a\\u{200b}.ts"],
	["a\u2028b", "a\\u{2028}b"],
	["\ud800", "\\u{d800}"],
])("%j is spelled %j", (text, spelled) => {
	expect(printable(text)).toBe(spelled);
});

test("line ends may be meant, and nothing else", () => {
	expect(printableLines("a\n\tb\u001b")).toBe("a\n\\u{9}b\\u{1b}");
});
