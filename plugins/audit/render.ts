import type { ScreenLine } from "../../src/plugin.ts";

/** A line of the report that begins with a size. */
const SIZED = /^( {2,}([\d,]+)) {2}(.*)$/;

/** The report for a terminal, with a bar beside each size. Collapsed: its first paragraph. */
export function auditLines({
	text,
	isExpanded,
}: {
	readonly text: string;
	readonly isExpanded: boolean;
}): readonly ScreenLine[] {
	const paragraphs = text.split("\n\n").map((paragraph) => withBars(paragraph.split("\n")));
	const [head = [], ...rest] = paragraphs;
	if (isExpanded) return [...head, ...rest.flatMap((lines) => ["", ...lines])];
	const more = rest.flat().length;
	return more === 0 ? head : [...head, `… ${more} more line(s)`];
}

/** Each size of a paragraph against its largest. */
function withBars(lines: readonly string[]): readonly ScreenLine[] {
	const rows = lines.map((line) => SIZED.exec(line));
	const sizes = rows.map((row) => Number(row?.[2]?.replaceAll(",", "") ?? 0));
	const most = Math.max(1, ...sizes);
	return lines.map((line, index) => {
		const [, size, , text = ""] = rows[index] ?? [];
		return size === undefined ? line : { lead: `${size} ${bar((sizes[index] ?? 0) / most)} `, text };
	});
}

const EIGHTHS = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
const CELLS = 10;

/** A bar for a fraction from 0 to 1. */
function bar(fraction: number): string {
	const eighths = Math.round(fraction * CELLS * EIGHTHS.length);
	return `${"█".repeat(Math.floor(eighths / EIGHTHS.length))}${EIGHTHS[eighths % EIGHTHS.length]}`.padEnd(CELLS);
}
