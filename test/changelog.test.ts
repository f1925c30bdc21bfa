import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { piVersions } from "../src/testing/index.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { readonly version: string };

interface Entry {
	readonly major: number;
	readonly minor: number;
	readonly patch: number;
	/** Heading and all. */
	readonly content: string;
}

test.each(piVersions())("Pi $version finds in CHANGELOG.md what is new in this version", async (pi) => {
	const file = pathToFileURL(join(pi.root, "dist/utils/changelog.js")).href;
	const { parseChangelog } = (await import(file)) as { parseChangelog(file: string): readonly Entry[] };
	const entries = parseChangelog(join(root, "CHANGELOG.md"));
	const newest = entries.find(({ major, minor, patch }) => `${major}.${minor}.${patch}` === version);
	expect(newest?.content).toMatch(/^## .*\n.*\n- /s);
	// Pi shows it where a relative link leads nowhere.
	expect(newest?.content).not.toMatch(/\]\((?!https:)/);
});
