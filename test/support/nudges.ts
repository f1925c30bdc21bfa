import { type ModelRequest, textOf } from "../../src/testing/index.ts";

/** The lines of the nudges, word for word; the figure is the first group. */
export const DRIFT =
	/^Previous turn added ~(\d+\.\d)k tokens to your context\. Keep this turn's outputs lean — pipe large command output, read slices, or summarize results as you produce them\.$/;
export const HIGH = /^\[mulligan\] Context is at ~(\d+)% of the window; review recent output for reclaimable space\.$/;
export const BLOAT = /^\[mulligan\] This result is \d+ KB: .+\.$/;

/** The ephemeral lines of a request: those of the message at its end. */
export function annotated({ messages }: ModelRequest): readonly string[] {
	const last = messages.at(-1);
	const lines = last?.role === "user" ? textOf(last).split("\n") : [];
	return lines.filter((line) => DRIFT.test(line) || HIGH.test(line));
}
