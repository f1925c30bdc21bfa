import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));
const read = (path: string) => readFileSync(join(root, path), "utf8");
const page = read("spec/records.md");
const sections = new Map(page.split(/^## /m).map((section) => [section.split("\n")[0] ?? "", section] as const));
const sources = globSync(["src/**/*.ts", "plugins/**/*.ts"], { cwd: root }).filter(
	(path) => !/\.test\.ts$|testing\//.test(path),
);

/** Custom types of messages that are never stored, and names of widgets. */
const NOT_STORED = ["mulligan:annotation", "mulligan:checkpoints"];

test("spec/records.md has a section for each type that the code names, and for no other", () => {
	const named = sources.flatMap((path) =>
		[...read(path).matchAll(/"(mulligan:[a-z-]+)"/g)].map(([, type = ""]) => type),
	);
	const stored = [...new Set(named)].filter((type) => !NOT_STORED.includes(type));
	expect(stored.length).toBeGreaterThan(5);
	expect([...sections.keys()].filter((title) => title.startsWith("mulligan:")).sort()).toEqual(stored.sort());
});

test("spec/records.md names the fields of each body that the code declares", () => {
	const code = read("src/kernel/records.ts");
	const bodies = [...code.matchAll(/^\t"(mulligan:[a-z-]+)": (\w+);$/gm)].map(
		([, type = "", body = ""]) => [type, body] as const,
	);
	expect(bodies.length).toBeGreaterThan(4);
	for (const [type, body] of bodies) {
		const declared = code.match(new RegExp(`^export interface ${body} \\{\\n([\\s\\S]*?)^\\}`, "m"))?.[1] ?? "";
		const fields = [...declared.matchAll(/^\treadonly (\w+)\??:/gm)].map(([, field = ""]) => field);
		expect([type, fields.length > 0]).toEqual([type, true]);
		expect([type, fields.filter((field) => !new RegExp(`\`${field}\\b`).test(sections.get(type) ?? ""))]).toEqual([
			type,
			[],
		]);
	}
});
