import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { compare } from "./demo/compare.ts";
import { plainInk, render, terminalInk } from "./demo/report.ts";
import { isRelease, libraryOf, type Release, repository, runPi, settings, versionOf } from "./demo/run.ts";
import { createNeedles } from "./demo/workspace.ts";

const usage = `npm run demo -- [options]

Runs the real pi program, twice, on a small project, with a scripted model that needs no key and no
network: with pi-mulligan, which rewinds, shrinks and cancels, and without. Prints what each request sent.
Exits with 1 if hidden text reached the model, a note or an original is missing, or pi failed.

  --pi newest|oldest   which of the installed Pi versions runs (default: newest)
  --extension PATH     the extension under test (default: this repository, as a package)
  --help               this text
`;

const { pi, extension, help } = readArguments();
if (help) console.log(usage);
else await demo(pi, extension).catch((error: Error) => fail([error.message]));

async function demo(release: Release, extension: string): Promise<void> {
	const folder = mkdtempSync(join(tmpdir(), "pi-mulligan-demo-"));
	const needles = createNeedles();
	const [mulligan, twin] = await Promise.all([
		runPi({ release, needles, extensions: [extension], output: folder }),
		runPi({ release, needles, extensions: [], output: join(folder, "twin") }),
	]);
	const { faults, ...figures } = compare(await libraryOf(release), { mulligan, twin, needles });
	const { sessionFile, requestsFile } = mulligan;
	const report = { ...figures, sessionFile, requestsFile, pi: versionOf(release), settings: JSON.stringify(settings) };
	console.log(render(report, hasInk() ? terminalInk : plainInk));
	if (mulligan.warnings !== "") console.error(`\npi wrote:\n${mulligan.warnings}`);
	if (faults.length > 0) fail(faults);
}

function readArguments(): { pi: Release; extension: string; help: boolean } {
	try {
		const { values } = parseArgs({
			options: {
				pi: { type: "string", default: "newest" },
				extension: { type: "string", default: repository },
				help: { type: "boolean", default: false },
			},
		});
		if (!isRelease(values.pi)) throw new Error(`--pi takes newest or oldest, not ${values.pi}`);
		return { pi: values.pi, extension: resolve(values.extension), help: values.help };
	} catch (error) {
		console.error(`${(error as Error).message}\n\n${usage}`);
		process.exit(2);
	}
}

function hasInk(): boolean {
	return process.stdout.isTTY && !process.env.NO_COLOR;
}

function fail(faults: readonly string[]): void {
	console.error(["", "The demo failed:", ...faults.map((fault) => `- ${fault}`)].join("\n"));
	process.exitCode = 1;
}
