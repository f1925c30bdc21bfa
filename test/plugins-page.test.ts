import { globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { pluginsPage } from "../scripts/docs/authors.ts";
import * as door from "../src/plugin.ts";
import { containsText, openSession, piVersions, type Step } from "../src/testing/index.ts";
import { ConfigFolders } from "./support/config.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const read = (path: string) => readFileSync(join(root, path), "utf8");
const page = read("spec/plugins.md");
const pages = ["spec/plugins.md", "spec/hooks.md", "spec/records.md", "spec/testing.md"].map(read).join("\n");

test("spec/plugins.md has the examples as their files have them (npm run docs writes it)", () => {
	expect(pluginsPage(page)).toBe(page);
});

test("each member of what a plugin is and gets is told of", () => {
	const code = read("src/kernel/plugin.ts");
	const membersOf = (name: string) => {
		const [, body = ""] =
			code.match(new RegExp(`^export interface ${name}<[\\s\\S]*?\\{\\n([\\s\\S]*?)^\\}`, "m")) ?? [];
		return [...body.matchAll(/^\t(?:readonly )?(\w+)\??[(:<]/gm)].map(([, member = ""]) => member);
	};
	const members = [...membersOf("PluginApi"), ...membersOf("Plugin")];
	expect(members.length).toBeGreaterThan(15);
	expect(members.filter((member) => !new RegExp(`\\b${member}\\b`).test(page))).toEqual([]);
});

test("each function that makes a plugin or a config is told of", () => {
	const makers = Object.keys(door).filter((name) => name.startsWith("define"));
	expect(makers.length).toBeGreaterThan(2);
	expect(makers.filter((name) => !`${pages}\n${read("README.md")}`.includes(name))).toEqual([]);
});

test("each complaint in the table is one that the code makes", () => {
	const [, table = ""] = page.split("## When something is wrong");
	const said = table
		.split("\n")
		.flatMap((row) => [...(row.split("|")[1] ?? "").matchAll(/`([^`]+)`/g)].map(([, text = ""]) => text));
	expect(said.length).toBeGreaterThan(12);
	const sources = globSync(["src/**/*.ts"], { cwd: root }).filter((path) => !path.endsWith(".test.ts"));
	const code = sources.map(read).join("\n");
	const isMade = (text: string) =>
		text
			.split(/…|"\w+"|\^\d|\d/)
			.map((part) => part.trim())
			.filter((part) => part.length > 3)
			.every((part) => code.includes(part));
	expect(said.filter((text) => !isMade(text))).toEqual([]);
});

const grep = (id: string): Step => ({ calls: [{ id, name: "grep", args: {} }] });

describe.each(piVersions())("the guide's first steps, with Pi $version", (pi) => {
	test("work as they are written", async () => {
		using folders = new ConfigFolders();
		const [, file = "", config = ""] =
			page.match(/<!-- too-many-greps:begin -->\n```ts\n([\s\S]*?)```[\s\S]*?```json\n([\s\S]*?)```/) ?? [];
		mkdirSync(join(folders.agentDir, "nudges"), { recursive: true });
		writeFileSync(join(folders.agentDir, "nudges/too-many-greps.ts"), file);
		writeFileSync(join(folders.agentDir, "mulligan.config.json"), config);
		await using session = await openSession({
			...{ pi, agentDir: folders.agentDir, cwd: folders.project },
			tools: { grep: () => "a.ts" },
		});
		session.script(...["a", "b", "c", "d", "e"].map(grep), "done");
		await session.prompt("go");
		expect(session.ui.notifications).toEqual([]);
		const told = session.requests.map(({ messages }) => containsText(messages, "5 greps for this prompt so far"));
		expect(told).toEqual([false, false, false, false, false, true]);
	});
});
