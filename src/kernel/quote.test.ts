import { expect, test } from "vitest";
import { quoted } from "./quote.ts";

test.each([
	["", '""'],
	["start", '"start"'],
	['say "no"\\', '"say \\"no\\"\\\\"'],
	["two\nlines\t\u001b[31m", '"two\\nlines\\t\\u001b[31m"'],
	["a\u202eb\u0085c\u2028", '"a\\u{202e}b\\u{85}c\\u{2028}"'],
	["名前", '"名前"'],
	["\ud83d", '"\\ud83d"'],
	["x".repeat(60), `"${"x".repeat(60)}"`],
	["x".repeat(61), `"${"x".repeat(60)}…" (61 characters)`],
	["😀".repeat(60), `"${"😀".repeat(60)}"`],
	["😀".repeat(61), `"${"😀".repeat(60)}…" (122 characters)`],
	["x".repeat(1_000_000), `"${"x".repeat(60)}…" (1000000 characters)`],
])("%j is quoted on one line", (text, expected) => {
	expect(quoted(text)).toBe(expected);
});
