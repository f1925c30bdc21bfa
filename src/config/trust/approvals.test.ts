import { spawn } from "node:child_process";
import {
	chmodSync,
	chownSync,
	existsSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	rmSync,
	utimesSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { until } from "../../../test/support/launch.ts";
import { Approvals } from "./approvals.ts";

let agentDir: string;
let warnings: string[];
beforeEach(() => {
	agentDir = mkdtempSync(join(tmpdir(), "mulligan-approvals-"));
	warnings = [];
});
afterEach(() => rmSync(agentDir, { recursive: true, force: true }));

const open = (root = "/p") => new Approvals({ agentDir, root, warn: (text) => warnings.push(text) });
const store = () => join(agentDir, "mulligan", "approvals.json");
const stored = () => JSON.parse(readFileSync(store(), "utf8"));

/** Another process that approves files of a project, one after the other. */
function approver(root: string, names: readonly string[], { as }: { readonly as?: number } = {}) {
	const code = `
		import { Approvals } from ${JSON.stringify(new URL("./approvals.ts", import.meta.url).href)};
		${as === undefined ? "" : `process.setuid(${as});`}
		const approvals = new Approvals({ agentDir: ${JSON.stringify(agentDir)}, root: ${JSON.stringify(root)}, warn: (text) => console.error(text) });
		for (const name of ${JSON.stringify(names)}) await approvals.approve([{ file: ${JSON.stringify(root)} + "/" + name, hash: name }]);
	`;
	const child = spawn(process.execPath, ["--input-type=module-typescript", "--no-warnings", "-e", code], {
		cwd: fileURLToPath(new URL(".", import.meta.url)),
		stdio: ["ignore", "ignore", "pipe"],
	});
	let errors = "";
	child.stderr.on("data", (chunk) => {
		errors += chunk;
	});
	return { child, done: new Promise<string>((resolve) => child.on("close", () => resolve(errors))) };
}

describe("approvals", () => {
	test("tell what is approved from what is new and what has changed, in this process and the next", async () => {
		const approvals = open();
		expect(approvals.standing("/p/a.ts", "1")).toBe("new");
		await approvals.approve([{ file: "/p/a.ts", hash: "1" }]);
		for (const each of [approvals, open()]) {
			expect(each.standing("/p/a.ts", "1")).toBe("approved");
			expect(each.standing("/p/a.ts", "2")).toBe("changed");
			expect(each.standing("/p/b.ts", "1")).toBe("new");
		}
		expect(open("/q").standing("/q/a.ts", "1")).toBe("new");
		expect(stored()).toEqual({ version: 1, projects: { "/p": { "a.ts": "1" } } });
	});

	test.each(["__proto__", "constructor", "toString"])("take no property of objects for a file: %s", (name) => {
		expect(open().standing(`/p/${name}`, "1")).toBe("new");
	});

	test("of several processes at once are all there afterwards", async () => {
		const names = Array.from({ length: 6 }, (_, process) => [0, 1, 2].map((file) => `f${process}-${file}`));
		const errors = await Promise.all(names.map((mine) => approver("/p", mine).done));
		expect(errors.join("")).toBe("");
		expect(Object.keys(stored().projects["/p"]).sort()).toEqual(names.flat().sort());
	}, 60_000);

	test("survive a process that is killed among its writes, and the next one goes on", async () => {
		const names = Array.from({ length: 2000 }, (_, file) => `f${file}`);
		const approved = () => Object.keys(stored().projects["/p"] ?? {});
		await open().approve([{ file: "/p/kept", hash: "kept" }]);
		for (const round of [1, 2, 3]) {
			const before = approved().length;
			const { child, done } = approver(
				"/p",
				names.map((name) => `${name}-${round}`),
			);
			await until(
				() => approved().length > before + 3,
				30_000,
				() => `only ${approved().length} were approved`,
			);
			child.kill("SIGKILL");
			await done;
			expect(approved().length).toBeLessThan(before + names.length);
			expect(approved()[0]).toBe("kept");
			age(`${store()}.lock`);
		}
		await open().approve([{ file: "/p/next", hash: "next" }]);
		expect(warnings).toEqual([]);
		expect(approved()).toEqual(expect.arrayContaining(["kept", "f0-1", "f0-2", "f0-3", "next"]));
	});
});

/** Makes a lock that a killed process left look as old as it is when nobody waits for it. */
function age(lock: string): void {
	if (existsSync(lock)) utimesSync(lock, 0, 0);
}

describe("a store", () => {
	test.each(["{", "null", "[]", '{"version":2,"projects":{}}', '{"version":1,"projects":{"/p":{"a":1}}}'])(
		"that is none counts as empty with a warning, and the next approval keeps it aside: %s",
		async (text) => {
			mkdirSync(join(agentDir, "mulligan"));
			writeFileSync(store(), text);
			const approvals = open();
			expect(warnings).toEqual([
				`${store()} is no store of approvals: nothing counts as approved. The next approval keeps it as ${store()}.corrupt.`,
			]);
			expect(approvals.standing("/p/a", "1")).toBe("new");
			expect(readFileSync(store(), "utf8")).toBe(text);
			await approvals.approve([{ file: "/p/a", hash: "1" }]);
			expect(readFileSync(`${store()}.corrupt`, "utf8")).toBe(text);
			expect(open().standing("/p/a", "1")).toBe("approved");
		},
	);

	test("that can't be read counts as empty with a warning, and is not written over", async () => {
		const nobody = process.getuid?.() === 0 ? 65534 : undefined;
		await open().approve([{ file: "/p/a", hash: "1" }]);
		const text = readFileSync(store(), "utf8");
		if (nobody !== undefined) for (const path of [agentDir, dirname(store())]) chownSync(path, nobody, nobody);
		chmodSync(store(), 0);
		const errors = await approver("/p", ["b"], { ...(nobody === undefined ? {} : { as: nobody }) }).done;
		expect(errors).toContain(`${store()} cannot be read (EACCES`);
		expect(errors).toContain("what you approved counts until Pi ends");
		chmodSync(store(), 0o600);
		expect(readFileSync(store(), "utf8")).toBe(text);
	});

	test("that can't be written leaves approvals to this process, a reload included, with a warning", async () => {
		writeFileSync(join(agentDir, "mulligan"), "a file where the folder should be");
		const approvals = open();
		warnings.length = 0;
		await approvals.approve([{ file: "/p/a", hash: "1" }]);
		expect(warnings).toEqual([expect.stringContaining("what you approved counts until Pi ends")]);
		for (const each of [approvals, open()]) expect(each.standing("/p/a", "1")).toBe("approved");
		expect(open("/other").standing("/p/a", "1")).toBe("new");
	});

	test("is written whole: no other file stays behind", async () => {
		await open().approve([{ file: "/p/a", hash: "1" }]);
		expect(readdirSync(join(agentDir, "mulligan"))).toEqual(["approvals.json"]);
		expect(existsSync(`${store()}.lock`)).toBe(false);
	});
});
