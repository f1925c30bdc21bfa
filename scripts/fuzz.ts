import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { type PiVersion, piVersions } from "../src/testing/index.ts";
import { drive } from "./fuzz/drive.ts";
import { type FuzzScript, scriptOf } from "./fuzz/script.ts";
import { smallest } from "./fuzz/shrink.ts";

const usage = `tsx scripts/fuzz.ts [options]

Drives a real Pi with random scripts of prompts, parallel calls, ops, cancels, compactions, /tree, forks, reloads, resumes
on other versions of Pi and changes of model, and checks each request against what the session file says.

  --seconds N   how long; 60 unless given
  --scripts N   how many scripts instead
  --seed N      of the first script; the next has the next number. From the clock unless given
  --pi NAME     oldest, newest, a version, or all: each script begins on one and may move to another; all unless given
  --replay F    play the script in this file, as a failure prints it, once
`;

const { values } = parseArgs({
	options: {
		seconds: { type: "string", default: "60" },
		scripts: { type: "string" },
		seed: { type: "string" },
		pi: { type: "string", default: "all" },
		replay: { type: "string" },
		help: { type: "boolean" },
	},
});

/** Tries at making a failing script smaller. */
const MOST_TRIES = 150;

if (values.help) console.log(usage);
else process.exitCode = await main();

async function main(): Promise<number> {
	const pis = piVersions().filter(
		({ name, version }) => values.pi === "all" || name === values.pi || version === values.pi,
	);
	if (pis.length === 0) {
		console.error(
			`There is no Pi ${values.pi}; there are ${piVersions()
				.map(({ name, version }) => `${name} (${version})`)
				.join(", ")}.`,
		);
		return 2;
	}
	if (values.replay !== undefined) return judge(JSON.parse(readFileSync(values.replay, "utf8")) as FuzzScript, pis);
	const [seconds, scripts, seed] = [number("seconds"), number("scripts"), number("seed")];
	if ([seconds, scripts, seed].some(Number.isNaN)) {
		console.error(usage);
		return 2;
	}
	return search(pis, { seconds: seconds ?? 60, scripts, seed: seed ?? Date.now() % 1_000_000_000 });
}

function number(name: "seconds" | "scripts" | "seed"): number | undefined {
	const given = values[name];
	return given === undefined ? undefined : Number(given);
}

async function search(
	pis: readonly PiVersion[],
	{ seconds, scripts = Number.POSITIVE_INFINITY, seed }: { seconds: number; scripts: number | undefined; seed: number },
): Promise<number> {
	const end = scripts === Number.POSITIVE_INFINITY ? performance.now() + seconds * 1000 : Number.POSITIVE_INFINITY;
	const total = { scripts: 0, steps: 0, requests: 0, hidden: 0, shrunk: 0, waiting: 0 };
	const started = performance.now();
	for (let next = seed; total.scripts < scripts && performance.now() < end; next++) {
		const script = scriptOf(next);
		const { faults, ...counts } = await drive(script, pis);
		total.scripts++;
		for (const [name, count] of Object.entries(counts)) total[name as keyof typeof counts] += count;
		if (faults.length === 0) continue;
		console.error(`seed ${next}: ${faults.join("\n  ")}`);
		const small = await smallest(
			script,
			async (candidate) => (await drive(candidate, pis)).faults.length > 0,
			MOST_TRIES,
		);
		await judge(small, pis);
		return 1;
	}
	const took = (performance.now() - started) / 1000;
	const names = pis.map(({ version }) => version).join(", ");
	console.log(
		`${total.scripts} scripts from seed ${seed}, ${total.steps} steps, ${total.requests} requests checked (${total.hidden} with something rewound, ${total.shrunk} shrunk, ${total.waiting} waiting) in ${took.toFixed(0)} s on Pi ${names}: nothing broke.`,
	);
	return 0;
}

/** Plays one script, and prints it with what it breaks. */
async function judge(script: FuzzScript, pis: readonly PiVersion[]): Promise<number> {
	const { faults, requests } = await drive(script, pis);
	console.log(JSON.stringify(script));
	if (faults.length === 0) console.log(`${requests} requests checked: nothing broke.`);
	else console.error(faults.map((fault) => `- ${fault}`).join("\n"));
	return faults.length === 0 ? 0 : 1;
}
