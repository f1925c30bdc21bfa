import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { declaredHooks, exampledHooks, hooksPage } from "../scripts/docs/authors.ts";

const page = readFileSync(fileURLToPath(new URL("../spec/hooks.md", import.meta.url)), "utf8");
const sections = new Map(
	page
		.split(/^## /m)
		.slice(1)
		.map((section) => [section.split("\n")[0] ?? "", section] as const),
);
const hooks = [...declaredHooks().keys()];

test("spec/hooks.md has each type and example as the code has it (npm run docs writes it)", () => {
	expect(hooks.length).toBeGreaterThan(5);
	expect(hooksPage(page)).toBe(page);
});

test("spec/hooks.md has a section for each hook and no other, and so have the examples", () => {
	expect([...sections.keys()].sort()).toEqual([...hooks].sort());
	expect([...exampledHooks()].sort()).toEqual([...hooks].sort());
});

describe.each(hooks)("%s", (hook) => {
	const section = sections.get(hook) ?? "";

	test("tells its type, its kind, what comes before and after it, and an example, in this order", () => {
		expect([...section.matchAll(/^- \*\*(\w+):\*\* (?=\S)/gm)].map(([, label]) => label)).toEqual([
			...["Type", "Kind", "Previous", "Next"],
		]);
		expect(section).toContain("```ts");
		expect(section).toContain(`hooks.${hook}.tap`);
	});

	test("names hooks that are there before and after it, which name it in turn", () => {
		const named = (label: string, of: string) => {
			const [, text = ""] =
				(sections.get(of) ?? "").match(new RegExp(`^- \\*\\*${label}:\\*\\* ([\\s\\S]*?)(?=^- |^<!--)`, "m")) ?? [];
			return [...text.matchAll(/`((?:on|before|transform)[A-Z]\w*)`/g)].map(([, name = ""]) => name);
		};
		const [before, after] = [named("Previous", hook), named("Next", hook)];
		expect([...before, ...after].filter((name) => !hooks.includes(name))).toEqual([]);
		expect(after).not.toEqual([]);
		for (const next of after) expect([next, named("Previous", next)]).toEqual([next, expect.arrayContaining([hook])]);
	});
});
