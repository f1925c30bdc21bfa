import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { piVersions } from "../src/testing/index.ts";
import { cases } from "./bench/cases.ts";
import { figuresOf } from "./bench/figures.ts";
import { logOf } from "./bench/log.ts";
import { measure } from "./bench/measure.ts";
import { head, legend, row } from "./bench/table.ts";

const usage = `npm run bench -- [options]

Times our handlers in real Pi sessions against the clone of the message list that Pi makes for each request.

  --pi oldest|newest   only this one of the installed Pi versions (default: both)
  --messages N         only sessions of this size: 200, 2000 or 20000
  --help               this text
`;

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

const options = readOptions();
if (options.help) console.log(usage);
else await bench(options);

async function bench({ pi, messages }: { readonly pi?: string; readonly messages?: string }): Promise<void> {
	const versions = piVersions().filter(({ name }) => (pi ? name === pi : name === "oldest" || name === "newest"));
	const shapes = cases().filter((shape) => !messages || shape.messages === Number(messages));
	if (versions.length === 0 || shapes.length === 0) fail("Nothing to measure.");
	const folder = mkdtempSync(join(tmpdir(), "mulligan-bench-"));
	console.log(`${machine()}\n\n${head()}`);
	try {
		for (const shape of shapes) {
			const sessionFile = logOf(shape).write(join(folder, "session.jsonl"));
			for (const version of versions) {
				collectGarbage();
				console.log(row(figuresOf(version.version, shape, await measure(version, sessionFile, shape))));
			}
		}
	} finally {
		rmSync(folder, { recursive: true, force: true });
	}
	console.log(`\n${legend()}`);
}

function machine(): string {
	const cores = `${availableParallelism()} cores (${cpus()[0]?.model ?? "unknown"}, load ${loadavg()[0]?.toFixed(1)})`;
	const isBundled = existsSync(new URL("../dist/extension.js", import.meta.url));
	return `${cores}, node ${process.versions.node}, extension from ${isBundled ? "dist" : "source"}`;
}

function readOptions() {
	try {
		return parseArgs({
			options: {
				pi: { type: "string" },
				messages: { type: "string" },
				help: { type: "boolean", default: false },
			},
		}).values;
	} catch (error) {
		return fail((error as Error).message);
	}
}

function fail(message: string): never {
	console.error(`${message}\n\n${usage}`);
	process.exit(2);
}
