import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { buildSessionContext } from "@earendil-works/pi-coding-agent";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type AnyMessage, type PiVersion, piVersions, type SessionLog, sessionLog, shape } from "../testing/index.ts";
import { Branch, type BranchSource, keyOf } from "./branch.ts";
import type { Message, SessionEntry } from "./messages.ts";

/** Pi's own reader of a session's context, without the rest of Pi. */
async function contextBuilder({ root }: PiVersion): Promise<typeof buildSessionContext> {
	return (await import(pathToFileURL(join(root, "dist/core/session-manager.js")).href)).buildSessionContext;
}

const edges = piVersions().filter(({ name }) => name === "oldest" || name === "newest");

/** A session log as the branch reads it, counting what it is asked for. */
function sourceOf(log: SessionLog) {
	const labels = () =>
		new Map(log.entries().flatMap((entry) => (entry.type === "label" ? [[entry.targetId, entry.label] as const] : [])));
	const asked: string[] = [];
	const source: BranchSource = {
		getLeafId: () => log.leaf,
		getEntry(id) {
			asked.push(id);
			return log.entries().find((entry) => entry.id === id) as SessionEntry | undefined;
		},
		getLabel: (id) => labels().get(id),
	};
	return { source, asked };
}

function branchOf(log: SessionLog, isProjected = false): Branch {
	const branch = new Branch();
	const { source } = sourceOf(log);
	branch.sync(isProjected ? { ...source, buildSessionProjection: () => ({}) } : source);
	return branch;
}

const ids = (entries: readonly { readonly id: string }[]) => entries.map(({ id }) => id);

/** All that a branch answers, for every entry that the session ever had. */
function answers(branch: Branch, all: readonly string[]) {
	return {
		leafId: branch.leafId,
		ids: [...branch.ids()],
		context: ids(branch.context()),
		listedLength: branch.listedLength,
		contextTokens: branch.contextTokens,
		users: ids(branch.users),
		records: branch.records("record"),
		customMessages: ids(branch.customMessages("note")),
		count: branch.since(0).count,
		of: all.map((id) => ({
			has: branch.has(id),
			message: branch.entry(id)?.message,
			tokens: branch.entry(id)?.tokens,
			inContext: branch.inContext(id),
			isAmbiguous: branch.isAmbiguous(id),
			group: branch.groupOf(id),
			after: ids(branch.after(id)),
			atOrBefore: branch.contextAtOrBefore(id)?.id,
			before: all.filter((other) => branch.isBefore(other, id)),
		})),
		groups: ["c1", "c2", "same"].map((id) => branch.groupOfCall(id)),
	};
}

type Step =
	| { readonly do: "user" | "say" | "record" | "note" | "bash" | "model" | "system" | "summary" }
	| { readonly do: "batch"; readonly ids: readonly string[] }
	| { readonly do: "late"; readonly id: string }
	| { readonly do: "compact" | "move"; readonly at: number }
	| { readonly do: "root" | "compactAll" };

const place = fc.integer({ min: 0, max: 999 }).map((thousandths) => thousandths / 1000);
const callId = fc.constantFrom("c1", "c2", "same");
const step: fc.Arbitrary<Step> = fc.oneof(
	{ weight: 6, arbitrary: fc.constantFrom("user", "say", "record", "note").map((what) => ({ do: what }) as Step) },
	{ weight: 2, arbitrary: fc.constantFrom("bash", "model", "system", "summary").map((what) => ({ do: what }) as Step) },
	{
		weight: 4,
		arbitrary: fc.uniqueArray(callId, { minLength: 1 }).map((given) => ({ do: "batch", ids: given }) as const),
	},
	{ weight: 1, arbitrary: callId.map((id) => ({ do: "late", id }) as const) },
	{ weight: 2, arbitrary: place.map((at) => ({ do: "compact", at }) as const) },
	{ weight: 2, arbitrary: place.map((at) => ({ do: "move", at }) as const) },
	{ weight: 1, arbitrary: fc.constantFrom("root", "compactAll").map((what) => ({ do: what }) as Step) },
);
const steps = fc.array(step, { minLength: 1, maxLength: 40, size: "max" });

/** Ids on the current branch, oldest first. */
function path(log: SessionLog): string[] {
	const byId = new Map(log.entries().map((entry) => [entry.id, entry]));
	const found: string[] = [];
	for (let id = log.leaf; id !== null; id = byId.get(id)?.parentId ?? null) found.unshift(id);
	return found;
}

/** Where a compaction may start to keep: after the last one, as Pi does unless it kept more than that one spoke of. */
function firstKept(log: SessionLog, at: number): string | undefined {
	const types = new Map(log.entries().map((entry) => [entry.id, entry.type]));
	const all = path(log);
	const candidates = all.slice(all.findLastIndex((id) => types.get(id) === "compaction") + 1);
	return candidates[Math.floor(at * candidates.length)];
}

/** Takes one step, where the session can; what it returns says nothing. */
function take(log: SessionLog, what: Step): unknown {
	switch (what.do) {
		case "user":
			return log.user(`do ${log.entries().length}`);
		case "say":
			return log.assistant("well");
		case "record":
			return log.custom("record", { n: log.entries().length });
		case "note":
			return log.customMessage("note", "N");
		case "bash":
			return log.bash("ls", "a.ts");
		case "model":
			return log.modelChange("model-b");
		case "system":
			return log.system({});
		case "summary":
			return log.leaf !== null && log.branchSummary("LEFT", { branchFrom: log.leaf });
		case "batch":
			return log.batch(what.ids.map((id) => ({ id, name: "read", result: `result of ${id}` })));
		case "late":
			return wasCalled(log, what.id) && log.result(what.id, "late");
		case "compact": {
			const kept = firstKept(log, what.at);
			return kept !== undefined && log.compaction("SUMMARY", { firstKept: kept });
		}
		case "compactAll":
			return log.leaf !== null && log.compaction("SUMMARY", { firstKept: "nowhere" });
		case "move":
			return log.branchFrom(log.entries()[Math.floor(what.at * log.entries().length)]?.id ?? null);
		case "root":
			return log.branchFrom(null);
	}
}

/** Whether a call of this id was made anywhere in the session: a result of another cannot be written. */
function wasCalled(log: SessionLog, callId: string): boolean {
	return log
		.entries()
		.some((entry) => entry.type === "message" && shape([entry.message]).join().includes(`#${callId}`));
}

describe("over random sessions with moves and compactions", () => {
	test("reading what is new gives the same as reading all anew", () =>
		fc.assert(
			fc.property(steps, fc.array(fc.boolean(), { minLength: 40, maxLength: 40 }), (taken, reads) => {
				const log = sessionLog();
				const { source } = sourceOf(log);
				const branch = new Branch();
				taken.forEach((one, index) => {
					take(log, one);
					if (!reads[index]) return;
					branch.sync(source);
					const all = log.entries().map(({ id }) => id);
					expect(answers(branch, all)).toEqual(answers(branchOf(log), all));
				});
			}),
			{ numRuns: 80 },
		));

	test.each(edges)("the context is the list that Pi $version builds, without its system messages", async (version) => {
		const build = await contextBuilder(version);
		fc.assert(
			fc.property(steps, (taken) => {
				const log = sessionLog();
				for (const one of taken) take(log, one);
				const built = build(log.entries(), log.leaf).messages as readonly AnyMessage[];
				const own = branchOf(log)
					.context()
					.map(({ message }) => message as unknown as AnyMessage);
				expect(shape(own)).toEqual(shape(built.filter(({ role }) => role !== "system")));
			}),
			{ numRuns: 80 },
		);
	});

	test("the size of the context is the sum of its entries, and its length their number", () =>
		fc.assert(
			fc.property(steps, (taken) => {
				const log = sessionLog();
				const { source } = sourceOf(log);
				const branch = new Branch();
				for (const one of taken) {
					take(log, one);
					branch.sync(source);
					expect(branch.contextTokens).toBe(branch.context().reduce((sum, { tokens }) => sum + tokens, 0));
					expect(branch.listedLength).toBe(branch.context().length);
					expect(new Set(ids(branch.context()))).toEqual(
						new Set([...branch.ids()].filter((id) => branch.inContext(id))),
					);
				}
			}),
			{ numRuns: 50 },
		));
});

describe("what a reading costs", () => {
	function long(length: number) {
		const log = sessionLog();
		for (let count = 0; count < length; count++) log.user(`message ${count}`);
		const { source, asked } = sourceOf(log);
		const branch = new Branch();
		branch.sync(source);
		const cost = (sync: () => void) => {
			asked.length = 0;
			sync();
			return asked.length;
		};
		return { log, branch, source, cost, first: asked.length };
	}

	test.each([10, 100, 500])(
		"of %i entries: each once at first, then one for growth by one, none without growth",
		(length) => {
			const { log, branch, source, cost, first } = long(length);
			expect(first).toBe(length);
			expect(cost(() => branch.sync(source))).toBe(0);
			log.user("one more");
			expect(cost(() => branch.sync(source))).toBe(1);
			log.custom("record", {});
			log.user("two more");
			expect(cost(() => branch.refresh())).toBe(2);
		},
	);

	test("after a move: the new branch, at most twice", () => {
		const { log, branch, source, cost } = long(100);
		log.branchFrom(log.entries()[49]?.id ?? null);
		log.user("elsewhere");
		expect(cost(() => branch.sync(source))).toBeLessThanOrEqual(2 * 51);
		expect(branch.listedLength).toBe(51);
	});
});

describe("a damaged session", () => {
	const entry = (id: string, parentId: string | null): SessionEntry => ({
		type: "message",
		id,
		parentId,
		timestamp: "2026-01-05T09:00:00.000Z",
		message: { role: "user", content: id, timestamp: 1 },
	});
	const read = (leafId: string, ...entries: readonly SessionEntry[]) => {
		const branch = new Branch();
		const move = (leaf: string) =>
			branch.sync({
				getLeafId: () => leaf,
				getEntry: (id) => entries.find((one) => one.id === id),
				getLabel: () => undefined,
			});
		move(leafId);
		return { branch, move };
	};

	test("with a cycle of parents is read up to it, each entry once", () => {
		const { branch, move } = read("b", entry("a", "c"), entry("b", "a"), entry("c", "b"), entry("d", "c"));
		expect([...branch.ids()]).toEqual(["c", "a", "b"]);
		move("d");
		expect([...branch.ids()].sort()).toEqual(["a", "b", "c", "d"]);
		expect(branch.listedLength).toBe(4);
	});

	test("with any parents whatever is read as if for the first time, wherever its leaf moves", () => {
		const names = ["a", "b", "c", "d", "e"];
		const parent = fc.option(fc.constantFrom(...names, "gone"), { nil: null });
		fc.assert(
			fc.property(
				fc.tuple(parent, parent, parent, parent, parent),
				fc.array(fc.constantFrom(...names), { minLength: 1, maxLength: 6 }),
				(parents, leaves) => {
					const entries = names.map((name, index) => entry(name, parents[index] ?? null));
					const { branch, move } = read(leaves[0] ?? "a", ...entries);
					for (const leaf of leaves) {
						move(leaf);
						expect(answers(branch, names)).toEqual(answers(read(leaf, ...entries).branch, names));
					}
				},
			),
			{ numRuns: 300 },
		);
	});

	test("with an entry that is its own parent is read", () => {
		expect([...read("b", entry("a", "a"), entry("b", "a")).branch.ids()]).toEqual(["a", "b"]);
	});

	test("with a parent that is missing begins after it", () => {
		expect([...read("b", entry("a", "gone"), entry("b", "a")).branch.ids()]).toEqual(["a", "b"]);
	});

	test("with a leaf that is missing is empty", () => {
		const { branch, move } = read("gone", entry("a", null));
		expect([...branch.ids()]).toEqual([]);
		move("a");
		expect([...branch.ids()]).toEqual(["a"]);
	});
});

describe("the context", () => {
	test("has every entry that says something to the model, oldest first, and no other", () => {
		const log = sessionLog();
		const said = [log.user("U")];
		log.modelChange("model-b");
		log.thinkingLevel("high");
		said.push(log.assistant("A"), log.bash("ls", "a.ts"), log.customMessage("note", "N"));
		log.custom("record", {});
		log.label(said[0] ?? "", "here");
		log.sessionName("name");
		log.system({});
		log.contextEdit(said[0] ?? "", null);
		said.push(log.branchSummary("LEFT", { branchFrom: log.leaf ?? "" }));
		log.branchSummary("", { branchFrom: log.leaf ?? "" });
		expect(ids(branchOf(log).context())).toEqual(said);
	});

	test("shows originals, whatever Pi's own edits say", () => {
		const log = sessionLog();
		const id = log.user("ORIGINAL");
		log.contextEdit(id, "EDITED");
		expect(branchOf(log).entry(id)?.message).toMatchObject({ content: [{ type: "text", text: "ORIGINAL" }] });
	});

	test("after a compaction has its summary first, then what it kept, then what is new", () => {
		const log = sessionLog();
		const [first, gone] = [log.user("first"), log.user("gone")];
		const [kept, alsoKept] = [log.user("kept"), log.assistant("also kept")];
		const summary = log.compaction("SUMMARY", { firstKept: kept });
		const fresh = log.user("new");
		const branch = branchOf(log);
		expect(ids(branch.context())).toEqual([summary, kept, alsoKept, fresh]);
		expect([gone, kept, summary, fresh].map((id) => branch.inContext(id))).toEqual([false, true, true, true]);
		expect(branch.listedLength).toBe(4);
		for (const id of [first, gone]) expect(ids(branch.after(id))).toEqual([kept, alsoKept, summary, fresh]);
		expect(ids(branch.users)).toEqual([first, gone, kept, fresh]);
		expect(branch.has(gone)).toBe(true);
	});

	test.each(["nowhere", ""])(
		"after a compaction that kept nothing (from %j) has its summary and what is new",
		(firstKept) => {
			const log = sessionLog();
			log.user("gone");
			const summary = log.compaction("SUMMARY", { firstKept });
			const fresh = log.user("new");
			expect(ids(branchOf(log).context())).toEqual([summary, fresh]);
		},
	);

	test.each(edges)("has an older compaction inside what a newer one kept as Pi $version has it", async (version) => {
		const build = await contextBuilder(version);
		const log = sessionLog();
		log.user("gone");
		const kept = log.user("kept");
		log.compaction("OLD", { firstKept: kept });
		log.user("between");
		log.compaction("NEW", { firstKept: kept });
		const built = build(log.entries(), log.leaf).messages as readonly AnyMessage[];
		const own = branchOf(log, version.name === "newest")
			.context()
			.map(({ message }) => message as unknown as AnyMessage);
		expect(shape(own)).toEqual(shape(built));
	});
});

describe("a tool group", () => {
	test("is an assistant message with calls and the results that are stored so far", () => {
		const log = sessionLog();
		log.user("U");
		const assistantId = log.assistant({
			calls: [
				{ id: "a", name: "read", args: {} },
				{ id: "b", name: "bash", args: {} },
			],
		});
		const first = log.result("a", "A");
		const branch = branchOf(log);
		expect(branch.groupOf(first)).toMatchObject({ assistantId, resultIds: [first] });
		const second = log.result("b", "B");
		branch.sync(sourceOf(log).source);
		expect(branch.groupOf(assistantId)).toMatchObject({ assistantId, resultIds: [first, second] });
		expect(branch.groupOf(assistantId)?.calls.map(({ name }) => name)).toEqual(["read", "bash"]);
		for (const id of [first, second]) expect(branch.groupOf(id)).toBe(branch.groupOf(assistantId));
		for (const id of ["a", "b"]) expect(branch.groupOfCall(id)).toBe(branch.groupOf(assistantId));
	});

	test("of a call id that is used again is the newest with it; earlier results stay in theirs", () => {
		const log = sessionLog();
		const first = log.batch([{ id: "same", name: "read", result: "ONE" }]);
		const second = log.batch([{ id: "same", name: "read", result: "TWO" }]);
		const branch = branchOf(log);
		expect(branch.groupOfCall("same")?.assistantId).toBe(second.assistant);
		expect(branch.groupOf(first.results[0] ?? "")?.assistantId).toBe(first.assistant);
		expect(branch.groupOf(second.results[0] ?? "")?.assistantId).toBe(second.assistant);
	});

	test("is nothing that messages without calls are part of", () => {
		const log = sessionLog();
		const entries = [log.user("U"), log.assistant("A"), log.customMessage("note", "N")];
		const branch = branchOf(log);
		for (const id of [...entries, "nowhere"]) expect(branch.groupOf(id)).toBeUndefined();
		expect(branch.groupOfCall("nowhere")).toBeUndefined();
	});
});

describe("places on the branch", () => {
	function linear() {
		const log = sessionLog();
		const first = log.user("first");
		const record = log.custom("record", {});
		const second = log.user("second");
		return { log, first, record, second, branch: branchOf(log) };
	}

	test("come before one another in the order of the branch, those off it never", () => {
		const { branch, first, record, second } = linear();
		expect(branch.isBefore(first, record)).toBe(true);
		expect(branch.isBefore(record, second)).toBe(true);
		expect(branch.isBefore(second, first)).toBe(false);
		expect(branch.isBefore(first, first)).toBe(false);
		expect(branch.isBefore("nowhere", first)).toBe(false);
		expect(branch.isBefore(first, "nowhere")).toBe(false);
	});

	test("have the entries after them, and the one at or before them", () => {
		const { branch, first, record, second } = linear();
		expect([first, record, second, "nowhere"].map((id) => ids(branch.after(id)))).toEqual([[second], [second], [], []]);
		expect([first, record, second, "nowhere"].map((id) => branch.contextAtOrBefore(id)?.id)).toEqual([
			first,
			first,
			second,
			undefined,
		]);
	});

	test("have no entry at or before them where none says anything", () => {
		const log = sessionLog();
		const record = log.custom("record", {});
		log.user("first");
		expect(branchOf(log).contextAtOrBefore(record)).toBeUndefined();
	});

	test("have the last message before them in the list, custom messages passed over", () => {
		const { log, first, record, second } = linear();
		const note = log.customMessage("note", "N");
		const last = log.custom("record", {});
		const branch = branchOf(log);
		expect([first, record, second, note, last, "nowhere"].map((id) => branch.listedBefore(id)?.id)).toEqual([
			first,
			first,
			second,
			second,
			second,
			undefined,
		]);
	});

	test("have what a compaction kept before them in the list, its summary where it kept nothing", () => {
		const { log, first, record, second } = linear();
		log.compaction("SUMMARY", { firstKept: second });
		const after = log.custom("record", {});
		const kept = branchOf(log);
		expect([first, record, after].map((id) => kept.listedBefore(id)?.id)).toEqual([undefined, undefined, second]);
		const summary = log.compaction("SUMMARY", { firstKept: "nowhere" });
		const last = log.custom("record", {});
		const empty = branchOf(log);
		expect([second, after, last].map((id) => empty.listedBefore(id)?.id)).toEqual([undefined, undefined, summary]);
	});

	test("have the labels of the session", () => {
		const { log, branch, first } = linear();
		log.label(first, "here");
		expect([branch.label(first), branch.label("nowhere")]).toEqual(["here", undefined]);
	});
});

describe("the label number", () => {
	test("grows with a label set or cleared, a move and a compaction, not with messages and records", () => {
		const log = sessionLog();
		const { source } = sourceOf(log);
		const branch = new Branch();
		const numberAfter = (act: () => void) => {
			act();
			branch.sync(source);
			return branch.labelRevision;
		};
		const first = log.user("first");
		const start = numberAfter(() => {});
		expect(numberAfter(() => log.assistant("second"))).toBe(start);
		expect(numberAfter(() => log.custom("record", {}))).toBe(start);
		const numbers = [
			() => log.label(first, "here"),
			() => log.label(first, undefined),
			() => log.compaction("SUMMARY", { firstKept: first }),
			() => log.branchFrom(first),
		].map(numberAfter);
		expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
		expect(numbers[0]).toBeGreaterThan(start);
	});
});

describe("the structure number", () => {
	test("grows with a move and a compaction, not with growth", () => {
		const log = sessionLog();
		const { source } = sourceOf(log);
		const branch = new Branch();
		const structureAfter = (act: () => void) => {
			act();
			branch.sync(source);
			return branch.structure;
		};
		const first = log.user("first");
		const start = structureAfter(() => {});
		expect(structureAfter(() => log.user("second"))).toBe(start);
		expect(structureAfter(() => log.custom("record", {}))).toBe(start);
		const compacted = structureAfter(() => log.compaction("SUMMARY", { firstKept: first }));
		expect(compacted).toBeGreaterThan(start);
		expect(structureAfter(() => log.branchFrom(first))).toBeGreaterThan(compacted);
	});
});

describe("the key of a message", () => {
	const timestamp = 7;
	const custom: Message = { role: "custom", customType: "note", content: "N", display: true, timestamp };
	test.each<[string, Message, Message, boolean]>([
		[
			"a result by its call, whatever its content and time",
			{ role: "toolResult", toolCallId: "c", toolName: "read", content: "A", timestamp },
			{ role: "toolResult", toolCallId: "c", toolName: "read", content: "B", timestamp: 8 },
			true,
		],
		[
			"results of different calls apart",
			{ role: "toolResult", toolCallId: "c", toolName: "read", content: "A", timestamp },
			{ role: "toolResult", toolCallId: "d", toolName: "read", content: "A", timestamp },
			false,
		],
		[
			"a user message by its time, whatever its content",
			{ role: "user", content: "A", timestamp },
			{ role: "user", content: "B", timestamp },
			true,
		],
		[
			"user messages of different times apart",
			{ role: "user", content: "A", timestamp },
			{ role: "user", content: "A", timestamp: 8 },
			false,
		],
		[
			"messages of one time by their role",
			{ role: "user", content: "A", timestamp },
			{ role: "assistant", content: "A", timestamp },
			false,
		],
		["a custom message by its content, whatever its time", custom, { ...custom, timestamp: 8 }, true],
		["custom messages of different contents apart", custom, { ...custom, content: "M" }, false],
		["custom messages of different types apart", custom, { ...custom, customType: "other" }, false],
	])("tells %s", (_what, one, other, isSame) => {
		expect(keyOf(one) === keyOf(other)).toBe(isSame);
	});

	test("is ambiguous exactly where two entries of the branch share it", () => {
		const log = sessionLog();
		const first = log.batch([{ id: "same", name: "read", result: "ONE" }]);
		const branch = branchOf(log);
		const [one] = first.results;
		expect(branch.isAmbiguous(one ?? "")).toBe(false);
		const second = log.batch([{ id: "same", name: "read", result: "TWO" }]);
		branch.sync(sourceOf(log).source);
		expect(
			[one ?? "", second.results[0] ?? "", first.assistant, "nowhere"].map((id) => branch.isAmbiguous(id)),
		).toEqual([true, true, false, false]);
	});
});
