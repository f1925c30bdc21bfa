import { type Bill, type CacheUse, price, type Size, sum } from "./figures.ts";

/** A request of the run with mulligan. */
export interface Row {
	readonly does: string;
	readonly sent: Size;
	/** The same branch with every original and without the extension. */
	readonly without: Size;
	readonly cache: CacheUse;
}

export interface Report {
	readonly rows: readonly Row[];
	readonly mulligan: Bill;
	readonly twin: Bill;
	readonly outputs: { readonly grepBytes: number; readonly logBytes: number };
	readonly pi: string;
	readonly settings: string;
	readonly sessionFile: string;
	readonly requestsFile: string;
}

/** How to set a text off: as it is, or with a terminal's attributes. */
export interface Ink {
	readonly strong: (text: string) => string;
	readonly faint: (text: string) => string;
}

export const plainInk: Ink = { strong: (text) => text, faint: (text) => text };
export const terminalInk: Ink = {
	strong: (text) => `\u001b[1m${text}\u001b[22m`,
	faint: (text) => `\u001b[2m${text}\u001b[22m`,
};

type Columns = readonly [width: number, alignment: "left" | "right"][];

const requestColumns: Columns = [
	[2, "right"],
	[36, "left"],
	[6, "right"],
	[8, "right"],
	[9, "right"],
	[9, "right"],
	[9, "right"],
	[9, "right"],
];

/** What stands above each pair of the figures of `requestColumns`. */
const pairColumns: Columns = [
	[39, "left"],
	[15, "right"],
	[19, "right"],
	[19, "right"],
];

const billColumns: Columns = [
	[39, "left"],
	[8, "right"],
	[12, "right"],
	[11, "right"],
	[10, "right"],
	[9, "right"],
];

/** The whole report, for a terminal of 100 columns. */
export function render(report: Report, ink: Ink): string {
	return [
		ink.strong(`pi-mulligan on Pi ${report.pi}: a rewind, a shrink and a cancel in one prompt`),
		`The grep returned ${kilobytes(report.outputs.grepBytes)}, the test log ${kilobytes(report.outputs.logBytes)}.`,
		"",
		...requestTable(report.rows, ink),
		"",
		...billTable(report.mulligan, report.twin, ink),
		"",
		...legend(report).map(ink.faint),
		"",
		"Kept: the session file with every original, and the requests as the model got them",
		`  ${report.sessionFile}`,
		`  ${report.requestsFile}`,
	].join("\n");
}

function requestTable(rows: readonly Row[], ink: Ink): string[] {
	const line = (cells: readonly string[]) => align(cells, requestColumns);
	const head = [
		align(["", "messages sent", "tokens sent", "simulated cache"], pairColumns),
		line(["#", "what the model did", "with", "without", "with", "without", "read", "written"]),
	];
	const body = rows.map((row, index) => line([String(index + 1), row.does, ...figures(row)]));
	const sums = line(["", "total", ...figures(total(rows))]);
	return [...head.map(ink.strong), rule(requestColumns), ...body, rule(requestColumns), ink.strong(sums)];
}

function figures({ sent, without, cache }: Omit<Row, "does">): string[] {
	return [sent.messages, without.messages, sent.tokens, without.tokens, cache.read, cache.written].map(count);
}

function total(rows: readonly Row[]): Omit<Row, "does"> {
	const size = (of: (row: Row) => Size) => ({
		messages: sum(rows, (row) => of(row).messages),
		tokens: sum(rows, (row) => of(row).tokens),
	});
	return {
		sent: size((row) => row.sent),
		without: size((row) => row.without),
		cache: { read: sum(rows, (row) => row.cache.read), written: sum(rows, (row) => row.cache.written) },
	};
}

function billTable(mulligan: Bill, twin: Bill, ink: Ink): string[] {
	const line = (cells: readonly string[]) => align(cells, billColumns);
	const row = (name: string, bill: Bill) =>
		line([name, ...[bill.requests, bill.tokens, bill.read, bill.written, bill.weighted].map(count)]);
	return [
		ink.strong(line(["the whole task", "requests", "tokens sent", "cache read", "written", "price"])),
		rule(billColumns),
		row("with mulligan", mulligan),
		row("twin: the same work without mulligan", twin),
	];
}

function legend(report: Report): string[] {
	return [
		"without  what Pi would have sent for the same branch without the extension: all originals, no note,",
		"         from the session file; calls of mulligan's tools count on both sides. The system prompt and",
		"         the tool declarations are the twin's.",
		"twin     a second run of pi: same project, same script, no mulligan and so none of its three steps.",
		"tokens   a plain estimate: characters / 4, an image 1,200, tool arguments as JSON; system prompt and",
		"         tool declarations included. Messages are counted without the system prompt.",
		"cache    the longest prefix that a request shares with the one before is read, the rest is written;",
		"         characters / 4 of the serialised request, which has the roles in it.",
		`price    in input tokens: read x ${price.cacheRead}, written x ${price.cacheWrite}.`,
		`settings ${report.settings}`,
	];
}

function align(cells: readonly string[], columns: Columns): string {
	const padded = columns.map(([width, side], index) => {
		const cell = cells[index] ?? "";
		return side === "left" ? cell.padEnd(width) : cell.padStart(width);
	});
	return padded.join(" ").trimEnd();
}

function rule(columns: Columns): string {
	return "─".repeat(sum(columns, ([width]) => width + 1) - 1);
}

function count(value: number): string {
	return value.toLocaleString("en-US");
}

function kilobytes(bytes: number): string {
	return `${(bytes / 1024).toFixed(1)} KB`;
}
