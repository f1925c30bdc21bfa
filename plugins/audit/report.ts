import type { Audit, Row } from "./measure.ts";

const number = new Intl.NumberFormat("en-US");

/** The report as the model and the human read it. `activated`: what became active with this audit. */
export function reportText(audit: Audit, activated: readonly string[] = []): string {
	return [
		...head(audit),
		...activated.map((what) => `Activated: ${what}.`),
		...list(audit, () => ""),
		...rest(audit),
	].join("\n");
}

/** The report for a terminal: a bar beside each size. Collapsed it is the head and the suggestion. */
export function reportLines(audit: Audit, isExpanded: boolean): readonly string[] {
	if (!isExpanded) return [...head(audit), ...suggestion(audit)];
	const most = audit.largest[0]?.tokens ?? 1;
	return [...head(audit), ...list(audit, ({ tokens }) => `${bar(tokens / most)} `), ...rest(audit)];
}

function head(audit: Audit): readonly string[] {
	const of =
		audit.window === undefined ? "" : ` of ${number.format(audit.window)}, ${percent(audit.share ?? 0)} of the window`;
	return [
		`Context: ~${number.format(audit.totalTokens)} tokens${of} (confidence ${audit.confidence})`,
		`Prompt and tools ~${number.format(audit.promptTokens)}; ${audit.messages} message(s) in view`,
	];
}

function list({ largest }: Audit, before: (row: Row) => string): readonly string[] {
	if (largest.length === 0) return [];
	const width = Math.max(...largest.map(({ tokens }) => number.format(tokens).length));
	const whats = Math.max(...largest.map(({ what }) => what.length));
	return [
		"Largest:",
		...largest.map((row) =>
			[
				`  ${number.format(row.tokens).padStart(width)} ${before(row)}${row.what.padEnd(whats)}`,
				...(row.hint ? [row.hint] : []),
				...(row.shrinkId === undefined ? [] : [`[${row.shrinkId}]`]),
				...(row.aboveBytes === undefined ? [] : [`⚠ over ${number.format(row.aboveBytes)} bytes`]),
			]
				.join("  ")
				.trimEnd(),
		),
	];
}

function rest(audit: Audit): readonly string[] {
	const volume = audit.queued.reduce((sum, { shedTokens }) => sum + shedTokens, 0);
	const queued =
		audit.queued.length === 0 ? "none queued" : `${audit.queued.length} queued (~${Math.round(volume)} tokens)`;
	return [
		`Edits: ${audit.rewinds} rewind(s) and ${audit.shrinks} shrink(s) active, ${queued}, ${audit.retired} retired; ${audit.spent} of ${audit.maxMoments} moment(s) spent`,
		...audit.queued.map(({ describe }) => `  queued: ${describe}`),
		...(audit.checkpoints.length === 0
			? []
			: [`${audit.checkpoints.length} checkpoint(s) [${audit.checkpoints.join(", ")}] (user-set)`]),
		...suggestion(audit),
	];
}

function suggestion({ suggestion: what }: Audit): readonly string[] {
	return what === undefined ? [] : [`Largest removable: ${what}`];
}

const EIGHTHS = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
const BAR_CELLS = 12;

/** A bar of 12 cells for a share from 0 to 1. */
function bar(share: number): string {
	const eighths = Math.round(Math.min(1, Math.max(0, share)) * BAR_CELLS * 8);
	return `${"█".repeat(eighths >> 3)}${EIGHTHS[eighths & 7]}`.padEnd(BAR_CELLS);
}

function percent(share: number): string {
	return `${(share * 100).toFixed(share < 0.1 ? 1 : 0)} %`;
}
