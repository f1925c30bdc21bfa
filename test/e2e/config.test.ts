import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { DEFAULT_PLUGINS } from "../../src/default-set.ts";
import {
	containsText,
	type ModelRequest,
	type OpenSessionOptions,
	orphans,
	type PiVersion,
	piVersions,
	type TestSession,
	textOf,
} from "../../src/testing/index.ts";
import { runPi } from "../support/cli.ts";
import { ConfigFolders } from "../support/config.ts";
import { until } from "../support/launch.ts";
import { bulk, call, openAtOnce, records } from "../support/mulligan.ts";
import { openTerminal, terminalMissing } from "../support/terminal.ts";

const repository = fileURLToPath(new URL("../..", import.meta.url));
const edges = piVersions().filter(({ name }) => name === "oldest" || name === "newest");
const names = DEFAULT_PLUGINS.map(({ name }) => name);
const tools = {
	grep: ({ pattern }: Record<string, unknown>) => bulk(`GREP-${pattern}`),
	log: () => bulk("LOG"),
	huge: () => bulk("HUGE", 2000),
};

/** A session in folders of its own, which hold the files of a config. */
async function openIn(folders: ConfigFolders, options: OpenSessionOptions = {}): Promise<TestSession> {
	return openAtOnce({ cwd: folders.project, agentDir: folders.agentDir, tools, ...options });
}

const told = (session: TestSession) => session.ui.notifications.map(({ message }) => message);
const mulliganTools = ({ tools: all }: ModelRequest) =>
	all.map(({ name }) => name).filter((name) => name.startsWith("mulligan_"));
const toolsOf = ({ lastRequest }: TestSession) => mulliganTools(lastRequest);
/** A run of the program in these folders. */
const of = (folders: ConfigFolders, pi: PiVersion) => ({
	...{ pi, cwd: folders.project, agentDir: folders.agentDir, script: ["done"], prompt: "hi" },
});
const lastText = ({ lastRequest }: TestSession) => textOf(lastRequest.messages.at(-1) as never);

/** What each plugin of the default set does for the model or the human, seen from outside. */
const works: Readonly<Record<string, (session: TestSession, set: readonly string[]) => Promise<void>>> = {
	async checkpoints(session) {
		await session.prompt("/mulligan_checkpoint here");
		expect(records(session, "mulligan:checkpoint").map(({ name }) => name)).toEqual(["here"]);
	},
	async rewind(session) {
		session.script({ calls: [call.tool("r1", "grep", { pattern: "wide" })] }, { calls: [call.rewind("r2")] }, "done");
		await session.prompt("find");
		expect(containsText(session.lastRequest.messages, "GREP-wide")).toBe(false);
	},
	async shrink(session) {
		const shrink = call.shrink("s2", { by_tool_name: "log" }, "GREEN");
		session.script({ calls: [call.tool("s1", "log")] }, { calls: [shrink] }, "done");
		await session.prompt("test");
		expect(containsText(session.lastRequest.messages, "LOG\n0123")).toBe(false);
	},
	async cancel(session) {
		session.script({ calls: [call.cancel("c1", { markerId: "none" })] }, "done");
		await session.prompt("undo");
		expect(lastText(session)).toBe("Mulligan: nothing to cancel — no active or queued op matches.");
	},
	async nudges(session, set) {
		session.script({ calls: [call.tool("n1", "huge")] }, "done");
		await session.prompt("all");
		const hasCure = set.includes("rewind") || set.includes("shrink");
		expect(/KB/.test(lastText(session))).toBe(hasCure);
	},
	async audit(session) {
		session.script({ calls: [call.tool("a1", "mulligan_audit")] }, "done");
		await session.prompt("how full");
		expect(lastText(session)).toMatch(/tokens/);
	},
};

const withoutOne = names.map((name) => names.filter((other) => other !== name));
const sets: readonly (readonly string[])[] = [[...names].reverse(), ...names.map((name) => [name]), ...withoutOne];

describe.each(edges)("with Pi $version", (pi) => {
	const chosen = pi.name === "newest" ? sets : sets.filter((_set, index) => index % 4 === 0);
	test.each(chosen.map((set) => [set.join(", "), set] as const))("%s: each does its work", async (_names, set) => {
		await using session = await openAtOnce({ pi, tools, settings: { mulligan: { plugins: set } } });
		session.script("hello");
		await session.prompt("hi");
		const declared = DEFAULT_PLUGINS.filter(({ name }) => set.includes(name)).flatMap((plugin) => plugin.tools ?? []);
		expect(toolsOf(session).sort()).toEqual(declared.map(({ name }) => name).sort());
		expect(told(session)).toEqual([]);
		for (const name of set) await works[name]?.(session, set);
		expect(orphans(session.lastRequest.messages)).toEqual({ calls: [], results: [] });
		expect(session.errors).toEqual([]);
	});

	test("a plugin of the user's own sees the view and speaks to the model, and a reload reads it again", async () => {
		using folders = new ConfigFolders();
		const file = join(folders.agentDir, "mulligan.config.ts");
		const config = (line: string) => `import { definePlugin, defineConfig } from "pi-mulligan/plugin";
import Type from "typebox";
import { VERSION } from "@earendil-works/pi-coding-agent";
const mine = definePlugin({
	name: "mine",
	mulligan: "^2",
	options: Type.Object({ line: Type.String({ default: "none" }) }),
	setup({ hooks, options }) {
		hooks.onView.tap("mine", (view) => view.annotate(\`\${options.line} on Pi \${VERSION}\`));
	},
});
export default defineConfig({ plugins: ["...", [mine, { line: "${line}" }]] });`;
		folders.write(file, config("FIRST"));
		await using session = await openIn(folders, { pi });
		session.otherwise("done");
		await session.prompt("hi");
		expect(containsText(session.lastRequest.messages, `FIRST on Pi ${pi.version}`)).toBe(true);
		folders.write(file, config("SECOND"));
		await session.reload();
		await session.prompt("again");
		expect(containsText(session.lastRequest.messages, "FIRST")).toBe(false);
		expect(containsText(session.lastRequest.messages, `SECOND on Pi ${pi.version}`)).toBe(true);
		expect([told(session), session.errors]).toEqual([[], []]);
	});

	test("a replacement of shrink answers for it, and takes over its markers", async () => {
		using folders = new ConfigFolders();
		folders.write(
			join(folders.agentDir, "mine.ts"),
			`export default { name: "mine", setup({ hooks, journal }) {
	hooks.transformMessage.tap("mine", (message) => message.toolName === "log" ? { ...message, content: [{ type: "text", text: "CUT" }] } : message);
} };`,
		);
		folders.write(join(folders.agentDir, "mulligan.config.json"), { replace: { shrink: "./mine.ts" } });
		await using session = await openIn(folders, { pi });
		session.script({ calls: [call.tool("c1", "log")] }, "done");
		await session.prompt("go");
		expect(lastText(session)).toBe("CUT");
		expect(toolsOf(session)).not.toContain("mulligan_shrink");
		expect([told(session), session.errors]).toEqual([[], []]);
	});

	test("without rewind and shrink their markers have no effect, and one warning says how many", async () => {
		await using session = await openAtOnce({ pi, tools, settings: { mulligan: { persistence: "view" } } });
		session.script({ calls: [call.tool("c1", "grep", { pattern: "wide" })] }, { calls: [call.rewind("c2")] }, "done");
		await session.prompt("find");
		const shrink = call.shrink("c4", { by_tool_name: "log" }, "GREEN");
		session.script({ calls: [call.tool("c3", "log")] }, { calls: [shrink] }, "done", "done");
		await session.prompt("test");
		expect(containsText(session.lastRequest.messages, "GREP-wide")).toBe(false);
		await using again = await session.reopen({ settings: { mulligan: { plugins: ["cancel", "audit"] } } });
		again.script("done");
		await again.prompt("go on");
		expect(containsText(again.lastRequest.messages, "GREP-wide")).toBe(true);
		expect(containsText(again.lastRequest.messages, "LOG\n0123")).toBe(true);
		expect(told(again)).toEqual([
			'Mulligan: 2 markers of this session have no effect, because "rewind" and "shrink" are left out of the plugins: what they hid or replaced is in the view again.',
		]);
		await using whole = await again.reopen({ settings: { mulligan: {} } });
		whole.script("done");
		await whole.prompt("back");
		expect(containsText(whole.lastRequest.messages, "GREP-wide")).toBe(false);
		expect(told(whole)).toEqual([]);
	});

	test("code of a project runs only if the human says so, who is asked once", async () => {
		using folders = new ConfigFolders();
		folders.write(
			"nudge.ts",
			'export default { name: "nudge", setup({ hooks }) { hooks.onView.tap("nudge", (view) => view.annotate("NUDGE")); } };',
		);
		folders.write("mulligan.config.json", { plugins: ["...", "./nudge.ts"] });
		for (const answer of [false, true]) {
			const asked: string[] = [];
			const confirm = async (_title: string, text: string) => {
				asked.push(text);
				return answer;
			};
			await using session = await openIn(folders, { pi, uiContext: { confirm } });
			session.script("done");
			await session.prompt("hi");
			expect(asked).toEqual([expect.stringContaining("\n\nnudge.ts\n\n")]);
			expect(containsText(session.lastRequest.messages, "NUDGE")).toBe(answer);
			expect(toolsOf(session)).toContain("mulligan_rewind");
			expect(told(session)).toHaveLength(answer ? 0 : 1);
			if (!answer) expect(told(session)[0]).toMatch(/the plugin "\.\/nudge\.ts" of plugins\[1\] in .* is left out: /);
		}
	});

	test("the config of this repository is in use where a session works on it", async () => {
		using folders = new ConfigFolders();
		for (const name of ["mulligan.config.ts", "package.json"])
			cpSync(join(repository, name), join(folders.project, name));
		const bash = { bash: () => bulk("SUITE", 600) };
		await using session = await openIn(folders, { pi, tools: bash, uiContext: { confirm: async () => true } });
		session.script({ calls: [call.tool("c1", "bash", { command: "npm test" })] }, "done");
		await session.prompt("test");
		expect(session.lastRequest.messages.map((message) => textOf(message as never)).join("\n")).toMatch(/10 KB/);
		expect([told(session), session.errors]).toEqual([[], []]);
	});
});

describe.each(edges)("the program pi $version", (pi) => {
	test.concurrent("reads the config of PI_CODING_AGENT_DIR, and logs where MULLIGAN_LOG says", async () => {
		using folders = new ConfigFolders();
		folders.write(join(folders.agentDir, "mulligan.config.yaml"), "plugins: [rewind, ./mine.mjs]\n");
		folders.write(
			join(folders.agentDir, "mine.mjs"),
			'export default { name: "mine", setup: ({ log }) => log("SET UP") };',
		);
		using run = await runPi({ ...of(folders, pi), env: { MULLIGAN_LOG: "mulligan.jsonl" } });
		expect([run.code, run.stdout, run.stderr]).toEqual([0, "done\n", ""]);
		expect(run.requests.map(mulliganTools)).toEqual([["mulligan_rewind"]]);
		expect(readFileSync(join(folders.project, "mulligan.jsonl"), "utf8")).toContain('"mine: SET UP"');
	});

	test.concurrent("is left alone by a config under MULLIGAN_DISABLED, which loads no plugin", async () => {
		using folders = new ConfigFolders();
		folders.write(
			join(folders.agentDir, "mine.mjs"),
			'process.stderr.write("PLUGIN RAN"); export default { name: "mine", setup() {} };',
		);
		folders.write(
			join(folders.agentDir, "mulligan.config.mjs"),
			'process.stderr.write("CONFIG RAN"); export default { plugins: ["./mine.mjs"] };',
		);
		const start = (env: Record<string, string>) => runPi({ ...of(folders, pi), env });
		using disabled = await start({ MULLIGAN_DISABLED: "1" });
		expect([disabled.code, disabled.stdout, disabled.stderr]).toEqual([0, "done\n", ""]);
		using enabled = await start({});
		expect(enabled.stderr).toBe("CONFIG RANPLUGIN RAN");
	});

	test.concurrent("runs no code of a project without a UI, says so, and runs it under --mulligan-trust", async () => {
		using folders = new ConfigFolders();
		folders.write("mulligan.config.mjs", 'process.stderr.write("CONFIG RAN"); export default { plugins: ["rewind"] };');
		const start = (args: readonly string[]) => runPi({ ...of(folders, pi), args });
		using refused = await start([]);
		expect([refused.code, refused.stdout]).toEqual([0, "done\n"]);
		expect(refused.stderr.split("--mulligan-trust")).toHaveLength(2);
		expect(refused.stderr).toContain(join(folders.project, "mulligan.config.mjs"));
		expect(refused.stderr).not.toContain("CONFIG RAN");
		using trusted = await start(["--mulligan-trust"]);
		expect(trusted.stderr).toBe("CONFIG RAN");
		expect(trusted.requests.map(mulliganTools)).toEqual([["mulligan_rewind"]]);
	});

	test.concurrent("asks at its start in the terminal, and runs the code once the human agrees", async ({ skip }) => {
		const missing = terminalMissing();
		if (missing) skip(missing);
		using folders = new ConfigFolders();
		folders.write("mulligan.config.mjs", 'export default { plugins: ["rewind"] };');
		await using terminal = openTerminal({ ...of(folders, pi), width: 200 });
		await terminal.shows("Mulligan: run code of this project?");
		await terminal.shows("mulligan.config.mjs");
		terminal.press("Enter");
		await until(() => !terminal.screen().includes("run code of this project"), 30_000, terminal.screen);
		terminal.type("hi");
		terminal.press("Enter");
		await terminal.shows("done");
		expect(terminal.requests().map(mulliganTools)).toEqual([["mulligan_rewind"]]);
	});
});
