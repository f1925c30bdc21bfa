import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { FileEntry } from "@earendil-works/pi-coding-agent";
import { type ModelRequest, type ModelSpec, newestPi, type PiVersion, type Reply } from "../../src/testing/index.ts";
import type { Script } from "./scripted-provider.ts";

const here = dirname(fileURLToPath(import.meta.url));
const repository = join(here, "../..");

export interface LaunchOptions {
	/** The newest installed unless given. */
	pi?: PiVersion;
	/** Answers of the model, one for each request; each start of the program begins with the first. */
	script?: readonly (string | Reply)[];
	models?: readonly ModelSpec[];
	/** Given with `-e`, in this order; the extension of this repository unless given. */
	extensions?: readonly string[];
	/** More arguments of the program. */
	args?: readonly string[];
	/** Temporary, and removed with the run, unless given. */
	cwd?: string;
	/** Pi's config folder and the program's home; temporary, and removed with the run, unless given. */
	agentDir?: string;
	/** Merged into `settings.json` in `agentDir`. */
	settings?: Record<string, unknown>;
	/** More variables; the program sees no others but what Pi needs. */
	env?: Readonly<Record<string, string>>;
	/** How long anything waited for may take; 30 seconds unless given. */
	timeoutMs?: number;
}

/** A real `pi` program, ready to start: what to run, and where to look for what it did. */
export interface Launch {
	command: string;
	args: string[];
	env: Record<string, string>;
	cwd: string;
	agentDir: string;
	timeoutMs: number;
	/** Every request that the model got so far, in order. */
	requests(): ModelRequest[];
	/** The newest session file, if there is one. */
	sessionFile(): string | undefined;
	/** That file as it is on disk, header first. */
	lines(): FileEntry[];
	/** Removes the temporary folders. */
	remove(): void;
}

/** Prepares folders, script and environment for the program with these arguments. */
export function prepareLaunch(options: LaunchOptions, modeArgs: readonly string[]): Launch {
	const made: string[] = [];
	const makeFolder = (name: string) => {
		const folder = mkdtempSync(join(tmpdir(), `mulligan-${name}-`));
		made.push(folder);
		return folder;
	};
	const cwd = options.cwd ?? makeFolder("cwd");
	const agentDir = options.agentDir ?? makeFolder("agent");
	const scriptDir = makeFolder("script");
	const requestLog = join(scriptDir, "requests.jsonl");
	writeSettings(agentDir, options.settings ?? {});
	const models = options.models ?? [{ id: "model-a" }];
	const scriptFile = writeScript(scriptDir, { models, steps: options.script ?? [], requestLog });
	const extensions = [
		join(here, "scripted-provider.ts"),
		...(options.extensions ?? [join(repository, "src/index.ts")]),
	];

	return {
		command: nodeProgram(),
		args: [
			join((options.pi ?? newestPi()).root, "dist/bundle/cli.js"),
			...extensions.flatMap((path) => ["-e", path]),
			...["--model", `scripted/${models[0]?.id}`],
			...(options.args ?? []),
			...modeArgs,
		],
		env: {
			HOME: agentDir,
			PATH: `${dirname(nodeProgram())}:/usr/local/bin:/usr/bin:/bin`,
			TERM: "xterm-256color",
			LANG: "C.UTF-8",
			PI_CODING_AGENT_DIR: agentDir,
			PI_OFFLINE: "1",
			PI_SKIP_VERSION_CHECK: "1",
			PI_TELEMETRY: "0",
			PI_SCRIPT: scriptFile,
			...options.env,
		},
		cwd,
		agentDir,
		timeoutMs: options.timeoutMs ?? 30_000,
		requests: () => readRequests(requestLog),
		sessionFile: () => newestSession(join(agentDir, "sessions")),
		lines: () => readJsonLines(newestSession(join(agentDir, "sessions"))),
		remove: () => {
			for (const folder of made) rmSync(folder, { recursive: true, force: true });
		},
	};
}

/** This process's Node where Pi runs on it, the one of the dev dependencies otherwise. */
function nodeProgram(): string {
	const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
	const isNewEnough = major > 22 || (major === 22 && minor >= 19);
	return isNewEnough ? process.execPath : join(repository, "node_modules/node/bin/node");
}

function writeSettings(agentDir: string, settings: Record<string, unknown>): void {
	const file = join(agentDir, "settings.json");
	const before = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {};
	mkdirSync(agentDir, { recursive: true });
	writeFileSync(file, JSON.stringify({ retry: { enabled: false }, ...before, ...settings }));
}

function writeScript(folder: string, script: Script): string {
	const file = join(folder, "script.json");
	writeFileSync(file, JSON.stringify(script));
	return file;
}

function readRequests(file: string): ModelRequest[] {
	const requests: ModelRequest[] = [];
	for (const line of readJsonLines<RequestLine>(file)) {
		if (line.request) requests.push({ ...line.request, usage: undefined });
		const answered = line.number === undefined ? undefined : requests[line.number];
		if (answered) answered.usage = line.usage;
	}
	return requests;
}

interface RequestLine {
	request?: ModelRequest;
	number?: number;
	usage?: ModelRequest["usage"];
}

function newestSession(folder: string): string | undefined {
	if (!existsSync(folder)) return undefined;
	const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".jsonl"));
	const newest = files.sort().at(-1);
	return newest === undefined ? undefined : join(folder, newest);
}

/** A line that was cut short by a kill is left out. */
function readJsonLines<T = FileEntry>(file: string | undefined): T[] {
	if (!file || !existsSync(file)) return [];
	const text = readFileSync(file, "utf8");
	return text
		.slice(0, text.lastIndexOf("\n") + 1)
		.split("\n")
		.filter(Boolean)
		.map((line) => JSON.parse(line) as T);
}

/** Resolves when `condition` holds, which is asked often; rejects with `describe()` after `timeoutMs`. */
export async function until(condition: () => boolean, timeoutMs: number, describe: () => string): Promise<void> {
	const end = performance.now() + timeoutMs;
	while (!condition()) {
		if (performance.now() > end) throw new Error(describe());
		await new Promise((resolve) => setTimeout(resolve, 20));
	}
}
