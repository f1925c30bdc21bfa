import { describe, expect, test } from "vitest";
import { type SessionLog, sessionLog } from "../testing/index.ts";
import { Branch } from "./branch.ts";
import { highestSeq, Journal } from "./journal.ts";
import type { SessionEntry } from "./messages.ts";

function openJournal({ lastSeq = 0 } = {}) {
	const log: SessionLog = sessionLog();
	const branch = new Branch();
	const reported: string[] = [];
	const sync = () =>
		branch.sync({
			getLeafId: () => log.leaf,
			getEntry: (id) => log.entries().find((entry) => entry.id === id) as SessionEntry | undefined,
			getLabel: () => undefined,
		});
	let now = 1000;
	const journal = new Journal({
		branch,
		sink: {
			append: (type, data) => {
				log.custom(type, data);
				sync();
			},
		},
		report: (line) => reported.push(line),
		now: () => now++,
		lastSeq,
	});
	return { log, branch, journal, reported, sync };
}

const shrink = (id: string) => ({ id, target: {}, replacement: "short", pinnedEntryId: "e1" });
const ids = (records: readonly object[]) => records.map((record) => (record as { id?: string }).id);

describe("appending", () => {
	test("adds the header: schema, version, kind, a seq that grows by one from the session's highest, the time", () => {
		const { journal } = openJournal({ lastSeq: 41 });
		expect(journal.append("mulligan:cancel", { targetId: "a" })).toEqual({
			schema: "pi-mulligan",
			v: 1,
			kind: "cancel",
			seq: 42,
			ts: 1000,
			targetId: "a",
		});
		expect(journal.append("mulligan:shrink", shrink("m1"))).toMatchObject({ kind: "shrink", seq: 43, ts: 1001 });
	});

	test("can be read back at once, with the id of its entry", () => {
		const { journal, log } = openJournal();
		journal.append("mulligan:shrink", shrink("m1"));
		expect(journal.read("mulligan:shrink")).toEqual([
			{ ...shrink("m1"), schema: "pi-mulligan", v: 1, kind: "shrink", seq: 1, ts: 1000, entryId: log.leaf },
		]);
	});
});

describe("the highest seq of a session", () => {
	const entry = (data: unknown, type = "custom") => ({ type, data });
	test.each([
		["is 0 without records", [], 0],
		[
			"is that of the newest record",
			[entry({ schema: "pi-mulligan", seq: 1 }), entry({ schema: "pi-mulligan", seq: 2 })],
			2,
		],
		[
			"is the highest, wherever it stands",
			[entry({ schema: "pi-mulligan", seq: 7 }), entry({ schema: "pi-mulligan", seq: 2 })],
			7,
		],
		[
			"takes no notice of others' entries",
			[entry({ schema: "other", seq: 9 }), entry({ schema: "pi-mulligan", seq: 9 }, "message")],
			0,
		],
		[
			"takes no notice of what is malformed",
			[entry(null), entry(undefined), entry("text"), entry({ schema: "pi-mulligan", seq: "9" })],
			0,
		],
	])("%s", (_what, entries, highest) => {
		expect(highestSeq(entries)).toBe(highest);
	});
});

describe("reading", () => {
	test("gives the records of one type, oldest first", () => {
		const { journal } = openJournal();
		journal.append("mulligan:shrink", shrink("m1"));
		journal.append("mulligan:cancel", { targetId: "x" });
		journal.append("mulligan:shrink", shrink("m2"));
		expect(ids(journal.read("mulligan:shrink"))).toEqual(["m1", "m2"]);
		expect(journal.read("mulligan:rewind")).toEqual([]);
	});

	test("passes over what is malformed, and reports it once, with its entry and what is wrong", () => {
		const { journal, log, reported, sync } = openJournal();
		const wrong = log.custom("mulligan:shrink", { ...shrink(""), schema: "pi-mulligan", v: 1, seq: 1, ts: 1 });
		sync();
		journal.append("mulligan:shrink", shrink("m1"));
		expect(ids(journal.read("mulligan:shrink"))).toEqual(["m1"]);
		journal.append("mulligan:shrink", shrink("m2"));
		expect(ids(journal.read("mulligan:shrink"))).toEqual(["m1", "m2"]);
		const leaf = log.leaf;
		log.branchFrom(wrong);
		sync();
		expect(journal.read("mulligan:shrink")).toEqual([]);
		log.branchFrom(leaf);
		sync();
		journal.read("mulligan:shrink");
		expect(reported).toEqual([`mulligan:shrink ${wrong} is passed over: field id`]);
	});

	test("gives the very same list until a record of the type is added", () => {
		const { journal, log, sync } = openJournal();
		journal.append("mulligan:shrink", shrink("m1"));
		const before = journal.read("mulligan:shrink");
		log.user("more");
		sync();
		journal.append("mulligan:cancel", { targetId: "x" });
		expect(journal.read("mulligan:shrink")).toBe(before);
		journal.append("mulligan:shrink", shrink("m2"));
		expect(journal.read("mulligan:shrink")).not.toBe(before);
		expect(before).toHaveLength(1);
	});

	test("counts only what is on the branch", () => {
		const { journal, log, sync } = openJournal();
		const fork = log.user("first");
		sync();
		journal.append("mulligan:shrink", shrink("m1"));
		log.branchFrom(fork);
		sync();
		expect(journal.read("mulligan:shrink")).toEqual([]);
		journal.append("mulligan:shrink", shrink("m2"));
		expect(ids(journal.read("mulligan:shrink"))).toEqual(["m2"]);
	});
});

describe("a marker is active", () => {
	test("until a cancel retires it, and again where the branch has no such cancel", () => {
		const { journal, log, sync } = openJournal();
		journal.append("mulligan:shrink", shrink("m1"));
		journal.append("mulligan:shrink", shrink("m2"));
		const before = log.leaf;
		journal.retire("m1");
		expect(ids(journal.active("mulligan:shrink"))).toEqual(["m2"]);
		log.branchFrom(before);
		sync();
		expect(ids(journal.active("mulligan:shrink"))).toEqual(["m1", "m2"]);
	});

	test("and found by its id, of whatever type, as long as it is", () => {
		const { journal } = openJournal();
		journal.append("mulligan:shrink", shrink("m1"));
		journal.append("mulligan:rewind", { id: "m2", hideEntryIds: ["e1", "e2"] });
		expect([journal.marker("m1")?.kind, journal.marker("m2")?.kind]).toEqual(["shrink", "rewind"]);
		journal.retire("m1");
		expect([journal.marker("m1"), journal.marker("m3")]).toEqual([undefined, undefined]);
	});

	test("whatever a malformed cancel or one of another marker says", () => {
		const { journal, log, sync } = openJournal();
		journal.append("mulligan:shrink", shrink("m1"));
		log.custom("mulligan:cancel", { targetId: "m1" });
		sync();
		journal.retire("m9");
		expect(ids(journal.active("mulligan:shrink"))).toEqual(["m1"]);
	});
});

describe("a remembered value", () => {
	function counted(journal: Journal, type = "mulligan:shrink") {
		let times = 0;
		const value = journal.memo(() => {
			times++;
			return journal.read(type).length;
		});
		return { value, times: () => times };
	}

	test("is made once, and again when a record that it read was added", () => {
		const { journal } = openJournal();
		const { value, times } = counted(journal);
		expect([value(), value(), times()]).toEqual([0, 0, 1]);
		journal.append("mulligan:cancel", { targetId: "x" });
		expect([value(), times()]).toEqual([0, 1]);
		journal.append("mulligan:shrink", shrink("m1"));
		expect([value(), value(), times()]).toEqual([1, 1, 2]);
	});

	test("is made again after a move to another branch, also to one with as many records", () => {
		const { journal, log, sync } = openJournal();
		const fork = log.user("first");
		sync();
		journal.append("mulligan:shrink", shrink("m1"));
		const first = journal.memo(() => ids(journal.read("mulligan:shrink")));
		expect(first()).toEqual(["m1"]);
		log.branchFrom(fork);
		log.custom("mulligan:shrink", { ...shrink("m2"), schema: "pi-mulligan", v: 1, seq: 2, ts: 1 });
		sync();
		expect(first()).toEqual(["m2"]);
	});

	test("depends on what a remembered value inside it read, whether that was made now or before", () => {
		const { journal } = openJournal();
		const inner = counted(journal);
		inner.value();
		let times = 0;
		const outer = journal.memo(() => {
			times++;
			return inner.value() * 10;
		});
		expect([outer(), outer(), times]).toEqual([0, 0, 1]);
		journal.append("mulligan:shrink", shrink("m1"));
		expect([outer(), times]).toEqual([10, 2]);
	});

	test("depends on custom messages that it watched", () => {
		const { journal, log, branch, sync } = openJournal();
		const notes = journal.memo(() => {
			journal.watch("note");
			return branch.customMessages("note").length;
		});
		expect(notes()).toBe(0);
		log.customMessage("note", "N");
		sync();
		expect(notes()).toBe(1);
	});

	test("that could not be made is tried again", () => {
		const { journal } = openJournal();
		let isBroken = true;
		const value = journal.memo(() => {
			if (isBroken) throw new Error("boom");
			return journal.read("mulligan:shrink").length;
		});
		expect(() => value()).toThrow("boom");
		isBroken = false;
		expect(value()).toBe(0);
		journal.append("mulligan:shrink", shrink("m1"));
		expect(value()).toBe(1);
	});
});

describe("watching", () => {
	test("names the types that the code read, also those of remembered values that are not made again", () => {
		const { journal } = openJournal();
		const inner = journal.memo(() => journal.read("mulligan:rewind").length);
		inner();
		const [value, types] = journal.watching(() => {
			journal.active("mulligan:shrink");
			return inner();
		});
		expect(value).toBe(0);
		expect([...types].sort()).toEqual(["mulligan:cancel", "mulligan:rewind", "mulligan:shrink"]);
	});

	test("inside another tells both what the inner read, and the outer what it read around it", () => {
		const { journal } = openJournal();
		const [inner, outer] = journal.watching(() => {
			journal.read("a");
			const [, types] = journal.watching(() => journal.read("b"));
			journal.read("c");
			return types;
		});
		expect([...inner]).toEqual(["b"]);
		expect([...outer]).toEqual(["a", "b", "c"]);
	});
});

describe("assuming records", () => {
	test("lets a memo see them while the code runs, and never after", () => {
		const { journal, log, sync } = openJournal();
		log.custom("mulligan:shrink", { schema: "pi-mulligan", v: 1, kind: "shrink", seq: 1, ts: 1, ...shrink("m1") });
		sync();
		const seen = journal.memo(() => ids(journal.active("mulligan:shrink")));
		expect(seen()).toEqual(["m1"]);
		expect(journal.assuming([{ type: "mulligan:shrink", body: shrink("m2") }], seen)).toEqual(["m1", "m2"]);
		expect(seen()).toEqual(["m1"]);
		expect(log.entries().filter(({ type }) => type === "custom")).toHaveLength(1);
	});
});
