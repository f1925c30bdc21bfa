import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));
const page = readFileSync(join(root, "spec/promises.md"), "utf8");

interface Promised {
	readonly number: number;
	readonly sentence: string;
	readonly tests: readonly (readonly [file: string, title: string])[];
}

const promises: readonly Promised[] = page
	.split(/^(?=\d+\. )/m)
	.slice(1)
	.map((part) => ({
		number: Number.parseInt(part, 10),
		sentence: part.match(/^\d+\. \*\*(.+)\*\*/)?.[1] ?? "",
		tests: [...part.matchAll(/^ +- `([^`]+)` › (.+)$/gm)].map(([, file = "", title = ""]) => [file, title] as const),
	}));

test("the promises are numbered from 1 on, each one sentence", () => {
	expect(promises.length).toBeGreaterThan(20);
	expect(promises.map(({ number }) => number)).toEqual(promises.map((_, at) => at + 1));
	expect(promises.filter(({ sentence }) => !sentence.endsWith("."))).toEqual([]);
});

describe.each(promises.map((promise) => [promise.number, promise] as const))("promise %i", (_number, { tests }) => {
	test("is held by tests that are there and run", () => {
		expect(tests.length).toBeGreaterThan(0);
		for (const [file, title] of tests) {
			expect([file, existsSync(join(root, file))]).toEqual([file, true]);
			const code = readFileSync(join(root, file), "utf8");
			const at = [`"${title}"`, `\`${title}\``].map((quoted) => code.indexOf(quoted)).find((index) => index >= 0);
			expect([file, title, at !== undefined]).toEqual([file, title, true]);
			const [opening = ""] = code.slice(0, at).match(/\b(?:test|it)\b[^;]*$/) ?? [];
			expect([file, title, /\.(?:skip|todo|fails)\b/.test(opening)]).toEqual([file, title, false]);
		}
	});
});
