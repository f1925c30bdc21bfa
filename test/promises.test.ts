import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Message, SessionEntry } from "../src/kernel/messages.ts";
import { type AnyMessage, orphans, piVersions } from "../src/testing/index.ts";
import { KernelSession } from "./support/kernel-session.ts";
import { note, wire } from "./support/mulligan.ts";

const edges = piVersions().filter(({ name }) => name === "oldest" || name === "newest");

type Step =
	| { readonly do: "user" | "say" | "break" }
	| { readonly do: "batch"; readonly calls: number; readonly size: number }
	| { readonly do: "rewind"; readonly granularity: string; readonly siblings: number }
	| { readonly do: "shrink"; readonly occurrence: string; readonly siblings: number }
	| { readonly do: "cancel"; readonly occurrence: string; readonly newest: boolean }
	| { readonly do: "checkpoint" }
	| { readonly do: "compact"; readonly at: number; readonly isIdle: boolean }
	| { readonly do: "model"; readonly isIdle: boolean }
	| { readonly do: "branch"; readonly at: number }
	| { readonly do: "marker"; readonly at: readonly number[] }
	| { readonly do: "forget" };

const granularity = fc.constantFrom("last_tool_call_group", "last_turn", "checkpoint");
/** A place on the branch as a share of its length. Even, unlike fast-check's doubles, which crowd at zero. */
const place = fc.integer({ min: 0, max: 999 }).map((thousandths) => thousandths / 1000);
const occurrence = fc.constantFrom("first", "last");
const step: fc.Arbitrary<Step> = fc.oneof(
	{ weight: 3, arbitrary: fc.record({ do: fc.constant("user" as const) }) },
	{ weight: 1, arbitrary: fc.record({ do: fc.constantFrom("say" as const, "break" as const) }) },
	{
		weight: 5,
		arbitrary: fc.record({
			do: fc.constant("batch" as const),
			calls: fc.integer({ min: 1, max: 3 }),
			size: fc.integer({ min: 0, max: 400 }),
		}),
	},
	{
		weight: 3,
		arbitrary: fc.record({ do: fc.constant("rewind" as const), granularity, siblings: fc.integer({ min: 0, max: 2 }) }),
	},
	{
		weight: 3,
		arbitrary: fc.record({ do: fc.constant("shrink" as const), occurrence, siblings: fc.integer({ min: 0, max: 1 }) }),
	},
	{ weight: 2, arbitrary: fc.record({ do: fc.constant("cancel" as const), occurrence, newest: fc.boolean() }) },
	{ weight: 1, arbitrary: fc.record({ do: fc.constant("checkpoint" as const) }) },
	{
		weight: 1,
		arbitrary: fc.record({ do: fc.constant("compact" as const), at: place, isIdle: fc.boolean() }),
	},
	{ weight: 1, arbitrary: fc.record({ do: fc.constant("model" as const), isIdle: fc.boolean() }) },
	{
		weight: 1,
		arbitrary: fc.record({ do: fc.constant("branch" as const), at: place }),
	},
	{
		weight: 1,
		arbitrary: fc.record({
			do: fc.constant("marker" as const),
			at: fc.array(place, { maxLength: 5 }),
		}),
	},
	{ weight: 1, arbitrary: fc.record({ do: fc.constant("forget" as const) }) },
);
const steps = fc.array(step, { minLength: 1, maxLength: 40, size: "max" });

/** Takes one step. Returns the answer of an op, if it was one. */
async function take(session: KernelSession, what: Step): Promise<{ readonly details: object } | undefined> {
	switch (what.do) {
		case "user":
			return void session.user("do it");
		case "say":
			return void session.say("well");
		case "break":
			return void session.breakOff("read");
		case "batch":
			return void session.batch(["read", "grep", "bash"].slice(0, what.calls), what.size);
		case "rewind":
			return session.op(
				"mulligan_rewind",
				{ note: note(), granularity: what.granularity, checkpoint: "here" },
				Array(what.siblings).fill("read"),
			);
		case "shrink":
			return session.op(
				"mulligan_shrink",
				{ target: { by_tool_name: "read", occurrence: what.occurrence }, replacement: "short" },
				Array(what.siblings).fill("read"),
			);
		case "cancel": {
			const newest = session
				.branch()
				.findLast((entry) => entry.type === "custom" && /rewind|shrink/.test(entry.customType));
			const target = { by_tool_name: "read", occurrence: what.occurrence };
			return session.op("mulligan_cancel", what.newest && newest ? { markerId: newest.id } : { target });
		}
		case "checkpoint": {
			const id = session.manager.appendCustomEntry("mulligan:checkpoint", {
				schema: "pi-mulligan",
				v: 1,
				name: "here",
			});
			return void session.manager.appendLabelChange(id, "mulligan:checkpoint:here");
		}
		case "compact": {
			const firstKept = cutPoint(session, what.at);
			if (firstKept) await session.compact(firstKept.id);
			if (what.isIdle) session.storeNotes();
			return undefined;
		}
		case "model":
			session.changeModel();
			if (what.isIdle) session.storeNotes();
			return undefined;
		case "branch": {
			const entry = entryAt(session, what.at);
			session.storeNotes();
			return entry && void session.manager.branch(entry.id);
		}
		case "marker": {
			const hideEntryIds = what.at.flatMap((at) => entryAt(session, at)?.id ?? []);
			return void session.manager.appendCustomEntry(
				"mulligan:rewind",
				anyRewind(hideEntryIds, session.branch().length),
			);
		}
		case "forget":
			return void session.forget();
	}
}

/** A valid marker that hides what no call would have pinned: halves of groups, prompts, entries without a message. */
function anyRewind(hideEntryIds: readonly string[], seq: number): object {
	return {
		schema: "pi-mulligan",
		v: 1,
		kind: "rewind",
		seq,
		ts: 0,
		id: `foreign-${seq}`,
		granularity: "last_turn",
		excludeToolCallId: "none",
		hideEntryIds,
		note: note(),
		ledger: { filesRead: [], filesModified: [], bashSideEffects: [] },
	};
}

function entryAt(session: KernelSession, at: number) {
	const branch = session.branch();
	return branch[Math.min(branch.length - 1, Math.floor(at * branch.length))];
}

/** What a compaction keeps first: no result without its call, and all records that stand directly before. */
function cutPoint(session: KernelSession, at: number): SessionEntry | undefined {
	const branch = session.branch();
	const entry = entryAt(session, at);
	if (!entry || !isCutPoint(entry)) return undefined;
	let index = branch.indexOf(entry);
	while (branch[index - 1]?.type === "custom" || branch[index - 1]?.type === "label") index--;
	return branch[index];
}

function isCutPoint(entry: SessionEntry): boolean {
	return entry.type === "custom_message" || (entry.type === "message" && entry.message.role !== "toolResult");
}

const ids = (messages: readonly Message[]) => {
	const { calls, results } = orphans(messages as unknown as readonly AnyMessage[]);
	return [...calls, ...results];
};
/** The notes of a list, with their places. */
const notes = (messages: readonly Message[]) =>
	messages.flatMap((message, index) => (message.role === "custom" ? [{ index, content: message.content }] : []));
/** Which rewinds the notes of a list are of. */
const noted = (messages: readonly Message[]) =>
	messages.flatMap((message) => (message.role === "custom" ? [JSON.stringify(message.details)] : []));
/** The rewinds and shrinks that were ever active on the branch. */
const markersOf = (session: KernelSession) =>
	session.branch().filter((entry) => entry.type === "custom" && /^mulligan:(rewind|shrink)$/.test(entry.customType));
const text = (messages: readonly Message[]) => messages.map((message) => JSON.stringify(message));

const AT_ONCE = { maxMoments: 1000, flushShedTokens: 0, safetyValveTokens: 0 };
/** Small enough that random sessions queue, flush, spend their budget and open the safety valve. */
const BATCHED = { maxMoments: 2, flushShedTokens: 150, safetyValveTokens: 300 };

/** Sessions that each promise is tried on; a search for rare faults sets more. */
const RUNS = Number(process.env.MULLIGAN_RUNS ?? 100);
const timeout = 60_000 + 100 * RUNS;

describe.each(edges)("over random sessions of Pi $version", { timeout }, (version) => {
	const check = (
		property: (session: KernelSession, taken: readonly Step[]) => Promise<void>,
		{ rules = [AT_ONCE, BATCHED] } = {},
	) =>
		fc.assert(
			fc.asyncProperty(steps, fc.boolean(), fc.constantFrom(...rules), async (taken, reusesIds, rule) =>
				property(await KernelSession.open(version, { reusesIds, rules: rule }), taken),
			),
			{ numRuns: RUNS },
		);

	test("no call and no result is orphaned by us", () =>
		check(async (session, taken) => {
			for (const one of taken) {
				await take(session, one);
				const original = session.original();
				const before = ids(original);
				expect(ids(session.request(original)).filter((id) => !before.includes(id))).toEqual([]);
			}
		}));

	test("the view of a session without markers is the very same list", () =>
		check(async (session, taken) => {
			for (const one of taken) {
				if (["rewind", "shrink", "cancel", "marker"].includes(one.do)) continue;
				await take(session, one);
				const original = session.original();
				expect(session.request(original)).toBe(original);
			}
		}));

	test("between two ops every request begins with the one before", () =>
		check(async (session, taken) => {
			let last: unknown[] | undefined;
			for (const one of taken) {
				const answer = await take(session, one);
				const now = wire(session.request());
				const isGrowth = ["user", "say", "break", "batch", "forget"].includes(one.do);
				if (last && isGrowth && !answer) expect(now.slice(0, last.length)).toEqual(last);
				last = now;
			}
		}));

	test("the first user message is never hidden", () =>
		check(async (session, taken) => {
			session.user("FIRST");
			for (const one of taken) {
				if (one.do === "branch" || one.do === "compact") continue;
				await take(session, one);
				expect(text(session.request())[0]).toContain("FIRST");
			}
		}));

	test("what is not of an op passes through as it is", () =>
		check(async (session, taken) => {
			for (const one of taken) {
				await take(session, one);
				const original = text(session.original());
				const strangers = text(session.request()).filter(
					(line) => !original.includes(line) && !line.includes("<context-shrunk>") && !line.includes("mulligan:note"),
				);
				expect(strangers).toEqual([]);
			}
		}));

	test("cancelling every op gives the originals back byte for byte", () =>
		check(async (session, taken) => {
			for (const one of taken) await take(session, one);
			// A cancel may be what the ops that wait ride on: their markers come after those that were there.
			for (let markers = 0; markersOf(session).length > markers; markers++)
				await session.op("mulligan_cancel", { markerId: markersOf(session)[markers]?.id });
			const noteless = (messages: readonly Message[]) => text(messages.filter((message) => !("customType" in message)));
			expect(noteless(session.request())).toEqual(noteless(session.original()));
			expect(text(session.request()).some((line) => line.includes("mulligan:note"))).toBe(false);
		}));

	test("a note stands in the view once, at one place, whether or not Pi sends its entry yet", () =>
		check(async (session, taken) => {
			for (const one of taken) {
				await take(session, one);
				const sent = notes(session.request());
				const held = (of: (customMessages: number) => boolean) => {
					let customMessages = 0;
					const isHeld = ({ role }: Message) => role === "custom" && of(customMessages++);
					return notes(session.request(session.original(isHeld)));
				};
				expect(held(() => true)).toEqual(sent);
				expect(held((count) => count % 2 === 0)).toEqual(sent);
				expect(held((count) => count % 2 === 1)).toEqual(sent);
				expect(new Set(noted(session.request())).size).toBe(sent.length);
			}
		}));

	test("what waits changes nothing: the view shows exactly what the active markers say", () =>
		check(
			async (session, taken) => {
				for (const one of taken) {
					const before = text(session.request());
					const markers = () =>
						session.branch().filter((entry) => entry.type === "custom" && MARKERS.has(entry.customType)).length;
					const count = markers();
					const answer = await take(session, one);
					if (!answer || markers() !== count) continue;
					expect(text(session.request()).slice(0, before.length)).toEqual(before);
				}
			},
			{ rules: [BATCHED] },
		));
});

const MARKERS = new Set(["mulligan:rewind", "mulligan:shrink", "mulligan:cancel"]);
