import { type Comparison, costOf, minus, type PriceList, priceLists, type Tokens } from "./bill.ts";

/** A scenario by its name, and how its twins compare. */
export interface Row {
	readonly name: string;
	readonly comparison: Comparison;
}

export interface Report {
	readonly pi: string;
	/** Turns of ordinary work after each scenario. */
	readonly later: number;
	readonly rows: readonly Row[];
}

/** The whole report, for a terminal of 110 columns. */
export function render({ pi, later, rows }: Report): string {
	return [
		`Twin sessions on Pi ${pi}: the same scripted task with and without mulligan, default settings,`,
		`and ${later} later turns of ordinary work after each scenario.`,
		"",
		line([
			"",
			"requests",
			"moments",
			"input",
			"cache read",
			"written",
			"output",
			...priceLists.map(({ name }) => name),
		]),
		...rows.flatMap((row) => [rule, ...rowLines(row, later)]),
		rule,
		"",
		...verdict(rows),
		"",
		...legend,
	].join("\n");
}

function rowLines({ name, comparison }: Row, later: number): string[] {
	const { with: ours, without, declarations } = comparison;
	const all = minus(ours.tokens, without.tokens);
	const change = (tokens: Tokens) => priceLists.map((prices) => percent(shareOf(tokens, comparison, prices)));
	const cost = (tokens: Tokens) => priceLists.map((prices) => dollars(costOf(tokens, prices)));
	const cheaper = priceLists.map((prices) => turnOf(comparison.cheaperFrom.get(prices), later));
	return [
		name,
		line(["  without", count(without.requests), "", ...figures(without.tokens, count), ...cost(without.tokens)]),
		line(["  with", count(ours.requests), count(ours.moments), ...figures(ours.tokens, count), ...cost(ours.tokens)]),
		line(["  difference", signed(ours.requests - without.requests), "", ...figures(all, signed), ...change(all)]),
		line(["    the declared tools", "", "", ...figures(declarations, signed), ...change(declarations)]),
		line(["    the ops", "", "", ...figures(minus(all, declarations), signed), ...change(minus(all, declarations))]),
		line(["  cheaper from later turn", "", "", "", "", "", "", ...cheaper]),
		...(ours.waiting > 0
			? [`  ${ours.waiting} op(s) still wait at the end: asked for, paid for, without effect.`]
			: []),
	];
}

/** Where mulligan made the task dearer, and where cheaper, in words. */
function verdict(rows: readonly Row[]): string[] {
	return priceLists.flatMap((prices) => {
		const shares = rows.map(({ name, comparison }) => ({
			name,
			share: shareOf(minus(comparison.with.tokens, comparison.without.tokens), comparison, prices),
		}));
		const named = (of: typeof shares) => of.map(({ name, share }) => `  ${percent(share).padStart(8)}  ${name}`);
		const dearer = shares.filter(({ share }) => share >= 0).sort((a, b) => b.share - a.share);
		const cheaper = shares.filter(({ share }) => share < 0).sort((a, b) => a.share - b.share);
		return [
			`At ${prices.name} prices mulligan loses in ${dearer.length} of ${rows.length}`,
			...named(dearer),
			`and saves in ${cheaper.length}`,
			...named(cheaper),
		];
	});
}

/** A part of the difference as a share of what the twin without mulligan cost. */
function shareOf(tokens: Tokens, { without }: Comparison, prices: PriceList): number {
	return costOf(tokens, prices) / costOf(without.tokens, prices);
}

const legend = [
	"without   the same work without the extension, and without the requests whose answer only calls its tools.",
	"tokens    characters / 4, from a simulated cache that holds the session's last request: the prefix that a",
	"          request shares with it is read, the rest written. It never expires. Read the figures as ratios.",
	"the declared tools   what mulligan costs where it does nothing: its declarations, written once and then read",
	"          by every request. The ops: requests that call its tools, what they wrote again, less what they shed.",
	"cheaper from later turn   where the running cost of the twin with mulligan falls below the other's, and stays",
	"          there; 0: before the scenario has ended.",
	"prices    assumed, in $ per million tokens. Written tokens cost what the list says of writing to the cache:",
	...priceLists.flatMap(({ name, assumes, input, cacheRead, cacheWrite, output }) => [
		`          ${name}: input ${input}, cache read ${cacheRead}, written ${cacheWrite}, output ${output}`,
		`          (${assumes})`,
	]),
	"not in it what a real model does by itself: read again what it has hidden, or work better without it. The head",
	"          of the prompt is small here; a larger one makes every request dearer, and so each extra one.",
];

const WIDTHS = [25, 8, 8, 7, 11, 9, 8, 12, 12];

function line(cells: readonly string[]): string {
	const padded = cells.map((cell, index) => (index === 0 ? cell.padEnd(25) : cell.padStart(WIDTHS[index] ?? 0)));
	return padded.join(" ").trimEnd();
}

const rule = "─".repeat(WIDTHS.reduce((sum, width) => sum + width + 1, -1));

function figures(tokens: Tokens, spell: (value: number) => string): string[] {
	return [tokens.input, tokens.cacheRead, tokens.cacheWrite, tokens.output].map(spell);
}

function turnOf(turn: number | undefined, later: number): string {
	return turn === undefined ? `none of ${later}` : String(turn);
}

function count(value: number): string {
	return value.toLocaleString("en-US");
}

function signed(value: number): string {
	return value > 0 ? `+${count(value)}` : count(value);
}

function dollars(value: number): string {
	return `$${value.toFixed(4)}`;
}

function percent(share: number): string {
	return `${share > 0 ? "+" : ""}${(share * 100).toFixed(1)} %`;
}
