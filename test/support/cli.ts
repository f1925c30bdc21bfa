import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import type { FileEntry } from "@earendil-works/pi-coding-agent";
import type { ModelRequest } from "../../src/testing/index.ts";
import { type Launch, type LaunchOptions, prepareLaunch, until } from "./launch.ts";

export interface RunOptions extends LaunchOptions {
	/** `print` is `pi -p`, `json` is `pi --mode json`; `print` unless given. */
	mode?: "print" | "json";
	prompt?: string;
	/** Text for standard input, which is closed after it. */
	stdin?: string;
}

/** What a run of the program left. */
export interface PiRun extends Disposable {
	/** Null when a signal ended it. */
	code: number | null;
	stdout: string;
	stderr: string;
	/** What `json` mode wrote, one object a line. */
	events: Record<string, unknown>[];
	requests: ModelRequest[];
	sessionFile: string | undefined;
	lines: FileEntry[];
	agentDir: string;
	cwd: string;
	/** Removes the temporary folders. */
	dispose(): void;
}

/** A program that is running. */
export interface StartedPi {
	/** Resolves when the model has got `count` requests. */
	requested(count: number): Promise<void>;
	/** Ends the program with SIGKILL, as a crash would. */
	kill(): void;
	/** Resolves when the program has ended; rejects, with all output, if that takes too long. */
	done: Promise<PiRun>;
}

/** Runs the real `pi` to its end. */
export function runPi(options: RunOptions): Promise<PiRun> {
	return startPi(options).done;
}

export function startPi(options: RunOptions): StartedPi {
	const modeArgs = options.mode === "json" ? ["--mode", "json"] : ["-p"];
	const launch = prepareLaunch(options, [...modeArgs, ...(options.prompt === undefined ? [] : [options.prompt])]);
	const child = spawnPi(launch);
	child.stdin.end(options.stdin ?? "");
	const done = outcome(child, launch, options.mode ?? "print");
	return {
		requested: async (count) => {
			const enough = () => launch.requests().length >= count;
			const ended = () => child.exitCode !== null || child.signalCode !== null;
			const missing = () => `Pi made ${launch.requests().length} of ${count} requests.`;
			await until(() => enough() || ended(), launch.timeoutMs, missing);
			if (!enough()) throw new Error(missing());
		},
		kill: () => void child.kill("SIGKILL"),
		done,
	};
}

export function spawnPi(launch: Launch): ChildProcessWithoutNullStreams {
	const child = spawn(launch.command, launch.args, { cwd: launch.cwd, env: launch.env, stdio: "pipe" });
	child.stdin.on("error", () => {});
	return child;
}

function outcome(child: ChildProcessWithoutNullStreams, launch: Launch, mode: "print" | "json"): Promise<PiRun> {
	const output = { stdout: "", stderr: "" };
	child.stdout.setEncoding("utf8").on("data", (text: string) => {
		output.stdout += text;
	});
	child.stderr.setEncoding("utf8").on("data", (text: string) => {
		output.stderr += text;
	});
	return new Promise((resolve, reject) => {
		const timer = setTimeout(() => {
			child.kill("SIGKILL");
			launch.remove();
			reject(new Error(`Pi took longer than ${launch.timeoutMs} ms.\n${output.stdout}\n${output.stderr}`));
		}, launch.timeoutMs);
		child.on("error", reject);
		child.on("close", (code) => {
			clearTimeout(timer);
			resolve(piRun(code, output, launch, mode));
		});
	});
}

function piRun(
	code: number | null,
	{ stdout, stderr }: { stdout: string; stderr: string },
	launch: Launch,
	mode: string,
): PiRun {
	return {
		code,
		stdout,
		stderr,
		events: mode === "json" ? parseLines(stdout) : [],
		requests: launch.requests(),
		sessionFile: launch.sessionFile(),
		lines: launch.lines(),
		agentDir: launch.agentDir,
		cwd: launch.cwd,
		dispose: launch.remove,
		[Symbol.dispose]: launch.remove,
	};
}

function parseLines(text: string): Record<string, unknown>[] {
	return text
		.split("\n")
		.filter(Boolean)
		.map((line) => JSON.parse(line));
}
