import type { Run, Twins } from "./run.ts";

/** What a provider reports for a request, or for several. */
export interface Tokens {
	readonly input: number;
	readonly cacheRead: number;
	readonly cacheWrite: number;
	readonly output: number;
}

/** Dollars for a million tokens of each kind. */
export interface PriceList extends Tokens {
	readonly name: string;
	readonly assumes: string;
}

/** List prices of two kinds of provider. Assumed, not looked up: what counts is how the kinds relate. */
export const priceLists: readonly PriceList[] = [
	{
		name: "Sonnet-like",
		assumes: "cache read 0.1 x, cache write 1.25 x of the input price",
		input: 3,
		cacheRead: 0.3,
		cacheWrite: 3.75,
		output: 15,
	},
	{
		name: "GPT-5-like",
		assumes: "automatic prefix cache: read 0.1 x, no surcharge for writing",
		input: 1.25,
		cacheRead: 0.125,
		cacheWrite: 1.25,
		output: 10,
	},
];

/** What a run used in all. */
interface Bill {
	readonly requests: number;
	readonly tokens: Tokens;
	/** Turns in which at least one op became active. */
	readonly moments: number;
	readonly waiting: number;
}

/** Two twins, set against each other. */
export interface Comparison {
	readonly with: Bill;
	readonly without: Bill;
	/** What the declarations of mulligan's tools alone added. */
	readonly declarations: Tokens;
	/** By price list: the later turn from which the twin with mulligan stays the cheaper one; undefined: none. */
	readonly cheaperFrom: ReadonlyMap<PriceList, number | undefined>;
}

/** Sets two twins against each other; the last `later` requests are those after the scenario. */
export function compare(twins: Twins, later: number): Comparison {
	return {
		with: billOf(twins.with),
		without: billOf(twins.without),
		declarations: declarationsOf(twins),
		cheaperFrom: new Map(priceLists.map((prices) => [prices, cheaperFrom(twins, later, prices)])),
	};
}

/** Dollars. */
export function costOf(tokens: Tokens, prices: PriceList): number {
	const cost = KINDS.reduce((sum, kind) => sum + tokens[kind] * prices[kind], 0);
	return cost / 1_000_000;
}

/** What is left of tokens when others are taken away. */
export function minus(tokens: Tokens, others: Tokens): Tokens {
	return combine(tokens, others, (a, b) => a - b);
}

/** Tokens of a prompt, from the cache or not. */
export function promptOf({ input, cacheRead, cacheWrite }: Tokens): number {
	return input + cacheRead + cacheWrite;
}

function billOf({ asked, activations, waiting }: Run): Bill {
	return {
		requests: asked.length,
		tokens: sumOf(asked.map(({ usage }) => usage)),
		moments: new Set(activations.map(({ request }) => request)).size,
		waiting,
	};
}

/** The first requests differ by the declarations alone. They are written once, and read by each request after that. */
function declarationsOf(twins: Twins): Tokens {
	const first = ({ asked }: Run) => promptOf(asked[0]?.usage ?? NONE);
	const declared = first(twins.with) - first(twins.without);
	return { ...NONE, cacheWrite: declared, cacheRead: declared * (twins.with.asked.length - 1) };
}

function cheaperFrom(twins: Twins, later: number, prices: PriceList): number | undefined {
	const ours = costsUpToShared(twins.with, prices);
	const plain = costsUpToShared(twins.without, prices);
	const lastDearer = ours.findLastIndex((cost, index) => cost >= (plain[index] ?? 0));
	if (lastDearer === ours.length - 1) return undefined;
	return Math.max(0, lastDearer + 2 - (ours.length - later));
}

/** What a run has cost by each request whose answer both twins give. */
function costsUpToShared({ asked }: Run, prices: PriceList): readonly number[] {
	let cost = 0;
	return asked.flatMap(({ usage, isShared }) => {
		cost += costOf(usage, prices);
		return isShared ? [cost] : [];
	});
}

const KINDS = ["input", "cacheRead", "cacheWrite", "output"] as const;
const NONE: Tokens = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0 };

function sumOf(all: readonly Tokens[]): Tokens {
	return all.reduce((sum, tokens) => combine(sum, tokens, (a, b) => a + b), NONE);
}

function combine(a: Tokens, b: Tokens, of: (a: number, b: number) => number): Tokens {
	return {
		input: of(a.input, b.input),
		cacheRead: of(a.cacheRead, b.cacheRead),
		cacheWrite: of(a.cacheWrite, b.cacheWrite),
		output: of(a.output, b.output),
	};
}
