import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { loadPi, piVersions } from "../testing/pi-versions.ts";

let folder: string;
let warnings: string[];
beforeEach(() => {
	folder = realpathSync(mkdtempSync(join(tmpdir(), "mulligan-trust-")));
	mkdirSync(join(folder, "project", "sub"), { recursive: true });
	warnings = [];
});
afterEach(() => {
	vi.doUnmock("@earendil-works/pi-coding-agent");
	rmSync(folder, { recursive: true, force: true });
});

describe.each(piVersions())("the decision that Pi $version keeps", (pi) => {
	const at = (path: string) => join(folder, path);

	/** What is found by a session in `cwd`, of the project around it. */
	async function decision(cwd = "project/sub"): Promise<boolean | null> {
		const { agent } = await loadPi(pi);
		vi.resetModules();
		vi.doMock("@earendil-works/pi-coding-agent", () => ({ ProjectTrustStore: agent.ProjectTrustStore }));
		const { savedDecision } = await import("./trust.ts");
		return savedDecision({
			...{ agentDir: at("agent"), cwd: at(cwd), projectRoot: at("project") },
			warn: (text) => void warnings.push(text),
		});
	}

	test.each<[string, Readonly<Record<string, boolean>>, boolean | null]>([
		["none", {}, null],
		["for the project", { project: true }, true],
		["for a folder above", { "": true }, true],
		["for a folder in the project alone", { "project/sub": true }, null],
		["for another project", { other: true }, null],
		["against the project", { project: false }, false],
		["against the folder of the session alone", { project: true, "project/sub": false }, false],
		["for the project in a folder that it is against", { "": false, project: true }, true],
		["for a folder in a project that it is against", { project: false, "project/sub": true }, null],
	])("%s", async (_what, decisions, expected) => {
		const { ProjectTrustStore } = (await loadPi(pi)).agent;
		const store = new ProjectTrustStore(at("agent"));
		for (const [path, trusted] of Object.entries(decisions)) store.set(at(path), trusted);
		expect([await decision(), warnings]).toEqual([expected, []]);
		expect(existsSync(at("agent/trust.json.lock"))).toBe(false);
	});

	test.each(["{", "[]", '{"/":"yes"}'])("counts as none where it can't be read, with a warning: %s", async (text) => {
		mkdirSync(at("agent"));
		writeFileSync(at("agent/trust.json"), text);
		expect(await decision()).toBe(null);
		expect(warnings).toEqual([
			expect.stringMatching(/^Pi's decisions of trust cannot be read \(.*trust\.json.*\), so none/),
		]);
		expect(readFileSync(at("agent/trust.json"), "utf8")).toBe(text);
	});
});
