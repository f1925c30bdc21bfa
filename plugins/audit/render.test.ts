import { expect, test } from "vitest";
import { auditLines } from "./render.ts";

/** What the human sees where the terminal is wide enough. */
const shown = (result: { readonly text: string; readonly isExpanded: boolean }) =>
	auditLines(result).map((line) => (typeof line === "string" ? line : `${line.lead}${line.text}`));

const report = [
	"Mulligan audit: ~1,600 of 128,000 tokens (1%), ~1,000 of them in 3 message(s).",
	"Confidence: medium.",
	"  1,000  result (2)",
	"    500  prompt and tools",
	"     10  user (1)",
	"",
	"Largest:",
	"  800  result grep total",
	"  200  result grep 5  x  2  y",
	"    0  result tiny",
	"",
	"Active: 0 rewind(s), 0 shrink(s).",
	"",
	"Context updated: 1 result(s)",
].join("\n");

test("collapsed, the head is shown with its bars, and how much more there is", () => {
	expect(shown({ text: report, isExpanded: false })).toEqual([
		"Mulligan audit: ~1,600 of 128,000 tokens (1%), ~1,000 of them in 3 message(s).",
		"Confidence: medium.",
		"  1,000 ██████████ result (2)",
		"    500 █████      prompt and tools",
		"     10 ▏          user (1)",
		"… 6 more line(s)",
	]);
});

test("expanded, all is shown, each size against the largest of its paragraph", () => {
	expect(shown({ text: report, isExpanded: true }).slice(5)).toEqual([
		"",
		"Largest:",
		"  800 ██████████ result grep total",
		"  200 ██▌        result grep 5  x  2  y",
		"    0            result tiny",
		"",
		"Active: 0 rewind(s), 0 shrink(s).",
		"",
		"Context updated: 1 result(s)",
	]);
});

test.each([true, false])("a text that is no report is shown as it is (expanded: %s)", (isExpanded) => {
	const text = "Mulligan: refused — Mulligan is disabled.";
	expect(shown({ text, isExpanded })).toEqual([text]);
	expect(shown({ text: "", isExpanded })).toEqual([""]);
});
