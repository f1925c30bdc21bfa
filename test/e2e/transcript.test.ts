import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { piVersions } from "../../src/testing/index.ts";
import { call, revokeCheckpoint } from "../support/mulligan.ts";
import { openTerminal, type TerminalPi, terminalMissing } from "../support/terminal.ts";

const extensions = [fileURLToPath(new URL("../..", import.meta.url))];
const edges = piVersions().filter(({ name }) => name === "oldest" || name === "newest");
const rewrites = { maxMoments: 1, flushShedTokens: 1e6 };
const bash = (id: string) => call.tool(id, "bash", { command: `printf '${id}%.0s' $(seq 300)` });
const shrink = (of: string) => call.shrink(`s${of}`, { by_tool_call_id: of }, `SHORT-${of}`);
const cancel = (id: string, of: string) => call.cancel(id, { target: { by_tool_call_id: of } });

const SCRIPT = [
	{ calls: [bash("a")] },
	{ calls: [shrink("a")] },
	{ calls: [cancel("ka", "a")] },
	{ calls: [bash("b"), bash("c")] },
	{ calls: [shrink("b"), shrink("c")] },
	{ calls: [cancel("kc", "c")] },
	{ calls: [bash("d")] },
	{ calls: [call.rewind("rd")] },
	{ calls: [call.tool("x", "mulligan_audit")] },
	"first done",
	"WRONG-WAY",
	{ calls: [call.rewind("rh", { granularity: "checkpoint", checkpoint: "here" })] },
	"second done",
];

/** The rows of our records, in order; what stands beneath a row is left out. */
const ROWS = [
	/^Mulligan: queued: shrink of bash a \(~\d+ tokens\)\. Nothing has left the agent's view yet\.$/,
	/^Mulligan: the queued shrink of bash a is taken back before it had any effect\.$/,
	/^Mulligan: the agent now sees a summary in place of the result of call b; you still see all of it\.$/,
	/^Mulligan: the agent now sees a summary in place of the result of call c; you still see all of it\.$/,
	// One shrink may be active: the older is retired.
	/^Mulligan: a shrink is taken back: /,
	// The agent cancels the other.
	/^Mulligan: a shrink is taken back: /,
	/^Mulligan: queued: rewind of the last tool call group \(~\d+ tokens\)\. Nothing has left the agent's view yet\.$/,
	/^Mulligan: the agent rewound the last tool call group: 2 messages left its view\.$/,
	/^Note to the agent: Rewound now \(asked for earlier\): the last tool call group left your context\.$/,
	/^Mulligan: you set the checkpoint "here" here\.$/,
	/^Mulligan: queued: rewind of all since the checkpoint "here" \(~\d+ tokens\)\. Nothing has left the agent's view yet\.$/,
	/^Mulligan: the queued rewind of all since the checkpoint "here" is dropped: the user has revoked the checkpoint "here"\.$/,
];

/** The rows on the screen that are of records and notes, and no answer of a tool or notification. */
function rows(terminal: TerminalPi): readonly string[] {
	return terminal
		.screen()
		.split("\n")
		.map((line) => line.trim())
		.filter((line) => /^(Mulligan: (queued:|the queued|the agent|a shrink is|you set)|Note to the agent:)/.test(line))
		.filter((line) => !line.endsWith("nothing had changed."));
}

function expectRows(terminal: TerminalPi, expected: readonly RegExp[]): void {
	expect(rows(terminal)).toEqual(expected.map((row) => expect.stringMatching(row)));
}

describe.concurrent.each(edges)("the transcript in pi $version", (pi) => {
	test("shows what became of each op, live and after a resume, and nothing of it once switched off", async ({
		skip,
		onTestFinished,
	}) => {
		const missing = terminalMissing();
		if (missing) skip(missing);
		const cwd = mkdtempSync(join(tmpdir(), "mulligan-cwd-"));
		const agentDir = mkdtempSync(join(tmpdir(), "mulligan-agent-"));
		onTestFinished(() => {
			for (const folder of [cwd, agentDir]) rmSync(folder, { recursive: true, force: true });
		});
		const open = (mulligan: object, more: { script?: typeof SCRIPT; args: string[] }) => {
			const terminal = openTerminal({
				pi,
				extensions,
				cwd,
				agentDir,
				width: 180,
				height: 160,
				settings: { mulligan },
				...more,
			});
			onTestFinished(terminal.dispose);
			return terminal;
		};

		const live = open({ rewrites, shrink: { maxActive: 1 } }, { script: SCRIPT, args: ["go"] });
		await live.shows("first done");
		expectRows(live, ROWS.slice(0, 9));
		await live.shows(/^mulligan · 0 moments left · ~\d+ tokens shed/m);
		live.enter("/mulligan_checkpoint here");
		await live.shows('"here" is set here.');
		live.enter("on");
		await live.shows("WRONG-WAY");
		live.enter("back");
		await live.shows("second done");
		await live.shows(/^mulligan · 1 queued · 0 moments left · ~\d+ tokens shed/m);
		await revokeCheckpoint(live, "here");
		await live.shows(/^mulligan · 0 moments left · ~\d+ tokens shed/m);
		expectRows(live, ROWS);
		await live.dispose();

		const resumed = open({ rewrites, shrink: { maxActive: 1 } }, { args: ["--continue"] });
		await resumed.shows(/^mulligan · 1 moment left · ~\d+ tokens shed/m);
		expectRows(resumed, ROWS);
		await resumed.dispose();

		const off = open({ enabled: false }, { args: ["--continue"] });
		await off.shows("second done");
		expect(rows(off)).toEqual([]);
		expect(off.screen()).not.toContain("moment left");
		off.enter("/mulligan_audit");
		await off.shows("Mulligan: refused — Mulligan is disabled.");
	});
});
