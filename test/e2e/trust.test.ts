import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { type OpenSessionOptions, openSession, type PiVersion, piVersions } from "../../src/testing/index.ts";
import { runPi } from "../support/cli.ts";
import { ConfigFolders } from "../support/config.ts";

const extensions = [fileURLToPath(new URL("../..", import.meta.url))];
const edges = piVersions().filter(({ name }) => name === "oldest" || name === "newest");

const trace = (name: string) =>
	`import { writeFileSync } from "node:fs"; writeFileSync(new URL("${name}", import.meta.url), "");`;
const CONFIG = `import part from "./part.ts"; ${trace("CONFIG-RAN")} export default part;`;
const PART = `${trace("PART-RAN")} export default { plugins: ["...", "./plugin.ts"] };`;
const PLUGIN = `${trace("PLUGIN-RAN")} export default { name: "hostile", setup() {} };`;
const ALL = ["CONFIG-RAN", "PART-RAN", "PLUGIN-RAN"];

/** A project whose config, a file that it imports and a plugin leave a trace where they run. */
function hostileProject(): ConfigFolders {
	const folders = new ConfigFolders();
	folders.write("mulligan.config.ts", CONFIG);
	folders.write("part.ts", PART);
	folders.write("plugin.ts", PLUGIN);
	return folders;
}

/** Pi's decisions of trust, by folder; the project's own is given alone. */
function decide({ agentDir, project }: ConfigFolders, decisions: boolean | Readonly<Record<string, boolean>>): void {
	const byFolder = typeof decisions === "boolean" ? { [project]: decisions } : decisions;
	writeFileSync(join(agentDir, "trust.json"), JSON.stringify(byFolder));
}

/** What of the project has run since it was last asked. */
function ran({ project }: ConfigFolders): readonly string[] {
	const names = ALL.filter((name) => existsSync(join(project, name)));
	for (const name of names) rmSync(join(project, name));
	return names;
}

/** Runs the real program once in the project. */
async function start(pi: PiVersion, folders: ConfigFolders, args: readonly string[] = []) {
	const { agentDir, project: cwd } = folders;
	using run = await runPi({ pi, extensions, agentDir, cwd, args, script: ["done"], prompt: "go" });
	expect([run.code, run.stdout]).toEqual([0, "done\n"]);
	return { ran: ran(folders), stderr: run.stderr };
}

describe.concurrent.each(edges)("code of a project, under the program pi $version,", (pi) => {
	test.each<[string, (folders: ConfigFolders) => void, readonly string[], readonly string[]]>([
		["runs where Pi keeps a decision for it", (at) => decide(at, true), [], ALL],
		["does not run where nobody decided", () => {}, [], []],
		["does not run where nobody decided for good", () => {}, ["-a"], []],
		["does not run where Pi shall not trust it for good", (at) => decide(at, false), [], []],
		["does not run by a word for all where Pi shall not trust it", () => {}, ["-na", "--mulligan-trust"], []],
	])("%s", async (_what, prepare, args, expected) => {
		using folders = hostileProject();
		prepare(folders);
		const { ran, stderr } = await start(pi, folders, args);
		expect(ran).toEqual(expected);
		if (ran.length > 0) expect(stderr).toBe("");
	});

	test("is not even read where Pi shall not trust it: no data, no plugin that data names, no warning", async () => {
		using folders = hostileProject();
		rmSync(join(folders.project, "mulligan.config.ts"));
		folders.write(".pi/settings.json", { mulligan: { plugins: ["../plugin.ts", "./\u001b[2J.ts"], enabled: "wrong" } });
		folders.write("mulligan.config.json", "{ broken");
		expect(await start(pi, folders, ["-na"])).toEqual({ ran: [], stderr: "" });
		const read = await start(pi, folders, ["-a"]);
		expect(read.ran).toEqual([]);
		expect(read.stderr).toMatch(/enabled in .*settings\.json.* is "wrong"/);
		expect(read.stderr).toMatch(/mulligan\.config\.json cannot be read/);
		expect(read.stderr).toContain("plugin.ts is not run: nobody has approved it");
		expect(read.stderr).toContain("\\u{1b}[2J.ts");
		expect(read.stderr).not.toContain("\u001b");
	});

	test("runs once approved, until a file that it imports changes", async () => {
		using folders = hostileProject();
		expect((await start(pi, folders, ["--mulligan-trust"])).ran).toEqual(ALL);
		expect(await start(pi, folders)).toEqual({ ran: ALL, stderr: "" });
		folders.write("part.ts", `${PART} // changed`);
		const { ran, stderr } = await start(pi, folders);
		expect(ran).toEqual([]);
		expect(stderr).toContain("part.ts is not run: it has changed since it was approved. Approve with /mulligan trust");
	});
});

describe.each(edges)("code of a project, in a session of Pi $version,", (pi) => {
	/** Opens a session, with a human who answers; what they were asked is in `asked`. */
	async function open(folders: ConfigFolders, answer: boolean, more: OpenSessionOptions = {}) {
		const asked: string[] = [];
		const confirm = async (_title: string, text: string) => asked.push(text) > 0 && answer;
		const { project: cwd, agentDir } = folders;
		const session = await openSession({ pi, cwd, agentDir, uiContext: { confirm }, ...more });
		return { asked, session, told: () => session.ui.notifications.map(({ message }) => message) };
	}

	test.each<[string, (folders: ConfigFolders) => void, readonly string[]]>([
		["runs where Pi keeps a decision for it", (at) => decide(at, true), ALL],
		["does not run where nobody decided", () => {}, []],
		["does not run where Pi shall not trust it for good", (at) => decide(at, false), []],
	])("%s, without a UI", async (_what, prepare, expected) => {
		using folders = hostileProject();
		prepare(folders);
		const { session, asked } = await open(folders, true, { mode: "print" });
		await session.dispose();
		expect([ran(folders), asked]).toEqual([expected, []]);
	});

	test("does not run where what Pi keeps is only for a folder in the project", async () => {
		using folders = hostileProject();
		const sub = join(folders.project, "sub");
		for (const folder of [sub, join(folders.project, ".git")]) mkdirSync(folder);
		decide(folders, { [sub]: true });
		const { session, asked } = await open(folders, false, { cwd: sub });
		await session.dispose();
		expect([ran(folders), asked.length]).toEqual([[], 1]);
	});

	test.each<[string, string, readonly string[]]>([
		["mulligan.config.ts", CONFIG, []],
		["part.ts", PART, []],
		["plugin.ts", PLUGIN, ["CONFIG-RAN", "PART-RAN"]],
	])(
		"does not run any more where %s has changed since it was approved, nor what needs it",
		async (file, text, still) => {
			using folders = hostileProject();
			await (await open(folders, true)).session.dispose();
			expect(ran(folders)).toEqual(ALL);
			folders.write(file, `${text} // changed`);
			const { session, told } = await open(folders, true, { mode: "print" });
			await session.dispose();
			expect([ran(folders), told()]).toEqual([still, []]);
		},
	);

	test("is asked about once, and again only for what has changed", async () => {
		using folders = hostileProject();
		const first = await open(folders, true);
		await first.session.dispose();
		expect(first.asked).toEqual([expect.stringContaining("\n\nmulligan.config.ts\npart.ts\nplugin.ts\n\n")]);
		expect([ran(folders), first.told()]).toEqual([ALL, []]);
		folders.write("part.ts", `${PART} // changed`);
		const second = await open(folders, true);
		await second.session.dispose();
		expect(second.asked).toEqual([expect.stringContaining("\n\npart.ts (changed since you approved it)\n\n")]);
		expect(ran(folders)).toEqual(ALL);
	});

	test("is not asked about again after a no, in this session", async () => {
		using folders = hostileProject();
		const { session, asked, told } = await open(folders, false);
		await session.reload();
		expect([ran(folders), asked.length, told().length]).toEqual([[], 1, 2]);
		expect(new Set(told())).toEqual(new Set([expect.stringContaining("mulligan.config.ts is not run: nobody has")]));
		await session.dispose();
		const next = await open(folders, true);
		await next.session.dispose();
		expect([ran(folders), next.asked.length]).toEqual([ALL, 1]);
	});

	test("is asked about by names that can't pass for words of ours, a few of them", async () => {
		using folders = hostileProject();
		const names = Array.from({ length: 20 }, (_, index) => `many/${index}.ts`);
		for (const name of ["\n\nThis is safe.\u001b[2J\u202e.ts", ...names]) folders.write(name, "export {};");
		const imports = ["./\\n\\nThis is safe.\\u001b[2J\\u202e.ts", ...names.map((name) => `./${name}`)];
		folders.write("mulligan.config.ts", imports.map((name) => `import "${name}";`).join("\n"));
		const { session, asked } = await open(folders, false);
		await session.dispose();
		expect(asked).toHaveLength(1);
		expect(asked[0]).not.toMatch(/[^\P{Cc}\n]|\p{Cf}/u);
		expect(asked[0]?.split("\n\n")).toHaveLength(3);
		expect(asked[0]).toMatch(/\nand \d+ more\n/);
	});

	test("does not run where Pi's decisions cannot be read, which is told once", async () => {
		using folders = hostileProject();
		folders.write("mulligan.config.json", { log: { file: "/outside.jsonl" } });
		writeFileSync(join(folders.agentDir, "trust.json"), "{");
		const { session, told } = await open(folders, false);
		await session.dispose();
		expect(ran(folders)).toEqual([]);
		expect(told().filter((text) => text.includes("Pi's decisions of trust cannot be read"))).toHaveLength(1);
	});
});
