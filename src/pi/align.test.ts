import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Branch } from "../kernel/branch.ts";
import type { Content, Message, SessionEntry } from "../kernel/messages.ts";
import type { DurableView, PlannedNote } from "../kernel/view.ts";
import { type AnyMessage, type SessionLog, sessionLog, shape } from "../testing/index.ts";
import { Alignment } from "./align.ts";

const viewOf = (parts: {
	readonly hidden?: readonly string[];
	readonly replaced?: Readonly<Record<string, Content>>;
	readonly notes?: readonly PlannedNote[];
}): DurableView => ({
	hidden: new Set(parts.hidden),
	replaced: new Map(Object.entries(parts.replaced ?? {})),
	notes: parts.notes ?? [],
	tokens: 0,
	agentTokens: 0,
});

/** A session with its branch, and the list that Pi makes of it: clones, without ids. */
function sessionOf<T>(build: (log: SessionLog) => T) {
	const log = sessionLog();
	const ids = build(log);
	const branch = new Branch();
	const sync = () =>
		branch.sync({
			getLeafId: () => log.leaf,
			getEntry: (id) => log.entries().find((entry) => entry.id === id) as SessionEntry | undefined,
			getLabel: () => undefined,
		});
	sync();
	const list = (): Message[] => {
		sync();
		return structuredClone(branch.context().map(({ message }) => message));
	};
	return { log, branch, ids, list };
}

const text = (content: string): Content => [{ type: "text", text: content }];
const lines = (messages: readonly Message[] | undefined) => messages && shape(messages as unknown as AnyMessage[]);
const foreign = (content: string): Message => ({ role: "user", content, timestamp: 1 });

/** A prompt, three groups, and an answer. */
const build = (log: SessionLog) => {
	const user = log.user("go");
	const a = log.batch([{ id: "a", name: "read", result: "A" }]);
	const b = log.batch([
		{ id: "b", name: "grep", result: "B" },
		{ id: "b2", name: "grep", result: "B2" },
	]);
	const c = log.batch([{ id: "c", name: "bash", result: "C" }]);
	const answer = log.assistant("done");
	return { user, a, b, c, answer, groupB: [b.assistant, ...b.results], resultC: c.results[0] ?? "" };
};

describe("a view that changes nothing", () => {
	test.each<[string, DurableView]>([
		["is empty", viewOf({})],
		["hides what is not in the list", viewOf({ hidden: ["nowhere"] })],
		["replaces what is not in the list", viewOf({ replaced: { nowhere: text("X") } })],
		[
			"has a note whose record is not on the branch",
			viewOf({ notes: [{ recordEntryId: "nowhere", customType: "n", content: "N", details: {}, timestamp: 1 }] }),
		],
	])("and %s leaves Pi its own list", (_what, view) => {
		const { branch, list } = sessionOf(build);
		const alignment = new Alignment();
		for (let requests = 0; requests < 2; requests++) expect(alignment.apply(list(), view, branch)).toBeUndefined();
	});

	test("leaves Pi its own list also where what it hides has been dropped by another", () => {
		const { branch, list, ids } = sessionOf(build);
		const dropped = list().filter((message) => message.role !== "toolResult" || message.toolCallId !== "c");
		expect(new Alignment().apply(dropped, viewOf({ hidden: [ids.resultC] }), branch)).toBeUndefined();
	});
});

describe("a view that changes something", () => {
	const hidesBAndReplacesC = (ids: ReturnType<typeof build>) =>
		viewOf({ hidden: ids.groupB, replaced: { [ids.resultC]: text("SHORT") } });

	test("gives a new list of the same messages, of which only the changed ones are new", () => {
		const { branch, list, ids } = sessionOf(build);
		const messages = list();
		const before = structuredClone(messages);
		const view = new Alignment().apply(messages, hidesBAndReplacesC(ids), branch);
		expect(lines(view)).toEqual([
			"user: go",
			"assistant → read#a",
			"result read#a: A",
			"assistant → bash#c",
			"result bash#c: SHORT",
			"assistant: done",
		]);
		expect(view?.map((message) => messages.indexOf(message))).toEqual([0, 1, 2, 6, -1, 8]);
		expect(messages).toEqual(before);
	});

	test("keeps everything of a replaced message but its content", () => {
		const { branch, list, ids } = sessionOf(build);
		const messages = list();
		const original = messages[7] as Message;
		const changed = new Alignment().apply(
			messages,
			viewOf({ replaced: { [ids.resultC]: text("SHORT") } }),
			branch,
		)?.[7];
		expect(changed).toEqual({ ...original, content: text("SHORT") });
		expect(Object.keys(changed ?? {})).toEqual(Object.keys(original));
	});

	test("replaces by a string as well", () => {
		const { branch, list, ids } = sessionOf(build);
		const view = new Alignment().apply(list(), viewOf({ replaced: { [ids.user]: "CHANGED" } }), branch);
		expect(view?.[0]).toMatchObject({ role: "user", content: "CHANGED" });
	});

	test("hides what is hidden and replaced", () => {
		const { branch, list, ids } = sessionOf(build);
		const view = viewOf({ hidden: ids.groupB, replaced: { [ids.b.results[0] ?? ""]: text("SHORT") } });
		expect(lines(new Alignment().apply(list(), view, branch))?.join()).not.toMatch(/SHORT|#b/);
	});

	test("never hands out what the session or the view holds for a changed message: changing it changes neither", () => {
		const { branch, ids } = sessionOf(build);
		const view = hidesBAndReplacesC(ids);
		const live = branch.context().map(({ message }) => message);
		const before = structuredClone({ live, replaced: view.replaced });
		const changed = new Alignment().apply(live, view, branch)?.[4] as unknown as {
			content: { text: string }[];
			toolName: string;
		};
		expect(live).not.toContain(changed);
		changed.toolName = "OTHER";
		(changed.content[0] as { text: string }).text = "OTHER";
		changed.content.push({ text: "MORE" });
		expect({ live, replaced: view.replaced }).toEqual(before);
	});

	test("leaves system messages where they are", () => {
		const { branch, list, ids } = sessionOf(build);
		const system = (timestamp: number) => ({ role: "system", content: "S", timestamp }) as unknown as Message;
		const messages = list();
		const [first, inside, last] = [system(1), system(2), system(3)];
		messages.splice(5, 0, inside);
		messages.unshift(first);
		messages.push(last);
		const alignment = new Alignment();
		for (let requests = 0; requests < 2; requests++) {
			const view = alignment.apply(messages, hidesBAndReplacesC(ids), branch) ?? [];
			expect(lines(view)).toEqual([
				"system",
				"user: go",
				"assistant → read#a",
				"result read#a: A",
				"system",
				"assistant → bash#c",
				"result bash#c: SHORT",
				"assistant: done",
				"system",
			]);
			expect([view[0], view[4], view[8]].map((message) => message && messages.indexOf(message))).toEqual([0, 6, 11]);
		}
	});
});

describe("from request to request", () => {
	/** What another extension may do to the list before us. */
	const MEDDLING: readonly [string, (messages: Message[]) => Message[]][] = [
		["leaves it alone", (messages) => messages],
		["adds a message in front", (messages) => [foreign("ADDED"), ...messages]],
		["adds one in the middle", (messages) => [...messages.slice(0, 4), foreign("ADDED"), ...messages.slice(4)]],
		["adds one at the end", (messages) => [...messages, foreign("ADDED")]],
		["drops the first", (messages) => messages.slice(1)],
		["drops the first and adds one at the end", (messages) => [...messages.slice(1), foreign("ADDED")]],
		["drops the last and adds one in front", (messages) => [foreign("ADDED"), ...messages.slice(0, -1)]],
		["turns it around", (messages) => [...messages].reverse()],
		[
			"swaps two groups",
			([u, a, ra, b, rb, rb2, c, rc, ...rest]) => [u, c, rc, b, rb, rb2, a, ra, ...rest] as Message[],
		],
		["drops what is hidden", (messages) => messages.filter((message) => !isOfB(message))],
		[
			"drops a result that is hidden",
			(messages) => messages.filter((m) => m.role !== "toolResult" || m.toolCallId !== "b"),
		],
	];
	const isOfB = (message: Message) => lines([message])?.[0]?.includes("#b") === true;

	const pairs = MEDDLING.flatMap((first) =>
		MEDDLING.map((second) => [first[0], second[0], first[1], second[1]] as const),
	);
	test.each(pairs)("edits are at their places where another %s, and then %s", (_first, _second, first, second) => {
		const { branch, list, ids } = sessionOf(build);
		const view = viewOf({ hidden: ids.groupB, replaced: { [ids.resultC]: text("SHORT") } });
		const alignment = new Alignment();
		for (const meddle of [first, second, first]) {
			const messages = meddle(list());
			const expected = (lines(messages) ?? [])
				.filter((line) => !line.includes("#b"))
				.map((line) => line.replace("#c: C", "#c: SHORT"));
			expect(lines(alignment.apply(messages, view, branch) ?? messages)).toEqual(expected);
		}
	});

	test("messages of one time are told apart by their role where another swaps them", () => {
		const { branch, list, ids } = sessionOf((log) => [log.user("ONE"), log.assistant("TWO")]);
		for (const { message } of branch.context()) (message as { timestamp: number }).timestamp = 5;
		const view = viewOf({ hidden: [ids[1] ?? ""] });
		const alignment = new Alignment();
		expect(lines(alignment.apply(list(), view, branch))).toEqual(["user: ONE"]);
		expect(lines(alignment.apply(list().reverse(), view, branch))).toEqual(["user: ONE"]);
	});

	test("messages that it has no business with are not looked at once the places are known", () => {
		const { log, branch, list, ids } = sessionOf(build);
		let looks = 0;
		const watched = () =>
			list().map((message) => {
				const { role } = message;
				return Object.defineProperty(message, "role", {
					enumerable: true,
					get: () => {
						if (role === "user") looks++;
						return role;
					},
				});
			});
		const view = viewOf({ hidden: ids.groupB });
		const alignment = new Alignment();
		alignment.apply(watched(), view, branch);
		expect(looks).toBeGreaterThan(0);
		looks = 0;
		log.assistant("more");
		expect(alignment.apply(watched(), view, branch)).toHaveLength(7);
		expect(looks).toBe(0);
	});

	test("what is hidden is hidden again when another that dropped it drops something else instead", () => {
		const { branch, list, ids } = sessionOf(build);
		const alignment = new Alignment();
		const view = viewOf({ hidden: [ids.answer] });
		const withoutAnswer = list().slice(0, -1);
		expect(alignment.apply(withoutAnswer, view, branch)).toBeUndefined();
		const withoutPrompt = list().slice(1);
		expect(lines(alignment.apply(withoutPrompt, view, branch))?.at(-1)).toBe("result bash#c: C");
	});

	test("edits are at their places while the session grows and the view with it", () => {
		const { log, branch, list, ids } = sessionOf(build);
		const alignment = new Alignment();
		const hidden = [...ids.groupB];
		for (let turn = 0; turn < 5; turn++) {
			const { assistant, results } = log.batch([{ id: `t${turn}`, name: "read", result: `T${turn}` }]);
			if (turn % 2 === 0) hidden.push(assistant, ...results);
			expect(lines(alignment.apply(list(), viewOf({ hidden }), branch))?.join()).not.toMatch(/#b|#t0|#t2|#t4/);
		}
		expect(lines(alignment.apply(list(), viewOf({ hidden }), branch))).toHaveLength(1 + 2 + 2 + 1 + 4);
	});

	test("edits are at their places after a compaction and after a move", () => {
		const { log, branch, list, ids } = sessionOf(build);
		const alignment = new Alignment();
		const view = viewOf({ hidden: ids.groupB, replaced: { [ids.resultC]: text("SHORT") } });
		alignment.apply(list(), view, branch);
		log.compaction("SUMMARY", { firstKept: ids.b.assistant });
		expect(lines(alignment.apply(list(), view, branch))).toEqual([
			"summary: SUMMARY",
			"assistant → bash#c",
			"result bash#c: SHORT",
			"assistant: done",
		]);
		log.branchFrom(ids.resultC);
		expect(lines(alignment.apply(list(), view, branch))).toEqual([
			"user: go",
			"assistant → read#a",
			"result read#a: A",
			"assistant → bash#c",
			"result bash#c: SHORT",
		]);
	});

	/** Drops, order and foreign messages of one request. */
	const meddling = fc.record({
		drops: fc.array(fc.nat(), { maxLength: 3 }),
		moves: fc.array(fc.tuple(fc.nat(), fc.nat()), { maxLength: 3 }),
		adds: fc.array(fc.nat(), { maxLength: 3 }),
	});
	test("edits are at their places whatever another extension does", () =>
		fc.assert(
			fc.property(
				fc.array(fc.nat(), { minLength: 1, maxLength: 5 }),
				fc.array(fc.nat(), { maxLength: 3 }),
				fc.array(meddling, { minLength: 1, maxLength: 5 }),
				(hides, replaces, requests) => {
					const { branch, list } = sessionOf((log) => {
						for (let count = 0; count < 12; count++) log.user(`message ${count}`);
					});
					const entries = branch.context();
					const idAt = (at: number) => entries[at % entries.length]?.id ?? "";
					const hidden = new Set(hides.map(idAt));
					const replaced = new Map(replaces.map((at) => [idAt(at), text("SHORT")]));
					const alignment = new Alignment();
					for (const { drops, moves, adds } of requests) {
						const messages = list();
						const ids = new Map(messages.map((message, index) => [message, entries[index]?.id ?? ""]));
						for (const at of drops) messages.splice(at % messages.length, 1);
						for (const [from, to] of moves)
							messages.splice(to % messages.length, 0, ...messages.splice(from % messages.length, 1));
						for (const at of adds) messages.splice(at % messages.length, 0, foreign("ADDED"));
						const expected = messages
							.filter((message) => !hidden.has(ids.get(message) ?? ""))
							.map((message) =>
								replaced.has(ids.get(message) ?? "") ? { ...message, content: text("SHORT") } : message,
							);
						const view = { hidden, replaced, notes: [], tokens: 0, agentTokens: 0 };
						expect(alignment.apply(messages, view, branch) ?? messages).toEqual(expected);
					}
				},
			),
			{ numRuns: 300 },
		));
});

describe("messages that share a key", () => {
	const same = (log: SessionLog) => {
		log.user("go");
		const first = log.batch([{ id: "same", name: "read", result: "ONE" }]);
		const second = log.batch([{ id: "same", name: "read", result: "TWO" }]);
		return { first: [first.assistant, ...first.results], second: [second.assistant, ...second.results] };
	};

	test.each([
		["first", "TWO"],
		["second", "ONE"],
	] as const)("because their call ids do: the %s is hidden, and only that", (which, stays) => {
		const { branch, list, ids } = sessionOf(same);
		const alignment = new Alignment();
		for (let requests = 0; requests < 2; requests++)
			expect(lines(alignment.apply(list(), viewOf({ hidden: ids[which] }), branch))).toEqual([
				"user: go",
				"assistant → read#same",
				`result read#same: ${stays}`,
			]);
	});

	test("are told apart by time also where another has dropped one of them", () => {
		const { branch, list, ids } = sessionOf(same);
		const withoutFirst = list().filter((_message, index) => index !== 1 && index !== 2);
		const view = viewOf({ replaced: { [ids.second[1] ?? ""]: text("SHORT") } });
		expect(lines(new Alignment().apply(withoutFirst, view, branch))?.at(-1)).toBe("result read#same: SHORT");
		const firstOnly = viewOf({ replaced: { [ids.first[1] ?? ""]: text("SHORT") } });
		expect(new Alignment().apply(withoutFirst, firstOnly, branch)).toBeUndefined();
	});

	test("are told apart also where another swaps them from one request to the next", () => {
		const { branch, list, ids } = sessionOf(same);
		const view = viewOf({ replaced: { [ids.second[1] ?? ""]: text("SHORT") } });
		const alignment = new Alignment();
		alignment.apply(list(), view, branch);
		const [user, a, one, b, two] = list();
		const swapped = [user, b, two, a, one] as Message[];
		const results = lines(alignment.apply(swapped, view, branch))?.filter((line) => line.startsWith("result"));
		expect(results).toEqual(["result read#same: SHORT", "result read#same: ONE"]);
	});

	test("and their time are taken in order", () => {
		const { branch, ids } = sessionOf(same);
		const list = () => branch.context().map(({ message }) => ({ ...message, timestamp: 5 }));
		for (const entry of branch.context()) (entry.message as { timestamp: number }).timestamp = 5;
		const view = viewOf({ replaced: { [ids.second[1] ?? ""]: text("SHORT") } });
		expect(lines(new Alignment().apply(list(), view, branch))).toEqual([
			"user: go",
			"assistant → read#same",
			"result read#same: ONE",
			"assistant → read#same",
			"result read#same: SHORT",
		]);
	});

	test.each([0, 1, 2])("because their contents do, as custom messages: number %i of three is hidden", (which) => {
		const { branch, list, ids } = sessionOf((log) => {
			log.user("go");
			const said: string[] = [];
			for (const between of ["x", "y", "z"]) {
				said.push(log.customMessage("note", "SAME"));
				log.user(between);
			}
			return said;
		});
		const messages = list().map((message) => ({
			...message,
			timestamp: message.role === "custom" ? 99 : message.timestamp,
		}));
		const expected = messages.filter((_message, index) => index !== 1 + 2 * which);
		const alignment = new Alignment();
		const hidden = viewOf({ hidden: [ids[which] ?? ""] });
		for (let requests = 0; requests < 2; requests++)
			expect(alignment.apply(messages, hidden, branch)).toEqual(expected);
	});
});

test("a custom message is found although Pi sends it with another time", () => {
	const { branch, list, ids } = sessionOf((log) => {
		log.user("go");
		return { note: log.customMessage("note", [{ type: "text", text: "N" }]), last: log.user("on") };
	});
	const messages = list().map((message) => (message.role === "custom" ? { ...message, timestamp: 99 } : message));
	expect(lines(new Alignment().apply(messages, viewOf({ hidden: [ids.note] }), branch))).toEqual([
		"user: go",
		"user: on",
	]);
});

describe("a note", () => {
	const noted = (log: SessionLog) => {
		log.user("go");
		const hidden = log.batch([{ id: "h", name: "read", result: "H" }]);
		const rewind = log.batch([
			{ id: "r", name: "mulligan_rewind", result: "R" },
			{ id: "s", name: "read", result: "S" },
		]);
		const record = log.custom("mulligan:rewind", {});
		return { hidden: [hidden.assistant, ...hidden.results], rewind, record };
	};
	const note = (recordEntryId: string, more: Partial<PlannedNote> = {}): PlannedNote => ({
		recordEntryId,
		customType: "mulligan:note",
		content: "NOTE",
		details: { rewindId: "m1" },
		timestamp: 5,
		...more,
	});
	const before = [
		"user: go",
		"assistant → mulligan_rewind#r, read#s",
		"result mulligan_rewind#r: R",
		"result read#s: S",
	];

	test("stands after the results of the turn that its record was written in, as a custom message", () => {
		const { branch, list, ids } = sessionOf(noted);
		const view = new Alignment().apply(list(), viewOf({ hidden: ids.hidden, notes: [note(ids.record)] }), branch);
		expect(lines(view)).toEqual([...before, "custom mulligan:note: NOTE"]);
		expect(view?.at(-1)).toEqual({
			role: "custom",
			customType: "mulligan:note",
			content: "NOTE",
			display: true,
			details: { rewindId: "m1" },
			timestamp: 5,
		});
	});

	test("stands after those results although the record was written before the last of them", () => {
		const { branch, list, ids } = sessionOf((log) => {
			log.user("go");
			log.assistant({
				calls: [
					{ id: "r", name: "mulligan_rewind", args: {} },
					{ id: "s", name: "read", args: {} },
				],
			});
			const record = log.custom("mulligan:rewind", {});
			log.result("r", "R");
			log.result("s", "S");
			return { record };
		});
		expect(lines(new Alignment().apply(list(), viewOf({ notes: [note(ids.record)] }), branch))).toEqual([
			...before,
			"custom mulligan:note: NOTE",
		]);
	});

	test("is not put in where Pi's list has its entry, and is where Pi holds that back", () => {
		const { log, branch, list, ids } = sessionOf(noted);
		const entryId = log.customMessage("mulligan:note", "NOTE", { details: { rewindId: "m1" } });
		log.user("on");
		const notes = [note(ids.record, { entryId })];
		const alignment = new Alignment();
		const held = () => list().filter(({ role }) => role !== "custom");
		const expected = [...before, "custom mulligan:note: NOTE", "user: on"];
		const view = viewOf({ hidden: ids.hidden, notes });
		expect(lines(alignment.apply(list(), view, branch))).toEqual(expected);
		expect(lines(alignment.apply(held(), view, branch))).toEqual(expected);
		expect(lines(alignment.apply(list(), view, branch))).toEqual(expected);
		expect(new Alignment().apply(list(), viewOf({ notes }), branch)).toBeUndefined();
	});

	test("keeps its place where the turn before it is hidden", () => {
		const { log, branch, list, ids } = sessionOf(noted);
		log.user("on");
		const hidden = [...ids.hidden, ids.rewind.assistant, ...ids.rewind.results];
		const view = new Alignment().apply(list(), viewOf({ hidden, notes: [note(ids.record)] }), branch);
		expect(lines(view)).toEqual(["user: go", "custom mulligan:note: NOTE", "user: on"]);
	});

	test("stands after what is left before it where another has dropped that turn", () => {
		const { log, branch, list, ids } = sessionOf(noted);
		log.user("on");
		const dropped = list().filter((message) => !/#r|#s/.test(lines([message])?.[0] ?? ""));
		const view = new Alignment().apply(dropped, viewOf({ notes: [note(ids.record)] }), branch);
		expect(lines(view)).toEqual([
			"user: go",
			"assistant → read#h",
			"result read#h: H",
			"custom mulligan:note: NOTE",
			"user: on",
		]);
	});

	test("leaves with its turn once that is compacted away", () => {
		const { log, branch, list, ids } = sessionOf(noted);
		const kept = log.user("on");
		log.compaction("SUMMARY", { firstKept: kept });
		expect(new Alignment().apply(list(), viewOf({ notes: [note(ids.record)] }), branch)).toBeUndefined();
	});

	test("stands after the note of an earlier record of its turn, whichever of them Pi carries", () => {
		const { log, branch, list, ids } = sessionOf(noted);
		const second = log.custom("mulligan:rewind", {});
		const entryId = log.customMessage("mulligan:note", "ONE");
		const secondEntryId = log.customMessage("mulligan:note", "TWO");
		log.user("on");
		const notes = [
			note(ids.record, { content: "ONE", entryId }),
			note(second, { content: "TWO", entryId: secondEntryId }),
		];
		const view = viewOf({ hidden: ids.hidden, notes });
		const expected = [...before, "custom mulligan:note: ONE", "custom mulligan:note: TWO", "user: on"];
		const alignment = new Alignment();
		for (const missing of ["ONE", "TWO", "ONE|TWO", "none", "TWO", "ONE"]) {
			const carried = list().filter((message) => message.role !== "custom" || !missing.includes(`${message.content}`));
			expect(lines(alignment.apply(carried, view, branch))).toEqual(expected);
		}
	});

	test("keeps its place where its entry is stored later, behind what came meanwhile", () => {
		const { log, branch, list, ids } = sessionOf(noted);
		const alignment = new Alignment();
		const request = (more: Partial<PlannedNote> = {}) =>
			lines(alignment.apply(list(), viewOf({ hidden: ids.hidden, notes: [note(ids.record, more)] }), branch));
		const expected = [...before, "custom mulligan:note: NOTE", "user: on"];
		log.user("on");
		expect(request()).toEqual(expected);
		const entryId = log.customMessage("mulligan:note", "NOTE");
		expect(request({ entryId })).toEqual(expected);
		log.user("and on");
		expect(request({ entryId })).toEqual([...expected, "user: and on"]);
	});

	test("stands before what another extension put behind the turn, whether or not Pi carries that", () => {
		const { log, branch, list, ids } = sessionOf(noted);
		log.customMessage("other", "OTHER");
		const entryId = log.customMessage("mulligan:note", "NOTE");
		log.user("on");
		const view = viewOf({ hidden: ids.hidden, notes: [note(ids.record, { entryId })] });
		const held = list().filter(({ role }) => role !== "custom");
		const own = [...before, "custom mulligan:note: NOTE"];
		expect(lines(new Alignment().apply(held, view, branch))).toEqual([...own, "user: on"]);
		expect(lines(new Alignment().apply(list(), view, branch))).toEqual([...own, "custom other: OTHER", "user: on"]);
	});

	test("keeps its place where a compaction has taken its turn and kept its entry", () => {
		const { log, branch, list, ids } = sessionOf(noted);
		const entryId = log.customMessage("mulligan:note", "NOTE");
		log.user("on");
		log.compaction("SUMMARY", { firstKept: entryId });
		const view = viewOf({ hidden: ids.hidden, notes: [note(ids.record, { entryId })] });
		const held = list().filter(({ role }) => role !== "custom");
		const expected = ["summary: SUMMARY", "custom mulligan:note: NOTE", "user: on"];
		expect(new Alignment().apply(list(), view, branch)).toBeUndefined();
		expect(lines(new Alignment().apply(held, view, branch))).toEqual(expected);
	});

	test("of a record that was written at a compaction stands after what that kept", () => {
		const { log, branch, list, ids } = sessionOf(noted);
		const kept = log.user("on");
		log.compaction("SUMMARY", { firstKept: kept });
		const record = log.custom("mulligan:rewind", {});
		const request = (more: Partial<PlannedNote> = {}) =>
			lines(new Alignment().apply(list(), viewOf({ hidden: ids.hidden, notes: [note(record, more)] }), branch));
		const expected = ["summary: SUMMARY", "user: on", "custom mulligan:note: NOTE"];
		expect(request()).toEqual(expected);
		log.assistant("well");
		expect(request()).toEqual([...expected, "assistant: well"]);
		const entryId = log.customMessage("mulligan:note", "NOTE");
		expect(request({ entryId })).toEqual([...expected, "assistant: well"]);
	});

	test("of each of several records stands at its own place, those of one turn in their order", () => {
		const { log, branch, list, ids } = sessionOf(noted);
		log.batch([{ id: "r2", name: "mulligan_rewind", result: "R2" }]);
		const [second, third] = [log.custom("mulligan:rewind", {}), log.custom("mulligan:rewind", {})];
		const notes = [
			note(ids.record, { content: "ONE" }),
			note(second, { content: "TWO" }),
			note(third, { content: "THREE" }),
		];
		expect(lines(new Alignment().apply(list(), viewOf({ hidden: ids.hidden, notes }), branch))).toEqual([
			...before,
			"custom mulligan:note: ONE",
			"assistant → mulligan_rewind#r2",
			"result mulligan_rewind#r2: R2",
			"custom mulligan:note: TWO",
			"custom mulligan:note: THREE",
		]);
	});
});
