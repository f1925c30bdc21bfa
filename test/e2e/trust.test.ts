import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { type PiVersion, piVersions } from "../../src/testing/index.ts";
import { runPi } from "../support/cli.ts";
import { ConfigFolders } from "../support/config.ts";

const extensions = [fileURLToPath(new URL("../..", import.meta.url))];
const edges = piVersions().filter(({ name }) => name === "oldest" || name === "newest");

/** A project whose config, and a file that it imports, leave a trace where they run. */
function hostileProject(folders: ConfigFolders): void {
	const trace = (name: string) => `import { writeFileSync } from "node:fs"; writeFileSync("${name}", "");`;
	folders.write("part.ts", `${trace("PART-RAN")} export default {};`);
	folders.write("mulligan.config.ts", `import part from "./part.ts"; ${trace("CONFIG-RAN")} export default part;`);
}

/** Starts the real program once in the project, and tells what of it ran. */
async function start(pi: PiVersion, folders: ConfigFolders, args: readonly string[] = []) {
	const { agentDir, project: cwd } = folders;
	using run = await runPi({ pi, extensions, agentDir, cwd, args, script: ["done"], prompt: "go" });
	const ran = ["CONFIG-RAN", "PART-RAN"].filter((name) => existsSync(join(cwd, name)));
	for (const name of ran) rmSync(join(cwd, name));
	expect([run.code, run.stdout]).toEqual([0, "done\n"]);
	return { ran, stderr: run.stderr };
}

const trustForGood = ({ agentDir, project }: ConfigFolders) =>
	writeFileSync(join(agentDir, "trust.json"), JSON.stringify({ [project]: true }));

const ALL = ["CONFIG-RAN", "PART-RAN"];

describe.concurrent.each(edges)("code of a project, under the program pi $version,", (pi) => {
	test.each<[string, (folders: ConfigFolders) => void, readonly string[], readonly string[]]>([
		["does not run where nobody decided for good", () => {}, ["-a"], []],
		["runs where Pi keeps a decision for it", trustForGood, [], ALL],
		["does not run by the flag where Pi shall not trust it", () => {}, ["-na", "--mulligan-trust"], []],
	])("%s", async (_what, prepare, args, ran) => {
		using folders = new ConfigFolders();
		hostileProject(folders);
		prepare(folders);
		expect((await start(pi, folders, args)).ran).toEqual(ran);
	});

	test("runs once approved, until one of its files changes", async () => {
		using folders = new ConfigFolders();
		hostileProject(folders);
		expect((await start(pi, folders, ["--mulligan-trust"])).ran).toEqual(ALL);
		expect(await start(pi, folders)).toEqual({ ran: ALL, stderr: "" });
		folders.write("part.ts", 'import { writeFileSync } from "node:fs"; writeFileSync("PART-RAN", "evil");');
		const changed = await start(pi, folders);
		expect(changed.ran).toEqual([]);
		expect(changed.stderr).toContain("part.ts");
		expect(changed.stderr).toContain("/mulligan trust");
	});
});
