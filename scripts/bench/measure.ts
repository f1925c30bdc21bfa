import { copyFileSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { openSession, type PiVersion } from "../../src/testing/index.ts";
import { loadPi } from "../../src/testing/pi-versions.ts";
import type { Effort } from "./cases.ts";
import { benchModel, PROVIDER, REQUESTS_PER_PROMPT } from "./provider.ts";
import { startedAt } from "./stamp.ts";
import { Stopwatch, type Turn } from "./stopwatch.ts";

/** What one resumed session took. */
export interface Resume {
	/** Our `session_start`, in milliseconds. */
	readonly startMs: number;
	/** The turn of the first request. */
	readonly first: Turn;
	/** The turns after it. */
	readonly steady: readonly Turn[];
}

const stamp = fileURLToPath(new URL("stamp.ts", import.meta.url));
const extension = fileURLToPath(new URL("../../src/index.ts", import.meta.url));

/** When a session has taken this long it is not resumed again: the whole bench is to end within two minutes. */
const MS_FOR_A_CASE = 1_000;

/** Resumes copies of a session file in a real Pi, and has the agent work in each. */
export async function measure(pi: PiVersion, sessionFile: string, effort: Effort): Promise<Resume[]> {
	const resumes: Resume[] = [];
	const deadline = performance.now() + MS_FOR_A_CASE;
	for (let index = 0; index < effort.resumes; index++) {
		if (index > 0 && performance.now() > deadline) break;
		const copy = sessionFile.replace(/\.jsonl$/, `-${pi.version}-${index}.jsonl`);
		copyFileSync(sessionFile, copy);
		resumes.push(await resume(pi, copy, effort.requests));
		rmSync(copy);
	}
	return resumes;
}

async function resume(pi: PiVersion, sessionFile: string, requests: number): Promise<Resume> {
	const { createStream } = await loadPi(pi);
	let startMs = 0;
	await using opened = await openSession({
		pi,
		sessionFile,
		extensionPaths: [stamp, extension],
		extensions: [
			benchModel(createStream),
			(api) => {
				api.on("session_start", () => {
					startMs = performance.now() - startedAt();
				});
			},
		],
		settings: { compaction: { enabled: false } },
		tools: { look: () => "What was looked for, in a few words." },
	});
	const { session } = opened;
	const model = session.modelRuntime.getModel(PROVIDER, PROVIDER);
	if (!model) throw new Error(`Pi ${pi.version} has no model ${PROVIDER}.`);
	await session.setModel(model);
	const stopwatch = new Stopwatch();
	stopwatch.watchHandlers(session, extension);
	const stop = stopwatch.watchClones();
	try {
		for (let made = 0; made < requests; made += REQUESTS_PER_PROMPT) await opened.prompt("Look at the next file.");
	} finally {
		stop();
	}
	if (opened.errors.length > 0) throw new Error(`Pi ${pi.version} reports ${JSON.stringify(opened.errors[0])}`);
	const [first, ...steady] = stopwatch.turns;
	if (!first || steady.length < requests - 1) throw new Error(`Pi ${pi.version} made too few requests.`);
	return { startMs, first, steady };
}
