import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));

let folder: string;

beforeEach(() => {
	folder = mkdtempSync(join(tmpdir(), "demo-test-"));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Runs the demo's program; its temporary files go into the test's folder. */
function demo(...options: string[]) {
	const program = [join(root, "node_modules/tsx/dist/cli.mjs"), join(root, "scripts/demo.ts"), ...options];
	const env = { ...process.env, TMPDIR: folder };
	return spawnSync(process.execPath, program, { cwd: root, env, encoding: "utf8" });
}

function extension(source: string): string {
	const path = join(folder, "extension.ts");
	writeFileSync(path, source);
	return path;
}

describe("npm run demo, on the real pi", () => {
	it.each(["newest", "oldest"])("fails on the %s Pi when the tools of mulligan are not there", (pi) => {
		const { status, stderr, stdout } = demo("--pi", pi, "--extension", extension("export default () => {};"));
		expect(stderr).toContain(
			"7 requests reached the model instead of 10; tools that were never called: mulligan_rewind, mulligan_shrink, mulligan_cancel",
		);
		expect(status).toBe(1);
		const kept = stdout.match(/^ {2}(.*\.jsonl)$/m)?.[1];
		expect(kept && existsSync(kept)).toBe(true);
		expect(readdirSync(folder).filter((name) => name.startsWith("pi-mulligan-demo-run-"))).toEqual([]);
	});

	it("fails with what pi printed when pi fails", () => {
		const { status, stderr } = demo("--extension", join(folder, "absent.ts"));
		expect(stderr).toContain("pi ended with exit code 1");
		expect(stderr).toContain("absent.ts");
		expect(status).toBe(1);
	});

	it("explains itself, and refuses what it does not know", () => {
		expect(demo("--help").stdout).toContain("--pi newest|oldest");
		expect(demo("--pi", "older").status).toBe(2);
		expect(demo("--nonsense").status).toBe(2);
	});
});
