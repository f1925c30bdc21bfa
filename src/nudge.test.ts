import { describe, expect, test } from "vitest";
import { SILENCE, type Speech, speak } from "./nudge.ts";
import { defineConfig, defineNudge, Type } from "./plugin.ts";
import { type Call, containsText, openSession, piVersions, type TestSession, textOf } from "./testing/index.ts";

const edges = piVersions().filter(({ name }) => name === "oldest" || name === "newest");

describe("speak", () => {
	/** The events that are spoken of when each item is one request of one turn. */
	const spokenOf = (requests: readonly (readonly string[])[], restTurns: number) => {
		let speech: Speech = SILENCE;
		return requests.map((events) => {
			const { event, next } = speak(speech, events, restTurns);
			speech = { ...next, quietTurns: Math.max(0, next.quietTurns - 1) };
			return event ?? "";
		});
	};

	test.each<[string, (readonly string[])[], number, string[]]>([
		["an event that lasts has one line", [["a"], ["a"], ["a"]], 0, ["a", "", ""]],
		["an event that ended and came back has another", [["a"], [], ["a"]], 0, ["a", "", "a"]],
		[
			"events that hold together have one request each",
			[
				["a", "b"],
				["a", "b"],
				["a", "b"],
			],
			0,
			["a", "b", ""],
		],
		["a line is followed by its rest", [["a"], ["b"], ["b"], ["b"], ["b"]], 2, ["a", "", "", "b", ""]],
		["what ended during the rest has none", [["a"], ["b"], [], []], 2, ["a", "", "", ""]],
		["what comes back during the rest waits for its end", [["a"], [], ["a"], ["a"]], 2, ["a", "", "", "a"]],
	])("%s", (_what, requests, restTurns, spoken) => {
		expect(spokenOf(requests, restTurns)).toEqual(spoken);
	});

	test("the turn of the line itself is no rest: a request that is made again in it has no line", () => {
		const first = speak(SILENCE, ["a"], 0);
		expect(speak(first.next, ["b"], 0).event).toBeUndefined();
	});
});

const LINE = "Read the best hit before you search on.";
const greps = defineNudge({
	name: "greps",
	options: Type.Object({ most: Type.Integer({ default: 2, minimum: 1 }) }),
	when: ({ calls, options }) => calls("grep").length > options.most,
	say: LINE,
	restTurns: 1,
});

const grep = (id: string, path = "."): { calls: Call[] } => ({ calls: [{ id, name: "grep", args: { path } }] });
const tools = { grep: ({ path }: Record<string, unknown>) => `hits in ${path}` };
const requestsWith = ({ requests }: TestSession, text: string) =>
	requests.flatMap(({ messages }, index) => (containsText(messages, text) ? [index + 1] : []));

describe.each(edges)("a nudge on Pi $version", (pi) => {
	test("is one line at the end of one request, and neither stored nor a request", async () => {
		await using session = await openSession({ pi, tools, config: { plugins: ["...", greps] } });
		session.script(grep("c1"), grep("c2"), grep("c3"), grep("c4"), grep("c5"), "done");
		await session.prompt("find it");
		expect(session.requests).toHaveLength(6);
		expect(requestsWith(session, LINE)).toEqual([4]);
		expect(textOf(session.requests[3]?.messages.at(-1) as never)).toBe(LINE);
		expect(containsText(session.lines(), LINE)).toBe(false);
		expect(session.usage[4]?.cacheRead).toBeGreaterThan(session.usage[3]?.cacheRead ?? 0);
	});

	test("speaks anew of another prompt, and not of what a rewind has hidden", async () => {
		const note = { what_happened: "too wide", true_current_state: "nothing changed", next: "narrow" };
		const rewind = { id: "r", name: "mulligan_rewind", args: { note, granularity: "last_turn" } };
		const config = { plugins: ["...", greps], rewrites: { flushShedTokens: 0 } } as const;
		await using session = await openSession({ pi, tools, config });
		session.script(grep("c1"), grep("c2"), { calls: [rewind] }, grep("c3"), grep("c4"), "done");
		await session.prompt("one");
		expect(requestsWith(session, LINE)).toEqual([]);
		session.script(grep("c5"), grep("c6"), grep("c7"), "done");
		await session.prompt("two");
		expect(requestsWith(session, LINE)).toEqual([10]);
	});

	test("says nothing of what held when the session was loaded", async () => {
		const often = defineNudge({ name: "often", when: ({ allCalls }) => allCalls().length > 0, say: LINE });
		await using first = await openSession({ pi, tools, config: { plugins: [often] } });
		first.script(grep("c1"), "done");
		await first.prompt("one");
		expect(requestsWith(first, LINE)).toEqual([2]);
		await using second = await first.reopen();
		second.script(grep("c2"), "done");
		await second.prompt("two");
		expect(requestsWith(second, LINE)).toEqual([]);
	});

	test("may hold from the first request of a new session on", async () => {
		const always = defineNudge({ name: "always", when: () => true, say: LINE });
		await using session = await openSession({ pi, config: { plugins: [always] } });
		session.script("hello", "again");
		await session.prompt("hi");
		await session.prompt("hi again");
		expect(requestsWith(session, LINE)).toEqual([1]);
	});

	test("names its events, takes its options and sees what the model sees of calls", async () => {
		const seen: unknown[] = [];
		const twice = defineNudge({
			name: "twice",
			options: Type.Object({ times: Type.Integer({ default: 9, minimum: 2 }) }),
			when: ({ calls, options, tokens, window, share }) => {
				seen.push([tokens > 0, window, share !== undefined]);
				const paths = calls("grep", "find").map(({ args }) => String(args.path));
				return paths.filter(
					(path, index) => paths.slice(0, index + 1).filter((p) => p === path).length === options.times,
				);
			},
			say: ({ calls }, path) => `You have searched ${path}\nalready: ${calls().at(-1)?.text}.`,
			restTurns: 0,
		});
		const config = defineConfig({ plugins: ["...", [twice, { times: 2 }]] });
		await using session = await openSession({ pi, tools, config });
		session.script(grep("c1", "a"), grep("c2", "b"), grep("c3", "a"), grep("c4", "b"), grep("c5", "a"), "done");
		await session.prompt("find it");
		expect(requestsWith(session, "You have searched a already: hits in a.")).toEqual([4]);
		expect(requestsWith(session, "You have searched b already: hits in b.")).toEqual([5]);
		expect(seen[0]).toEqual([true, 128_000, true]);
	});

	test("that fails costs its own line only, and is named when it is switched off", async () => {
		const broken = defineNudge({ name: "broken", when: () => 3 as never, say: "never" });
		const silent = defineNudge({ name: "silent", when: () => true, say: () => undefined as never });
		await using session = await openSession({ pi, tools, config: { plugins: [broken, silent, greps] } });
		session.script(grep("c1"), grep("c2"), grep("c3"), "done");
		await session.prompt("find it");
		expect(requestsWith(session, LINE)).toEqual([4]);
		const told = session.ui.notifications.map(({ message }) => message);
		expect(told).toHaveLength(2);
		expect(told[0]).toContain('"when" of the nudge "broken" returned 3; return true, false, a name or a list of names');
		expect(told[1]).toContain('"say" of the nudge "silent" returned undefined; return a text');
	});
});

test("two nudges that speak of one request share its last message", async () => {
	const nudge = (name: string) => defineNudge({ name, when: () => true, say: `${name} speaks` });
	await using session = await openSession({ config: { plugins: [nudge("one"), nudge("two")] } });
	session.script("hello");
	await session.prompt("hi");
	expect(session.lastRequest.messages).toHaveLength(2);
	expect(textOf(session.lastRequest.messages[1] as never)).toBe("one speaks\ntwo speaks");
});

test.each<[object, string]>([
	[{ name: "" }, 'defineNudge(""): a nudge needs a name'],
	[{ when: true }, 'defineNudge("n"): "when" is true; give a function of the view'],
	[{ say: " " }, 'defineNudge("n"): "say" is " "; give a line, or a function that returns one'],
	[{ restTurns: -1 }, 'defineNudge("n"): "restTurns" is -1; give a whole number of turns from 0 on'],
	[{ restTurns: 0.5 }, 'defineNudge("n"): "restTurns" is 0.5; give a whole number of turns from 0 on'],
])("a definition with %j is refused where it stands", (wrong, message) => {
	expect(() => defineNudge({ name: "n", when: () => true, say: "x", ...wrong } as never)).toThrow(message);
});

test("a nudge carries the passport of a plugin", () => {
	const { mulligan, dependencies } = defineNudge({
		...{ name: "n", mulligan: "^2", dependencies: ["shrink"] },
		...{ when: () => true, say: "x" },
	});
	expect([mulligan, dependencies]).toEqual(["^2", ["shrink"]]);
});
