import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { containsText, piVersions, type Step, shape } from "../../src/testing/index.ts";
import { runPi, startPi } from "../support/cli.ts";
import { atOnce, call } from "../support/mulligan.ts";
import { openRpc } from "../support/rpc.ts";
import { openTerminal, terminalMissing } from "../support/terminal.ts";

const extensions = [fileURLToPath(new URL("../..", import.meta.url))];
const settings = { mulligan: atOnce };
const edges = piVersions().filter(({ name }) => name === "oldest" || name === "newest");
/** What the command prints is not in the command itself, so that a hidden result can be told from its call. */
const bash = (id: string) => call.tool(id, "bash", { command: "seq -s, 1 400" });
const NEEDLE = "397,398,399,400";
const rewound = [{ calls: [bash("c1")] }, { calls: [call.rewind("c2")] }, "done"] as const;

function expectRewound(messages: Parameters<typeof shape>[0]) {
	expect(containsText(messages, NEEDLE)).toBe(false);
	expect(shape(messages)[3]).toMatch(/^user: Rewound: the last tool call group left/);
}

describe.concurrent.each(edges)("the program pi $version", (pi) => {
	test.each(["print", "json"] as const)("rewinds in %s mode, and --continue keeps it", async (mode) => {
		using run = await runPi({ pi, extensions, settings, mode, script: [...rewound], prompt: "go" });
		expect([run.code, run.stderr]).toEqual([0, ""]);
		expectRewound(run.requests[2]?.messages ?? []);
		expect(containsText(run.lines, NEEDLE)).toBe(true);
		const { cwd, agentDir } = run;
		using next = await runPi({
			pi,
			extensions,
			settings,
			cwd,
			agentDir,
			args: ["--continue"],
			script: ["more"],
			prompt: "on",
		});
		expectRewound(next.requests[0]?.messages ?? []);
	});

	test("rewinds in rpc mode", async () => {
		await using rpc = openRpc({ pi, extensions, settings, script: [...rewound] });
		await rpc.prompt("go");
		expectRewound(rpc.requests().at(-1)?.messages ?? []);
	});

	test("rewinds in a terminal, and the human sees the note", async ({ skip }) => {
		const missing = terminalMissing();
		if (missing) skip(missing);
		await using terminal = openTerminal({ pi, extensions, settings, script: [...rewound], args: ["go"], width: 200 });
		await terminal.shows("Rewound: the last tool call group left your context.");
		await terminal.shows("done");
		expectRewound(terminal.requests().at(-1)?.messages ?? []);
	});

	test("killed right after a rewind was stored, it resumes with the rewind in force", async () => {
		const slow: Step = { text: "late", delayMs: 60_000 };
		const started = startPi({ pi, extensions, settings, script: [...rewound.slice(0, 2), slow], prompt: "go" });
		await started.requested(3);
		started.kill();
		using killed = await started.done;
		const { cwd, agentDir } = killed;
		using next = await runPi({
			pi,
			extensions,
			settings,
			cwd,
			agentDir,
			args: ["--continue"],
			script: ["more"],
			prompt: "on",
		});
		expectRewound(next.requests[0]?.messages ?? []);
	});

	test("killed with an op in the queue, it resumes with the op still waiting", async () => {
		const slow: Step = { text: "late", delayMs: 60_000 };
		const queueing = { mulligan: { rewrites: { maxMoments: 1, flushShedTokens: 1e6 } } };
		const start = { pi, extensions, settings: queueing };
		const started = startPi({ ...start, script: [...rewound.slice(0, 2), slow], prompt: "go" });
		await started.requested(3);
		started.kill();
		using killed = await started.done;
		const { cwd, agentDir } = killed;
		const script = [{ calls: [call.tool("a1", "mulligan_audit")] }, "done"];
		using next = await runPi({ ...start, cwd, agentDir, args: ["--continue"], script, prompt: "on" });
		expect(containsText(next.requests[0]?.messages, "Rewound")).toBe(false);
		expect(containsText(next.requests[1]?.messages, "Rewound now (asked for earlier)")).toBe(true);
	});
});
