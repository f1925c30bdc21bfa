import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { definePlugin, Type } from "../plugin.ts";
import { openSession } from "./index.ts";

let agentDir: string;
beforeEach(() => {
	agentDir = mkdtempSync(join(tmpdir(), "mulligan-agent-"));
});
afterEach(() => rmSync(agentDir, { recursive: true, force: true }));

const configs = () => readdirSync(agentDir).filter((name) => name.startsWith("mulligan.config"));
const word = (heard: unknown[]) =>
	definePlugin({
		name: "word",
		options: Type.Object({ text: Type.String({ default: "none" }) }),
		setup: ({ options, settings }) => void heard.push([options.text, settings.rewrites]),
	});

test("a config comes in by the user's own door, plugins as objects included, and is there again when the session is reopened", async () => {
	const heard: unknown[] = [];
	const config = { plugins: [word(heard)], word: { text: "said" }, rewrites: { maxMoments: 7 } };
	await using session = await openSession({ agentDir, config });
	session.script("hi");
	await session.prompt("hello");
	await using again = await session.reopen();
	await using other = await again.reopen({ config: { plugins: [word(heard)] } });
	expect(heard).toEqual([
		["said", expect.objectContaining({ maxMoments: 7 })],
		["said", expect.objectContaining({ maxMoments: 7 })],
		["none", expect.objectContaining({ maxMoments: 1 })],
	]);
	expect(configs()).toEqual(["mulligan.config.ts"]);
	await other.dispose();
	expect(configs()).toEqual([]);
});

test("without a config none is written, and a folder's own counts", async () => {
	await using _none = await openSession({ agentDir });
	expect(configs()).toEqual([]);
	writeFileSync(join(agentDir, "mulligan.config.json"), JSON.stringify({ plugins: ["shrink"] }));
	await using session = await openSession({ agentDir });
	session.script("hi");
	await session.prompt("hello");
	const tools = session.lastRequest.tools.map(({ name }) => name).filter((name) => name.startsWith("mulligan"));
	expect(tools).toEqual(["mulligan_shrink"]);
});

test("a folder that has a config is left as it is", async () => {
	const file = join(agentDir, "mulligan.config.json");
	writeFileSync(file, "{}");
	await expect(openSession({ agentDir, config: {} })).rejects.toThrow(`${agentDir} has a mulligan.config.json already`);
	expect([configs(), existsSync(file), process.env.PI_OFFLINE]).toEqual([["mulligan.config.json"], true, undefined]);
});
