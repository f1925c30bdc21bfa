import type { FuzzScript, FuzzStep } from "./script.ts";

/** A script as small as can be found that still breaks something: steps, turns and calls are left out one by one. */
export async function smallest(
	script: FuzzScript,
	breaks: (script: FuzzScript) => Promise<boolean>,
	most: number,
): Promise<FuzzScript> {
	let best = script;
	let left = most;
	let isSmaller = true;
	while (isSmaller) {
		isSmaller = false;
		for (const candidate of smaller(best)) {
			if (left-- <= 0) return best;
			if (!(await breaks(candidate))) continue;
			best = candidate;
			isSmaller = true;
			break;
		}
	}
	return best;
}

function* smaller(script: FuzzScript): Generator<FuzzScript> {
	const { steps } = script;
	for (let at = steps.length - 1; at >= 0; at--) yield { ...script, steps: steps.filter((_, index) => index !== at) };
	for (const [at, step] of steps.entries())
		for (const simpler of simplerSteps(step))
			yield { ...script, steps: steps.map((other, index) => (index === at ? simpler : other)) };
}

function* simplerSteps(step: FuzzStep): Generator<FuzzStep> {
	if (step.do !== "prompt") return;
	const { turns } = step;
	if (step.ends || step.steer) yield { do: "prompt", turns };
	for (let at = turns.length - 1; at >= 0; at--)
		if (turns.length > 1) yield { ...step, turns: turns.filter((_, index) => index !== at) };
	for (const [at, turn] of turns.entries())
		for (let call = turn.calls.length - 1; call >= 0; call--)
			if (turn.calls.length > 1)
				yield {
					...step,
					turns: turns.map((other, index) =>
						index === at ? { ...turn, calls: turn.calls.filter((_, number) => number !== call) } : other,
					),
				};
}
