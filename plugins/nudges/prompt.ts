/** What the model reads of the nudges, each line with the reason why it is as it is. Only the lines are sent. */
export const LINES = {
	bloat: [
		(kilobytes: number, ways: string) =>
			`[mulligan] This result is ${kilobytes} KB: once you have what you need from it, ${ways}.`,
		"The one figure that matters, at the place where it matters, and what can be done. First the result is used.",
	],
	drift: [
		(thousands: string) =>
			`Previous turn added ~${thousands}k tokens to your context. Keep this turn's outputs lean — pipe large command output, read slices, or summarize results as you produce them.`,
		"Awareness only: no tool of ours is named, since what has been read may be needed. The way to act on it is the next call.",
	],
	highWater: [
		(percent: number) =>
			`[mulligan] Context is at ~${percent}% of the window; review recent output for reclaimable space.`,
		"Once a crossing: repeated, it would be a bill and no news.",
	],
} as const;

/** What a tool does to a large result, in the words of the bloat line. */
export const WAYS = {
	mulligan_shrink: ["swaps it for your summary", "Keeps what is needed: the first choice."],
	mulligan_rewind: ["hides the whole call", "For a result that was not worth having."],
} as const;

export type WayOut = keyof typeof WAYS;

/** Under a result of `bytes`, with the tools that can be called now. */
export function bloatLine(bytes: number, tools: readonly WayOut[]): string {
	const ways = tools.map((tool) => `${tool} ${WAYS[tool][0]}`).join(" and ");
	return LINES.bloat[0](Math.max(1, Math.round(bytes / 1024)), ways);
}

/** After a turn that added `tokens`. */
export function driftLine(tokens: number): string {
	return LINES.drift[0]((tokens / 1000).toFixed(1));
}

/** At a share of the window from 0 to 1. */
export function highWaterLine(share: number): string {
	return LINES.highWater[0](Math.round(share * 100));
}
