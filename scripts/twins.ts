import { parseArgs } from "node:util";
import { type PiVersion, piVersions } from "../src/testing/index.ts";
import { compare } from "./twins/bill.ts";
import { type Row, render } from "./twins/report.ts";
import { runTwins } from "./twins/run.ts";
import { scenarios } from "./twins/scenarios.ts";

const usage = `npm run bench:twins -- [options]

Plays scripted tasks twice on a real Pi session, with mulligan and without, and prints what each twin used and
what that would cost. The model and its prompt cache are simulated: no key, no network.

  --pi newest|oldest   which of the installed Pi versions runs (default: newest)
  --later TURNS        turns of ordinary work after each scenario (default: 15)
  --help               this text
`;

const arguments_ = readArguments();
if (arguments_.help) console.log(usage);
else await report(arguments_);

async function report({ pi, later }: { readonly pi: PiVersion; readonly later: number }): Promise<void> {
	const rows: Row[] = [];
	for (const scenario of Object.values(scenarios)) {
		const comparison = compare(await runTwins(scenario, { pi, later }), later);
		rows.push({ name: scenario.name, comparison });
	}
	console.log(render({ pi: pi.version, later, rows }));
}

function readArguments(): { pi: PiVersion; later: number; help: boolean } {
	try {
		const { values } = parseArgs({
			options: {
				pi: { type: "string", default: "newest" },
				later: { type: "string", default: "15" },
				help: { type: "boolean", default: false },
			},
		});
		const pi = piVersions().find(({ name }) => name === values.pi);
		if (!pi) throw new Error(`--pi: no Pi named ${values.pi} is installed`);
		const later = Number(values.later);
		if (!Number.isInteger(later) || later < 0) throw new Error(`--later takes a number of turns, not ${values.later}`);
		return { pi, later, help: values.help };
	} catch (error) {
		console.error(`${(error as Error).message}\n\n${usage}`);
		process.exit(2);
	}
}
