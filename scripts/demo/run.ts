import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { REQUESTS_FILE, type SentRequest } from "./request.ts";
import { prompt } from "./script.ts";
import type { PiModule } from "./session.ts";
import { type Needles, writeProject } from "./workspace.ts";

/** The npm aliases of the Pi versions that the repository pins. */
const releases = { newest: "pi-newest", oldest: "pi-oldest" } as const;

export type Release = keyof typeof releases;

/** Whether a word names one of the pinned versions. */
export function isRelease(word: string): word is Release {
	return Object.hasOwn(releases, word);
}

/** What a run of pi left behind. */
export interface Run {
	readonly requests: readonly SentRequest[];
	/** The path of the session file, and its text. */
	readonly sessionFile: string;
	readonly session: string;
	readonly requestsFile: string;
	/** What pi wrote to its error output: warnings, and errors of extensions. */
	readonly warnings: string;
}

export interface RunOptions {
	readonly release: Release;
	/** Extensions to load beside the scripted provider. */
	readonly extensions: readonly string[];
	readonly needles: Needles;
	/** The folder that receives the session file and the requests. */
	readonly output: string;
}

/** What the demo sets in Pi's global settings: each op takes effect at once, and both may in one session. */
export const settings = { mulligan: { rewrites: { maxMoments: 2, flushShedTokens: 0 } } };

const TIMEOUT_MS = 60_000;

/** The repository: loaded as a package, so that its manifest says what the extension is. */
export const repository = fileURLToPath(new URL("../..", import.meta.url));

const provider = fileURLToPath(new URL("./provider.ts", import.meta.url));

/** The version of an installed Pi. */
export function versionOf(release: Release): string {
	const manifest: { version: string } = JSON.parse(readFileSync(join(packageOf(release), "package.json"), "utf8"));
	return manifest.version;
}

/** The library of an installed Pi, for reading the session files that its program wrote. */
export async function libraryOf(release: Release): Promise<PiModule> {
	return import(pathToFileURL(join(packageOf(release), "dist/index.js")).href);
}

/** Runs the real pi on a fresh copy of the project, in print mode, and removes all but its output afterwards. */
export async function runPi(options: RunOptions): Promise<Run> {
	const home = mkdtempSync(join(tmpdir(), "pi-mulligan-demo-run-"));
	const requestsFile = join(options.output, "requests.ndjson");
	try {
		mkdirSync(options.output, { recursive: true });
		writeFileSync(requestsFile, "");
		writeFileSync(join(home, "settings.json"), JSON.stringify(settings));
		writeProject(join(home, "project"), options.needles);
		const warnings = await finished(startPi(options, home, requestsFile));
		return { requests: readRequests(requestsFile), requestsFile, warnings, ...readSession(options.output) };
	} finally {
		rmSync(home, { recursive: true, force: true });
	}
}

function packageOf(release: Release): string {
	return join(repository, "node_modules", releases[release]);
}

function startPi({ release, extensions, output }: RunOptions, home: string, requestsFile: string): ChildProcess {
	const loaded = [provider, ...extensions].flatMap((extension) => ["-e", extension]);
	const session = ["--session-dir", output];
	const program = join(packageOf(release), "dist/bundle/cli.js");
	return spawn(process.execPath, [program, ...loaded, ...session, "--model", "demo/scripted", "-p", prompt], {
		cwd: join(home, "project"),
		env: {
			HOME: home,
			PATH: [dirname(process.execPath), process.env.PATH ?? ""].join(delimiter),
			PI_CODING_AGENT_DIR: home,
			PI_OFFLINE: "1",
			PI_SKIP_VERSION_CHECK: "1",
			PI_TELEMETRY: "0",
			[REQUESTS_FILE]: requestsFile,
		},
		stdio: ["ignore", "pipe", "pipe"],
		timeout: TIMEOUT_MS,
	});
}

/** Waits for pi to end well, and gives what it wrote to its error output. */
async function finished(pi: ChildProcess): Promise<string> {
	const warnings: string[] = [];
	pi.stdout?.resume();
	pi.stderr?.on("data", (chunk) => warnings.push(String(chunk)));
	const ended = await new Promise<string>((resolve, reject) => {
		pi.on("error", reject);
		pi.on("close", (code, signal) =>
			resolve(signal === null ? `exit code ${code}` : `${signal} (limit ${TIMEOUT_MS} ms)`),
		);
	});
	const written = warnings.join("").trim();
	if (ended !== "exit code 0") throw new Error(`pi ended with ${ended}:\n${written}`);
	return written;
}

function readRequests(file: string): SentRequest[] {
	const lines = readFileSync(file, "utf8").trimEnd().split("\n");
	return lines.filter((line) => line !== "").map((line) => JSON.parse(line));
}

function readSession(folder: string): Pick<Run, "session" | "sessionFile"> {
	const name = readdirSync(folder).find((file) => file.endsWith(".jsonl"));
	if (name === undefined) throw new Error(`pi left no session file in ${folder}`);
	return { sessionFile: join(folder, name), session: readFileSync(join(folder, name), "utf8") };
}
