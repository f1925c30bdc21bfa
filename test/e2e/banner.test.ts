import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { FileEntry } from "@earendil-works/pi-coding-agent";
import { describe, expect, test } from "vitest";
import { containsText, piVersions, sessionLog } from "../../src/testing/index.ts";
import { runPi } from "../support/cli.ts";
import { atOnce, call, revokeCheckpoint } from "../support/mulligan.ts";
import { openTerminal, type TerminalPi, terminalMissing } from "../support/terminal.ts";

const extensions = [fileURLToPath(new URL("../..", import.meta.url))];
const settings = { mulligan: atOnce };
const edges = piVersions().filter(({ name }) => name === "oldest" || name === "newest");
const BANNER =
	'⚠ Mulligan checkpoint active: "start" (you set it). The agent may rewind across your subsequent prompts back to this point. Revoke: /mulligan_checkpoint_revoke start';
/** The banner, and right below it the editor's upper border. */
const BANNER_ABOVE_EDITOR = new RegExp(`^ ${BANNER.replace(/[()".]/g, "\\$&")}\\s*\\n─{100}`, "m");

/** Folders for several starts of the program over one session. */
function folders() {
	const cwd = mkdtempSync(join(tmpdir(), "mulligan-cwd-"));
	const agentDir = mkdtempSync(join(tmpdir(), "mulligan-agent-"));
	const remove = () => {
		for (const folder of [cwd, agentDir]) rmSync(folder, { recursive: true, force: true });
	};
	return { cwd, agentDir, remove };
}

/** Labels the newest message in /tree, as the human does. */
async function bookmark(terminal: TerminalPi, label: string): Promise<void> {
	terminal.enter("/tree");
	await terminal.shows("Session Tree");
	terminal.press("L");
	await terminal.shows("Label (empty to remove)");
	terminal.enter(label);
	await terminal.shows(`[${label}]`);
	terminal.press("Escape");
	await terminal.hides("Session Tree");
}

/** Moves to the answer with this text in /tree, without a summary of what is left. */
async function goTo(terminal: TerminalPi, answer: string): Promise<void> {
	terminal.enter("/tree");
	await terminal.shows("Session Tree");
	terminal.type(answer);
	await terminal.shows(`Type to search: ${answer}`);
	terminal.press("Enter");
	await terminal.shows("Summarize branch?");
	terminal.press("Enter");
	await terminal.shows("Navigated to selected point");
}

/** The labels that stand at the end of a session file. */
function labels(lines: readonly FileEntry[]): readonly string[] {
	const standing = new Map<string, string | undefined>();
	for (const line of lines) if (line.type === "label") standing.set(line.targetId, line.label);
	return [...standing.values()].filter((label) => label !== undefined);
}

describe.concurrent.each(edges)("the program pi $version", (pi) => {
	test("shows the banner above the editor while a checkpoint is active", async ({ skip, onTestFinished }) => {
		const missing = terminalMissing();
		if (missing) skip(missing);
		const { remove, ...places } = folders();
		onTestFinished(remove);
		const common = { pi, extensions, settings, ...places, width: 200, height: 50 };

		const terminal = openTerminal({ ...common, script: ["first answer"], args: ["go"] });
		onTestFinished(terminal.dispose);
		await terminal.shows("first answer");
		await bookmark(terminal, "mine");
		terminal.enter("/mulligan_checkpoint start");
		await terminal.shows(BANNER_ABOVE_EDITOR);
		await terminal.shows('Warning: Mulligan: the checkpoint "start" is set here.');

		terminal.type("/mulligan_checkpoint_revoke st");
		await terminal.shows("→ start");
		terminal.press("Enter");
		await terminal.shows(/^\/mulligan_checkpoint_revoke start/m);
		terminal.press("Enter");
		await terminal.hides("checkpoint active");
		expect(labels(terminal.lines())).toEqual(["mine"]);

		terminal.enter("/mulligan_checkpoint start");
		await terminal.shows(BANNER_ABOVE_EDITOR);
		await terminal.dispose();

		const rewound = { calls: [call.rewind("c1", { granularity: "checkpoint", checkpoint: "start" })] };
		const resumed = openTerminal({ ...common, script: ["WRONG-ANSWER", rewound, "back again"], args: ["--continue"] });
		onTestFinished(resumed.dispose);
		await resumed.shows(BANNER_ABOVE_EDITOR);
		await resumed.shows('Mulligan: you set the checkpoint "start" here.');
		resumed.enter("wrong way");
		await resumed.shows("WRONG-ANSWER");
		await resumed.shows(BANNER_ABOVE_EDITOR);
		resumed.enter("try again");
		await resumed.shows("back again");
		await resumed.hides("checkpoint active");
		await resumed.shows('Mulligan: the agent rewound all since the checkpoint "start": 2 messages left its view.');
		await resumed.shows("What happened: the grep was too wide");
		expect(resumed.screen()).not.toContain("True current state");
		expect(containsText(resumed.requests().at(-1)?.messages, "WRONG-ANSWER")).toBe(false);
		expect(containsText(resumed.requests(), "checkpoint active")).toBe(false);
		expect(labels(resumed.lines())).toEqual(["mine"]);
		resumed.press("C-o");
		await resumed.shows("True current state: nothing has changed");
	});

	test("follows /tree, and of many checkpoints shows nine lines and how many more", async ({
		skip,
		onTestFinished,
	}) => {
		const missing = terminalMissing();
		if (missing) skip(missing);
		const { remove, ...places } = folders();
		onTestFinished(remove);
		const log = sessionLog({ cwd: places.cwd });
		log.user("go");
		log.assistant("before all");
		const names = Array.from({ length: 11 }, (_, index) => `n${index}`);
		for (const name of names) {
			const data = { schema: "pi-mulligan", v: 1, kind: "checkpoint", seq: 1, ts: 1, name };
			log.label(log.custom("mulligan:checkpoint", data), `mulligan:checkpoint:${name}`);
		}
		log.user("on");
		log.assistant("after all");
		const args = ["--session", log.write(join(places.agentDir, "sessions/many.jsonl"))];
		await using terminal = openTerminal({ pi, extensions, settings, ...places, args, width: 200, height: 50 });
		const shown = (first: string, last: string, more: number) =>
			new RegExp(
				`"${first}"[^\\n]*\\n(?:[^\\n]*checkpoint active[^\\n]*\\n){7}[^\\n]*"${last}"[^\\n]*\\n … and ${more} more: /mulligan\\s*\\n─{100}`,
			);
		await terminal.shows(shown("n0", "n8", 2));
		await revokeCheckpoint(terminal, "n3");
		await terminal.shows(shown("n0", "n9", 1));
		terminal.enter("/mulligan_checkpoint last");
		await terminal.shows(shown("n0", "n9", 2));

		await goTo(terminal, "before all");
		await terminal.hides("checkpoint active");
		await terminal.hides("more: /mulligan");
		await goTo(terminal, "after all");
		await terminal.shows(shown("n0", "n9", 1));
	});

	test("answers the commands in print mode, on standard error", async ({ onTestFinished }) => {
		const { remove, ...places } = folders();
		onTestFinished(remove);
		const common = { pi, extensions, settings, ...places };
		using first = await runPi({ ...common, script: ["first answer"], prompt: "go" });
		expect([first.code, first.stderr]).toEqual([0, ""]);
		const command = (prompt: string) => runPi({ ...common, args: ["--continue"], prompt });
		using set = await command("/mulligan_checkpoint start");
		expect([set.code, set.requests]).toEqual([0, []]);
		expect(set.stderr).toMatch(/^Mulligan: the checkpoint "start" is set here\.\n.*\nRevoke: .*start\n$/);
		expect(labels(set.lines)).toEqual(["mulligan:checkpoint:start"]);
		using revoked = await command("/mulligan_checkpoint_revoke start");
		expect(revoked.stderr).toMatch(/^Mulligan: the checkpoint "start" is revoked/);
		expect(labels(revoked.lines)).toEqual([]);
	});
});
