import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { knobTable, panelTable, viewExample, withBlock } from "../scripts/docs/blocks.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const read = (path: string) => readFileSync(join(root, path), "utf8");
const readme = read("README.md");
const pages = globSync(["*.md", "plugins/*/README.md", "spec/*.md", "src/*/README.md"], { cwd: root });

test("the README's knob table is what the schemas say (npm run docs writes it)", () => {
	expect(withBlock(readme, "knobs", knobTable())).toBe(readme);
});

test("the README's table of /mulligan is what its help says (npm run docs writes it)", () => {
	expect(withBlock(readme, "panel", panelTable())).toBe(readme);
});

test("the README's before and after is what a real session sends (npm run docs writes it)", async () => {
	expect(withBlock(readme, "view", await viewExample())).toBe(readme);
});

test.each(pages)("the links of %s lead somewhere", (page) => {
	const links = [...read(page).matchAll(/\]\((?!https:)([^)#]*)(?:#([^)]*))?\)/g)];
	const isBroken = ([, path = "", anchor]: RegExpMatchArray) => {
		const target = path === "" ? page : join(dirname(page), path);
		return !existsSync(join(root, target)) || (anchor !== undefined && !anchorsOf(read(target)).includes(anchor));
	};
	expect(links.filter(isBroken).map(([link]) => link)).toEqual([]);
});

test("the README names no test and no script that does not exist", () => {
	const { scripts } = JSON.parse(read("package.json")) as { readonly scripts: Readonly<Record<string, string>> };
	const named = [...readme.matchAll(/npm run ([a-z:-]+)/g)].map(([, name = ""]) => name);
	expect(named.filter((name) => !(name in scripts))).toEqual([]);
	const tests = [...readme.matchAll(/`([\w./-]+\.test\.ts)`/g)].map(([, path = ""]) => path);
	expect(tests.filter((path) => !existsSync(join(root, path)))).toEqual([]);
	expect([named, tests].map(({ length }) => length > 3)).toEqual([true, true]);
});

/** The anchors of a page's headings, as GitHub makes them. */
function anchorsOf(text: string): readonly string[] {
	const headings = [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) => heading);
	return headings.map((heading) =>
		heading
			.toLowerCase()
			.replace(/[^\p{L}\d _-]/gu, "")
			.replaceAll(" ", "-"),
	);
}
