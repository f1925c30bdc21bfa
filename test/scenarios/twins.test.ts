import { describe, expect, test } from "vitest";
import { compare, costOf, minus, priceLists, promptOf } from "../../scripts/twins/bill.ts";
import { type Run, runTwins, type Twins } from "../../scripts/twins/run.ts";
import { needleOf } from "../../scripts/twins/scenario.ts";
import { scenarios } from "../../scripts/twins/scenarios.ts";
import { containsText, orphans, piVersions, textOf } from "../../src/testing/index.ts";

const edges = piVersions().filter(({ name }) => name === "oldest" || name === "newest");

/** Turns after each scenario: enough to see that what is hidden stays hidden. */
const LATER = 4;

interface Expectation {
	readonly moments: number;
	/** Calls whose results leave the view, in this order. */
	readonly hides: readonly string[];
	/** The call whose result ends with the one orientation line, and how many results that counts; undefined: no line. */
	readonly oriented?: readonly [call: string, results: number];
	/** Ops without effect at the end. */
	readonly waiting?: number;
}

const numbered = (name: string, count: number) => Array.from({ length: count }, (_, index) => `${name}-${index + 1}`);

type Name = keyof typeof scenarios;

const expected: Readonly<Record<Name, Expectation>> = {
	bloatedGrep: { moments: 1, hides: ["wide-grep"] },
	longLog: { moments: 1, hides: ["test-log"], oriented: ["shrink-test-log", 1] },
	lateShrink: { moments: 1, hides: ["test-log"], oriented: ["shrink-test-log", 1] },
	wrongDirection: {
		moments: 1,
		hides: [1, 2, 3].flatMap((n) => [`wrong-module-${n}`, `wrong-use-${n}`, `wrong-edit-${n}`, `wrong-test-${n}`]),
	},
	fiveShrinks: { moments: 1, hides: numbered("exporter", 5), oriented: ["shrink-exporter-5", 5] },
	// Each sheds about 480 tokens: nine reach the 4,000 of a moment, eleven are short of the 16,000 for another.
	twentyShrinks: { moments: 1, hides: numbered("commit", 9), oriented: ["shrink-commit-9", 9], waiting: 11 },
	neverNeeded: { moments: 0, hides: [] },
};

const names = Object.keys(expected) as Name[];

describe.each(edges)("on Pi $version", (pi) => {
	const played = new Map<Name, Promise<Twins>>();
	/** Plays a scenario; the second time, what the first has brought. */
	const play = (name: Name): Promise<Twins> => {
		const twins = played.get(name) ?? runTwins(scenarios[name], { pi, later: LATER });
		played.set(name, twins);
		return twins;
	};

	describe.each(names)("%s", (name) => {
		const expectation = expected[name];

		test("both twins get the same results of the task's tools", async () => {
			const twins = await play(name);
			expect(twins.without.results.size).toBeGreaterThan(0);
			for (const [id, text] of twins.without.results) {
				expect(text).toContain(needleOf(id));
				expect(twins.with.results.get(id)?.slice(0, text.length)).toBe(text);
			}
		});

		test("what was asked for leaves the view, all of it and nothing else", async () => {
			const twins = await play(name);
			expect(twins.with.activations.flatMap(({ calls }) => ownOf(calls, twins))).toEqual(expectation.hides);
			expect(twins.with.waiting).toBe(expectation.waiting ?? 0);
			const kept = [...twins.without.results.keys()].filter((id) => !expectation.hides.includes(id));
			expect(lastTexts(twins.with, kept)).toEqual(kept.map(() => expect.any(String)));
			for (const [index, text] of lastTexts(twins.without, kept).entries())
				expect(lastTexts(twins.with, kept)[index]?.slice(0, text?.length)).toBe(text);
		});

		test("no hidden text reaches the model after the activation", async () => {
			const twins = await play(name);
			for (const { request: first, calls } of twins.with.activations) {
				const needles = ownOf(calls, twins).map(needleOf);
				const before = twins.with.asked[first - 1]?.request.messages;
				const after = twins.with.asked.slice(first);
				expect(after.length).toBeGreaterThan(LATER);
				for (const needle of needles) {
					expect(containsText(before, needle)).toBe(true);
					expect(after.filter(({ request }) => containsText(request.raw, needle))).toEqual([]);
				}
			}
		});

		test("no request has half of a call and its result", async () => {
			const twins = await play(name);
			for (const { request } of twins.with.asked) expect(orphans(request.messages)).toEqual({ calls: [], results: [] });
		});

		test("the prompt cache breaks once for each moment, and never without mulligan", async () => {
			const twins = await play(name);
			expect(compare(twins, LATER).with.moments).toBe(expectation.moments);
			expect(cacheBreaks(twins.with)).toEqual([...new Set(twins.with.activations.map(({ request }) => request))]);
			expect(cacheBreaks(twins.without)).toEqual([]);
		});

		test("a moment that shrinks ends its last shrink's result with the one orientation line", async () => {
			const twins = await play(name);
			const lines = [...twins.with.results].flatMap(([id, text]) =>
				[...text.matchAll(/^Context updated: (\d+) .*/gm)].map(([line, count]) => [
					id,
					Number(count),
					text.endsWith(line),
				]),
			);
			expect(lines).toEqual(expectation.oriented ? [[...expectation.oriented, true]] : []);
		});
	});

	test.each<[Name, "cheaper" | "dearer"]>([
		["bloatedGrep", "cheaper"],
		["wrongDirection", "cheaper"],
		["longLog", "cheaper"],
		["fiveShrinks", "cheaper"],
		["lateShrink", "dearer"],
		["twentyShrinks", "dearer"],
		["neverNeeded", "dearer"],
	])("%s is %s with mulligan, at either price list", async (name, expected) => {
		const { with: ours, without } = compare(await play(name), LATER);
		for (const prices of priceLists)
			expect(costOf(ours.tokens, prices) < costOf(without.tokens, prices) ? "cheaper" : "dearer").toBe(expected);
	});

	test("a session that never needs mulligan pays for the declared tools, and for nothing else", async () => {
		const { with: ours, without, declarations, cheaperFrom } = compare(await play("neverNeeded"), LATER);
		const rest = minus(minus(ours.tokens, without.tokens), declarations);
		expect(declarations.cacheWrite).toBeGreaterThan(0);
		expect(ours.tokens.output).toBe(without.tokens.output);
		// Each request's figures are rounded to whole tokens.
		for (const tokens of Object.values(rest)) expect(Math.abs(tokens)).toBeLessThanOrEqual(ours.requests);
		expect([...cheaperFrom.values()]).toEqual([undefined, undefined]);
	});
});

/** Those of some calls that are the task's, not mulligan's own. */
function ownOf(calls: readonly string[], { without }: Twins): readonly string[] {
	return calls.filter((id) => without.results.has(id));
}

/** What the last request carries of the results of these calls; undefined where it has none. */
function lastTexts({ asked }: Run, calls: readonly string[]): readonly (string | undefined)[] {
	const messages = asked.at(-1)?.request.messages ?? [];
	const results = messages.flatMap((message) => (message.role === "toolResult" ? [message] : []));
	const textById = new Map(results.map((message) => [message.toolCallId, textOf(message)]));
	return calls.map((id) => textById.get(id));
}

/** A line that is sent for one request only is written in vain too; it has fewer tokens than this. */
const MORE_THAN_A_LINE = 200;

/** Indexes of the requests that could not read all of the request before from the cache. */
function cacheBreaks({ asked }: Run): readonly number[] {
	return asked.flatMap(({ usage }, index) => {
		const before = asked[index - 1];
		return before && usage.cacheRead < promptOf(before.usage) - MORE_THAN_A_LINE ? [index] : [];
	});
}
