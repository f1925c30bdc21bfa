import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { containsText, piVersions, shape } from "../../src/testing/index.ts";
import { runPi, startPi } from "./cli.ts";
import { openRpc } from "./rpc.ts";
import { openTerminal, terminalMissing } from "./terminal.ts";

const fixture = (name: string) => fileURLToPath(new URL(`../../src/testing/fixtures/${name}.ts`, import.meta.url));
const bash = (id: string, command: string) => ({ calls: [{ id, name: "bash", args: { command } }] });
const minuteMs = 60_000;
const endsOfTheRange = piVersions().filter(({ name }) => name === "oldest" || name === "newest");

beforeAll(() => {
	process.env.OF_THE_TEST = "leaked";
});
afterAll(() => {
	delete process.env.OF_THE_TEST;
});

describe.concurrent.each(endsOfTheRange)("pi $version", (pi) => {
	test("print mode answers, runs tools in its own environment, and leaves a session", async () => {
		using run = await runPi({
			pi,
			extensions: [],
			env: { GIVEN: "given" },
			script: [bash("c1", 'echo "$GIVEN:$OF_THE_TEST:$PWD"'), "done"],
			prompt: "hi",
		});
		expect([run.code, run.stdout, run.stderr]).toEqual([0, "done\n", ""]);
		expect(run.requests.map(({ messages }) => shape(messages))).toEqual([
			["user: hi"],
			["user: hi", "assistant → bash#c1", `result bash#c1: given::${run.cwd}`],
		]);
		expect(run.requests[1]?.usage?.cacheRead).toBe(run.requests[0]?.usage?.cacheWrite);
		expect(run.lines[0]).toMatchObject({ type: "session", cwd: run.cwd });
		expect(run.sessionFile?.startsWith(run.agentDir)).toBe(true);
		run.dispose();
		expect([run.cwd, run.agentDir].map((folder) => existsSync(folder))).toEqual([false, false]);
	});

	test("json mode tells its events, and a continued session meets the extension too", async () => {
		const shared = { pi, extensions: [fixture("hide-secret")] };
		using first = await runPi({ ...shared, mode: "json", script: ["one"], stdin: "the secret" });
		expect(first.events.map(({ type }) => type)).toEqual(
			expect.arrayContaining(["session", "turn_end", "agent_settled"]),
		);
		const { cwd, agentDir } = first;
		using second = await runPi({ ...shared, cwd, agentDir, args: ["--continue"], script: ["two"], prompt: "the rest" });
		expect(second.requests.map(({ messages }) => shape(messages))).toEqual([["assistant: one", "user: the rest"]]);
		expect(containsText(second.lines, "the secret")).toBe(true);
		expect(second.sessionFile).toBe(first.sessionFile);
	});

	test("what is on disk survives kill -9 in the middle of an answer", async () => {
		const started = startPi({
			pi,
			extensions: [],
			script: [bash("c1", "echo ran"), { text: "late", delayMs: minuteMs }],
			prompt: "hi",
		});
		await started.requested(2);
		started.kill();
		using killed = await started.done;
		expect(killed.code).toBeNull();
		const { cwd, agentDir } = killed;
		using resumed = await runPi({
			pi,
			extensions: [],
			cwd,
			agentDir,
			args: ["--continue"],
			script: ["on"],
			prompt: "go on",
		});
		expect(shape(resumed.requests[0]?.messages ?? [])).toEqual([
			"user: hi",
			"assistant → bash#c1",
			"result bash#c1: ran",
			"user: go on",
		]);
	});

	test("rpc mode takes prompts, steering and commands, and ends in good order", async () => {
		await using rpc = openRpc({
			pi,
			extensions: [fixture("report-start")],
			settings: { mulligan: { a: 1 } },
			script: ["one", bash("c1", "sleep 0.3; echo ran"), "two"],
		});
		await rpc.prompt("first");
		const notified = rpc.events.find(({ type, method }) => type === "extension_ui_request" && method === "notify");
		expect(JSON.parse(String(notified?.message))).toMatchObject({
			agentDir: rpc.agentDir,
			version: pi.version,
			mulligan: { a: 1 },
		});

		await rpc.send({ type: "prompt", message: "second" });
		await rpc.next("tool_execution_start", ({ toolCallId }) => toolCallId === "c1");
		await rpc.send({ type: "steer", message: "use tabs" });
		await rpc.next("agent_settled");
		expect(shape(rpc.requests().at(-1)?.messages ?? []).slice(-3)).toEqual([
			"assistant → bash#c1",
			"result bash#c1: ran",
			"user: use tabs",
		]);
		expect(await rpc.send({ type: "get_state" })).toMatchObject({ sessionFile: rpc.sessionFile() });
		await expect(rpc.send({ type: "set_model", provider: "none", modelId: "none" })).rejects.toThrow(
			"set_model failed",
		);
		expect(await rpc.close()).toBe(0);
		await expect(rpc.prompt("too late")).rejects.toThrow("Pi ended before the response to prompt");
	});

	test("rpc mode can be killed", async () => {
		await using rpc = openRpc({ pi, extensions: [], script: ["one", { text: "late", delayMs: minuteMs }] });
		await rpc.prompt("first");
		await rpc.send({ type: "prompt", message: "second" });
		await rpc.kill();
		expect(containsText(rpc.lines(), "one")).toBe(true);
		await rpc.dispose();
		expect(existsSync(rpc.agentDir)).toBe(false);
	});

	test("the user interface runs in a terminal", async ({ skip }) => {
		const missing = terminalMissing();
		if (missing) skip(missing);
		await using terminal = openTerminal({
			pi,
			extensions: [fixture("report-start")],
			script: ["forty-two", "forty-three"],
			args: ["hello"],
			width: 300,
		});
		await terminal.shows("forty-two");
		await terminal.shows(/"reason":"startup"/);
		terminal.type("and now?");
		await terminal.shows("and now?");
		terminal.press("Enter");
		await terminal.shows("forty-three");
		expect(shape(terminal.requests().at(-1)?.messages ?? [])).toEqual([
			"user: hello",
			"assistant: forty-two",
			"user: and now?",
		]);
		await terminal.dispose();
		expect(existsSync(terminal.agentDir)).toBe(false);
	});
});

test("a run that takes too long is ended and says so", async () => {
	const slow = runPi({
		extensions: [],
		script: [{ text: "late", delayMs: minuteMs }],
		prompt: "hi",
		timeoutMs: 200,
	});
	await expect(slow).rejects.toThrow("Pi took longer than 200 ms.");
});
