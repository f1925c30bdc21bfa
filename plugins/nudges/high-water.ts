import type { PluginApi } from "../../src/plugin.ts";
import type { NudgesOptions } from "./options.ts";
import { highWaterLine } from "./prompt.ts";

/** How full the window is. Tokens are plain estimates; the share is calibrated, so it may move while the view stands still. */
export interface Fill {
	readonly tokens: number;
	readonly window: number | undefined;
	readonly share: number | undefined;
}

/** The view is above the fraction. */
export interface Crossing {
	/** The fullest it has been since. */
	readonly peakTokens: number;
	readonly window: number | undefined;
}

/**
 * Whether the view is above the fraction, given whether it was. It falls below only by getting smaller or by a larger
 * window: a share that moves because the calibration does is no fall.
 */
export function crossingAt(fill: Fill, before: Crossing | undefined, fraction: number): Crossing | undefined {
	const { tokens, window, share } = fill;
	if (share === undefined) return before;
	const hasFallen = before === undefined || tokens < before.peakTokens || window !== before.window;
	if (share < fraction && hasFallen) return undefined;
	return { peakTokens: Math.max(tokens, before?.peakTokens ?? 0), window };
}

/** Says once that the view has crossed the fraction. A session that starts above it has crossed before. */
export function watchHighWater({ hooks, options, session }: PluginApi<NudgesOptions>): void {
	let crossing: Crossing | undefined;

	hooks.onSession.tap("nudges:high-water", ({ reason }) => {
		if (reason === "tree") return;
		const { viewTokens: tokens, window, share } = session;
		crossing = crossingAt({ tokens, window, share }, undefined, options.highWaterFraction);
	});

	hooks.onView.tap("nudges:high-water", (view) => {
		const before = crossing;
		crossing = crossingAt(view, before, options.highWaterFraction);
		if (!before && crossing && view.share !== undefined) view.annotate(highWaterLine(view.share));
	});
}
