import { describe, expect, test } from "vitest";
import { type AnyMessage, type ModelRequest, openSession, piVersions, textOf } from "../../src/testing/index.ts";
import { bulk, call } from "../support/mulligan.ts";

const edges = piVersions().filter(({ name }) => name === "oldest" || name === "newest");
const tools = { grep: ({ pattern }: Record<string, unknown>) => bulk(`GREP-${pattern}`, lines(String(pattern))) };
/** Results of several sizes: 40 to 80 lines. */
const lines = (pattern: string) => 40 + 10 * (pattern.charCodeAt(0) % 5);
const grep = (id: string) => call.tool(id, "grep", { pattern: id });
const shrink = (of: string, id = `s${of}`) => call.shrink(id, { by_tool_call_id: of }, `SHORT-${of} of ${id}`);
const audit = (id: string) => call.tool(id, "mulligan_audit");

/** Every way in which ops become active or wait, in one prompt. */
const SCRIPT = [
	{ calls: [grep("a")] },
	{ calls: [shrink("a")] },
	{ calls: [grep("b")] },
	{ calls: [shrink("b")] },
	{ calls: [grep("c"), grep("d")] },
	{ calls: [shrink("c"), shrink("d")] },
	{ calls: [grep("e")] },
	{ calls: [shrink("e")] },
	{ calls: [grep("f"), grep("g"), grep("h"), grep("i"), grep("j")] },
	{ calls: ["f", "g", "h", "i", "j"].map((of) => shrink(of)) },
	{ calls: [grep("k")] },
	{ calls: [shrink("k"), shrink("k", "again")] },
	{ calls: [grep("l")] },
	{ calls: [grep("n")] },
	{ calls: [grep("m"), shrink("l"), call.rewind("r")] },
	{ calls: [audit("x")] },
	"done",
];

type Result = Extract<AnyMessage, { role: "toolResult" }>;

/** The results of a request by call, in order. */
function results({ messages }: ModelRequest): ReadonlyMap<string, string> {
	const all = (messages as readonly AnyMessage[]).filter((message): message is Result => message.role === "toolResult");
	return new Map(all.map((message) => [message.toolCallId, textOf(message)]));
}

const isShrunk = (text: string | undefined) => text?.startsWith("<context-shrunk>\n") === true;
const ORIENTATION =
	/^Context updated: (\d+) result\(s\) summarized \(~(\d+) tokens shed\)\. Continue exactly where you left off — no re-verification or re-reading is needed\.$/;

/** What one turn told, against what the request after it shows. */
function judge(before: ModelRequest, after: ModelRequest) {
	const [old, now] = [results(before), results(after)];
	const told = [...now].filter(([id]) => !old.has(id));
	const changed = [...old].filter(([id, text]) => now.has(id) && now.get(id) !== text);
	const shed = changed.reduce((sum, [id, text]) => sum + (text.length - (now.get(id)?.length ?? 0)) / 4, 0);
	const orientations = told.flatMap(([, text]) =>
		text.split("\n").filter((line) => line.startsWith("Context updated")),
	);
	return { now, told, changed, shed, orientations };
}

/** The rules, and how many times the view then changes in the script; the last is the audit's where ops still wait. */
const BUDGETS = [
	["one moment, at once", { maxMoments: 1, flushShedTokens: 0 }, 2],
	["one moment at two results' volume", { maxMoments: 1, flushShedTokens: 400 }, 2],
	["one moment, at a second op only", { maxMoments: 1, flushShedTokens: 1e6 }, 2],
	["two moments at a result's volume", { maxMoments: 2, flushShedTokens: 300 }, 3],
	["one moment and a valve that opens often", { maxMoments: 1, flushShedTokens: 0, safetyValveTokens: 200 }, 7],
	["moments without end", { maxMoments: 1000, flushShedTokens: 0 }, 7],
] as const;

describe.each(edges)("what waits weighs what it sheds, with Pi $version:", (pi) => {
	const huge = () => bulk("HUGE", 1100);
	const ways = { grep: tools.grep, huge };
	const rewrites = { maxMoments: 2, flushShedTokens: 2000 };
	const tellsWaiting = ({ messages }: ModelRequest) =>
		[...results({ messages } as ModelRequest)]
			.flatMap(([, text]) => /\(~(\d+) tokens wait\)/.exec(text)?.[1] ?? [])
			.map(Number);

	test("a result that is shrunk already counts as it stands in the view when it is rewound", async () => {
		await using session = await openSession({ pi, tools: ways, settings: { mulligan: { rewrites } } });
		session.script(
			{ calls: [call.tool("h", "huge")] },
			{ calls: [call.shrink("s", { by_tool_call_id: "h" }, "tiny")] },
			{ calls: [call.rewind("r")] },
			"done",
		);
		await session.prompt("go");
		expect([...results(session.lastRequest)].map(([id, text]) => [id, isShrunk(text)])).toContainEqual(["h", true]);
		// The calls that shrank it go along.
		const [tokens, ...others] = tellsWaiting(session.lastRequest);
		expect(tokens).toBeLessThan(200);
		expect(others).toEqual([]);
	});

	test("a result that is to be shrunk twice counts once, and one that is to be rewound as well not again", async () => {
		const single = Math.ceil(bulk("HUGE", 200).length / 4);
		const slim = { ...ways, huge: () => bulk("HUGE", 200) };
		await using session = await openSession({ pi, tools: slim, settings: { mulligan: { rewrites } } });
		const shrinkHuge = (id: string) => ({ calls: [call.shrink(id, { by_tool_call_id: "h" }, "tiny")] });
		session.script(
			{ calls: [call.tool("h", "huge")] },
			shrinkHuge("s1"),
			shrinkHuge("s2"),
			shrinkHuge("s3"),
			{ calls: [call.rewind("r")] },
			{ calls: [audit("x")] },
			"done",
		);
		await session.prompt("go");
		const [first, second, third, rewound] = tellsWaiting(session.requests[5] as ModelRequest);
		expect([second, third]).toEqual([first, first]);
		expect(first).toBeGreaterThan(single - 20);
		expect(Math.abs((rewound ?? 0) - (first ?? 0))).toBeLessThan(single / 2);
		expect(results(session.lastRequest).has("h")).toBe(false);
	});
});

describe.each(edges)("what results tell, with Pi $version", (pi) => {
	test.each(BUDGETS)("is what the next request shows, with %s", async (_name, rewrites, moments) => {
		await using session = await openSession({ pi, tools, settings: { mulligan: { rewrites } } });
		session.script(...SCRIPT);
		await session.prompt("go");
		const { requests } = session;
		expect(requests).toHaveLength(SCRIPT.length);
		const seen = { active: 0, queued: 0, moments: 0 };
		for (const [index, after] of requests.entries()) {
			const before = requests[index - 1];
			if (!before) continue;
			const { now, told, changed, shed, orientations } = judge(before, after);
			for (const [id, text] of told.filter(([, text]) => text.startsWith("Mulligan: shrink recorded."))) {
				const target = now.get(id === "again" ? "k" : id.slice(1));
				expect(text.split("\n")[0]).toBe("Mulligan: shrink recorded. Matched: yes.");
				// Of two in one turn the later one stands, and the earlier one says so.
				const isReplaced = id === "sk" && target?.includes("of again") === true;
				const active = isReplaced ? "Active, but a later shrink of the same result" : "Active from the next request.";
				expect([id, text.includes(`\n${active}`)]).toEqual([id, isShrunk(target)]);
				expect([id, /\nQueued \(~\d+ tokens wait\)/.test(text)]).toEqual([id, !isShrunk(target)]);
				seen[isShrunk(target) ? "active" : "queued"]++;
			}
			expect(orientations).toHaveLength(changed.length > 0 ? 1 : 0);
			if (changed.length === 0) continue;
			seen.moments++;
			const [, count, tokens] = ORIENTATION.exec(orientations[0] ?? "") ?? [];
			expect(Number(count)).toBe(changed.length);
			expect(Math.abs(Number(tokens) - shed)).toBeLessThanOrEqual(changed.length);
			const carrier = told.findLast(([id]) => /^(s.|again)$/.test(id)) ?? told.findLast(([id]) => id === "x");
			expect(carrier?.[1].split("\n").at(-1)).toBe(orientations[0]);
		}
		expect(seen.active + seen.queued).toBe(13);
		expect(seen.moments).toBe(moments);
		const [rewound, last] = requests.slice(-2).map(results);
		expect(/\nActive from the next request:/.test(rewound?.get("r") ?? "")).toBe(rewound?.has("n") === false);
		expect(/\nQueued \(~\d+ tokens wait\)/.test(rewound?.get("r") ?? "")).toBe(rewound?.has("n"));
		expect([...(last ?? [])].filter(([id, text]) => /^[a-l]$/.test(id) && !isShrunk(text))).toEqual([]);
		expect(last?.has("n")).toBe(false);
	});
});
