import { describe, expect, test } from "vitest";
import { AT_ONCE, noScreen, SETTINGS } from "../../test/support/screen.ts";
import { type Call, type SessionLog, sessionLog } from "../testing/index.ts";
import { createKernel } from "./kernel.ts";
import type { SessionEntry } from "./messages.ts";
import type { Fate, Moment, Op, OpEvent } from "./moments.ts";
import type { Plugin, PluginApi } from "./plugin.ts";

/** A kernel over a session log, with a plugin that hands in ops and one that may hold them back. */
async function open(log: SessionLog = sessionLog()) {
	const moments: Moment[] = [];
	const events: OpEvent[] = [];
	const told: string[] = [];
	const state = {
		isHolding: false,
		writable: undefined as readonly string[] | undefined,
		doubt: (_op: Op): unknown => undefined,
	};
	let api: PluginApi | undefined;
	const mine: Plugin = {
		name: "mine",
		setup(given) {
			api = given;
			given.hooks.onOp.tap("mine", (event) => void events.push(event));
			given.moments.dropWhen((op) => state.doubt(op) as string | undefined);
		},
	};
	const holder: Plugin = {
		name: "holder",
		setup: ({ hooks }) =>
			hooks.onMoment.tap("holder", (moment) => {
				moments.push(moment);
				return state.isHolding ? false : undefined;
			}),
	};
	const kernel = await createKernel({
		plugins: [mine, holder].map((plugin) => ({ plugin, options: {} })),
		settings: SETTINGS,
		host: {
			append(type, data) {
				if (state.writable?.includes(type) === false) throw new Error("disk full");
				log.custom(type, data);
			},
			note: () => {},
			label: () => {},
			notify: (text) => told.push(text),
			log: () => {},
			now: () => 0,
			newId: () => "id",
			screen: noScreen,
			raw: () => undefined,
		},
		rules: AT_ONCE,
		lastSeq: 0,
	});
	const enter = () =>
		kernel.enter(
			{
				getLeafId: () => log.leaf,
				getEntry: (id) => log.entries().find((entry) => entry.id === id) as SessionEntry | undefined,
				getLabel: () => undefined,
			},
			{ cwd: "/project", model: "m", window: 1000, promptTokens: 0, activeTools: [] },
		);
	const fates: Record<string, Fate> = {};
	const submit = (op: Op) =>
		api?.moments.submit(op, (fate) => {
			fates[op.id] = fate;
			return `${op.id} is ${fate.status}.`;
		});
	return {
		log,
		kernel,
		moments,
		events,
		told,
		state,
		fates,
		waiting: () => api?.moments.waiting() ?? [],
		cancel: (id: string) => api?.moments.cancel(id),
		/** A turn whose message makes these calls. */
		turn(...calls: readonly string[]) {
			kernel.moments.startTurn();
			log.assistant({ calls: calls.map(callOf) });
			enter();
		},
		/** The calls of a batch run, all of them before the first result is stored. */
		run(...ops: readonly Op[]) {
			for (const op of ops) submit(op);
			enter();
			kernel.moments.settle();
		},
		ending: (id: string) => kernel.moments.endingOf(id)?.text,
		enter,
		/** What was written of one type. */
		records: (type: string) =>
			log
				.entries()
				.flatMap((entry) => (entry.type === "custom" && entry.customType === type ? [entry.data as Op] : [])),
	};
}

/** `s…` calls shrink, `r…` rewind, all else reads. */
const callOf = (id: string): Call => ({
	id,
	name: id.startsWith("s") ? "mulligan_shrink" : id.startsWith("r") ? "mulligan_rewind" : "read",
	args: {},
});

const op = (id: string, entryIds: readonly string[], more: Partial<Op> = {}): Op => ({
	id,
	plugin: "mine",
	describe: `the op ${id}`,
	effect: id.startsWith("s") ? "replace" : "hide",
	type: "mark",
	body: { id, by: "mine" },
	entryIds,
	shedTokens: 100,
	toolCallId: id,
	...more,
});

const line = (results: number, tokens: number) =>
	`Context updated: ${results} result(s) summarized (~${tokens} tokens shed). Continue exactly where you left off — no re-verification or re-reading is needed.`;

/** A session with a prompt and two entries that an op may touch. */
async function started() {
	const session = await open();
	session.log.user("go");
	const { results } = session.log.batch([
		{ id: "x1", name: "read", result: "X1" },
		{ id: "x2", name: "read", result: "X2" },
	]);
	session.enter();
	return { ...session, x1: results[0] ?? "", x2: results[1] ?? "" };
}

describe("an op that is handed in", () => {
	test("waits, inert, until the first result of its turn is stored", async () => {
		const { turn, run, waiting, records, x1, kernel } = await started();
		turn("r1");
		run();
		expect(waiting()).toEqual([]);
		turn("r2");
		kernel.moments.submit(op("r2", [x1]), () => "");
		expect(waiting()).toEqual([op("r2", [x1])]);
		expect(records("mark")).toEqual([]);
	});

	test("becomes active then: its record is written, its result says so, and onOp hears of it with the record", async () => {
		const { turn, run, waiting, records, events, fates, ending, kernel, x1 } = await started();
		turn("r1");
		run(op("r1", [x1]));
		const record = { schema: "pi-mulligan", v: 1, kind: "mark", seq: 1, ts: 0, id: "r1", by: "mine" };
		expect(records("mark")).toEqual([record]);
		expect(fates).toEqual({ r1: { status: "active" } });
		expect(ending("r1")).toBe("r1 is active.");
		expect(ending("x1")).toBeUndefined();
		expect(events).toEqual([{ status: "activated", op: op("r1", [x1]), record }]);
		expect(waiting()).toEqual([]);
		expect(kernel.moments.spent).toBe(1);
	});

	test("is decided on together with those of its turn: onMoment sees the batch, its volume and its trigger", async () => {
		const { turn, run, moments, records, x1, x2 } = await started();
		turn("s1", "r1");
		const ops = [op("s1", [x1], { shedTokens: 30 }), op("r1", [x2], { shedTokens: 12 })];
		run(...ops);
		expect(moments).toEqual([{ ops, volumeTokens: 42, trigger: "volume", free: false }]);
		expect(records("mark").map(({ id }) => id)).toEqual(["s1", "r1"]);
	});

	test("is decided on once, however many results its turn has", async () => {
		const { turn, run, moments, x1 } = await started();
		turn("r1", "y1", "y2");
		run(op("r1", [x1]));
		run();
		run();
		expect(moments).toHaveLength(1);
	});

	test("is told of only in its own turn", async () => {
		const { turn, run, ending, x1 } = await started();
		turn("r1");
		run(op("r1", [x1]));
		turn("y1");
		expect(ending("r1")).toBeUndefined();
	});

	test("asks nobody where there is none", async () => {
		const { turn, run, moments, events, kernel } = await started();
		turn("y1");
		run();
		expect([moments, events, kernel.moments.spent]).toEqual([[], [], 0]);
	});

	test("keeps what it touches where a part of that has left the context", async () => {
		const { turn, run, fates, log, x1 } = await started();
		turn("r1");
		run(op("r1", ["nowhere", x1]));
		expect(fates).toEqual({ r1: { status: "active" } });
		expect(log.entries().at(-1)).toMatchObject({ customType: "mark" });
	});

	test("is dropped where all of that has left the context, and says so", async () => {
		const { turn, run, fates, events, records, ending, kernel, x1, log } = await started();
		turn("r1", "s1");
		log.compaction("SUMMARY", { firstKept: log.leaf ?? "" });
		run(op("r1", [x1]), op("s1", ["nowhere"]));
		const reason = "what it touches has left the context";
		expect(fates).toEqual({ r1: { status: "dropped", reason }, s1: { status: "dropped", reason } });
		expect(events.map(({ status }) => status)).toEqual(["dropped", "dropped"]);
		expect(records("mark")).toEqual([]);
		expect(ending("s1")).toBe("s1 is dropped.");
		expect(kernel.moments.spent).toBe(0);
	});
});

describe("the last moment", () => {
	test("is the last batch with what became active of it, or who held it back", async () => {
		const { turn, run, state, kernel, x1 } = await started();
		expect(kernel.moments.last).toBeUndefined();
		turn("s1", "r1");
		run(op("s1", [x1]), op("r1", ["gone"]));
		expect(kernel.moments.last).toEqual({ ops: [op("s1", [x1])], volumeTokens: 200, trigger: "volume", free: false });
		state.isHolding = true;
		turn("s2");
		run(op("s2", [x1]));
		expect(kernel.moments.last).toMatchObject({ ops: [{ id: "s2" }], trigger: "volume", heldBy: "holder" });
	});

	test("is not one of which nothing became active", async () => {
		const { turn, run, kernel } = await started();
		turn("r1");
		run(op("r1", ["gone"]));
		expect(kernel.moments.last).toBeUndefined();
	});
});

describe("a compaction", () => {
	async function waiting() {
		const session = await started();
		session.state.isHolding = true;
		session.turn("r1");
		session.run(op("r1", [session.x1]));
		session.moments.length = 0;
		return session;
	}

	test("asks once whether what waits may come along, before its summary is made", async () => {
		const { kernel, state, moments, records } = await waiting();
		state.isHolding = false;
		expect(kernel.moments.beforeCompaction().ops.map(({ id }) => id)).toEqual(["r1"]);
		expect(moments).toMatchObject([{ ops: [{ id: "r1" }], trigger: "compaction", free: true, volumeTokens: 100 }]);
		state.isHolding = true;
		expect(kernel.moments.rideNow("compaction").map(({ id }) => id)).toEqual(["r1"]);
		expect(moments).toHaveLength(1);
		expect(records("mark").map(({ id }) => id)).toEqual(["r1"]);
	});

	test("leaves what is held back where it is, in its summary and after it", async () => {
		const { kernel, state, moments, records } = await waiting();
		expect(kernel.moments.beforeCompaction().ops).toEqual([]);
		state.isHolding = false;
		expect(kernel.moments.rideNow("compaction")).toEqual([]);
		expect(moments).toHaveLength(1);
		expect(records("mark")).toEqual([]);
		expect(kernel.moments.last).toMatchObject({ heldBy: "holder" });
	});

	test("that came to nothing binds nobody: the next break asks anew", async () => {
		const { kernel, state, moments, records } = await waiting();
		kernel.moments.beforeCompaction();
		state.isHolding = false;
		kernel.moments.rideNow("model change");
		expect(moments.map(({ trigger }) => trigger)).toEqual(["compaction", "model change"]);
		expect(records("mark").map(({ id }) => id)).toEqual(["r1"]);
	});

	test("asks anew where other ops wait by then", async () => {
		const { kernel, moments, cancel, turn, run, x2 } = await waiting();
		kernel.moments.beforeCompaction();
		cancel("r1");
		turn("r2");
		run(op("r2", [x2]));
		moments.length = 0;
		kernel.moments.rideNow("compaction");
		expect(moments).toMatchObject([{ ops: [{ id: "r2" }] }]);
	});
});

describe("a batch that is held back", () => {
	test("changes nothing: its ops are kept in the log, and say who holds them and how much waits", async () => {
		const { turn, run, fates, events, records, waiting, ending, state, kernel, x1, x2 } = await started();
		state.isHolding = true;
		turn("s1", "r1");
		run(op("s1", [x1], { shedTokens: 30 }), op("r1", [x2], { shedTokens: 12 }));
		const held = { status: "held", by: "holder", volumeTokens: 42 };
		expect(fates).toEqual({ s1: held, r1: held });
		expect(ending("s1")).toBe("s1 is held.");
		expect(events).toMatchObject([
			{ status: "held", op: { id: "s1" }, reason: "held by holder" },
			{ status: "held", op: { id: "r1" }, reason: "held by holder" },
		]);
		expect(records("mark")).toEqual([]);
		expect(records("mulligan:queued")).toMatchObject([
			{ id: "s1", status: "queued", op: { effect: "replace", entryIds: [x1] } },
			{ id: "r1", status: "queued", op: { effect: "hide", entryIds: [x2] } },
		]);
		expect(waiting()).toEqual([op("s1", [x1], { shedTokens: 30 }), op("r1", [x2], { shedTokens: 12 })]);
		expect(kernel.moments.spent).toBe(0);
	});

	test("is asked about again in the next turn, once, and its ops are kept once", async () => {
		const { turn, run, moments, records, state, x1 } = await started();
		state.isHolding = true;
		turn("s1");
		run(op("s1", [x1]));
		turn("y1", "y2");
		run();
		run();
		expect(moments.map(({ trigger }) => trigger)).toEqual(["volume", "volume"]);
		expect(records("mulligan:queued")).toHaveLength(1);
	});

	test("becomes active when nobody holds it any more, marked as late, and no result speaks of it", async () => {
		const { turn, run, records, waiting, ending, state, kernel, x1 } = await started();
		state.isHolding = true;
		turn("s1");
		run(op("s1", [x1]));
		state.isHolding = false;
		turn("y1");
		run();
		expect(records("mark")).toMatchObject([{ id: "s1", late: true }]);
		expect(records("mulligan:queued")).toMatchObject([{ status: "queued" }, { id: "s1", status: "activated" }]);
		expect(waiting()).toEqual([]);
		expect(ending("y1")).toBeUndefined();
		expect(kernel.moments.spent).toBe(1);
	});

	test("goes with the fresh ops of a later turn as one batch, itself first; only it is late", async () => {
		const { turn, run, moments, records, state, kernel, x1, x2 } = await started();
		state.isHolding = true;
		turn("s1");
		run(op("s1", [x1]));
		state.isHolding = false;
		turn("r1");
		run(op("r1", [x2]));
		expect(moments.at(-1)).toMatchObject({ ops: [{ id: "s1" }, { id: "r1" }], volumeTokens: 200, trigger: "volume" });
		expect(records("mark").map((record) => "late" in record)).toEqual([true, false]);
		expect(kernel.moments.spent).toBe(1);
	});

	test("is back in another process, and not on a branch that never had it", async () => {
		const first = await started();
		const fork = first.log.leaf;
		first.state.isHolding = true;
		first.turn("s1");
		first.run(op("s1", [first.x1]));
		const second = await open(first.log);
		second.enter();
		expect(second.waiting()).toEqual([op("s1", [first.x1])]);
		first.log.branchFrom(fork);
		second.enter();
		expect(second.waiting()).toEqual([]);
	});

	test("waits no longer where its record stands on the branch and nothing after it: the log ended there", async () => {
		const { turn, run, moments, records, waiting, state, log, enter, x1 } = await started();
		state.isHolding = true;
		turn("s1");
		run(op("s1", [x1]));
		state.isHolding = false;
		turn("y1");
		run();
		const marker = log.entries().find((entry) => entry.type === "custom" && entry.customType === "mark");
		log.branchFrom(marker?.id ?? "");
		enter();
		expect(waiting()).toEqual([]);
		const asked = moments.length;
		turn("y2");
		run();
		expect(moments).toHaveLength(asked);
		expect(records("mark")).toHaveLength(1);
	});

	test("is active although the word that it waits no longer cannot be written", async () => {
		const { turn, run, events, waiting, state, kernel, x1 } = await started();
		state.isHolding = true;
		turn("s1");
		run(op("s1", [x1]));
		state.isHolding = false;
		turn("y1");
		state.writable = ["mark"];
		run();
		expect(events.at(-1)).toMatchObject({ status: "activated", op: { id: "s1" } });
		expect(waiting()).toEqual([]);
		expect(kernel.moments.spent).toBe(1);
	});

	test("is dropped, and closed in the log, once what it touches has left the context", async () => {
		const { turn, run, records, events, state, log, x1 } = await started();
		state.isHolding = true;
		turn("s1");
		run(op("s1", [x1]));
		state.isHolding = false;
		log.compaction("SUMMARY", { firstKept: log.leaf ?? "" });
		turn("y1");
		run();
		expect(records("mark")).toEqual([]);
		expect(records("mulligan:queued").at(-1)).toMatchObject({
			id: "s1",
			status: "dropped",
			reason: "what it touches has left the context",
		});
		expect(events.at(-1)).toMatchObject({ status: "dropped", op: { id: "s1" } });
	});
});

describe("taking an op back", () => {
	test("works while it is fresh: it never becomes active, and its result says so", async () => {
		const { turn, run, cancel, fates, ending, events, records, kernel, x1 } = await started();
		turn("s1", "c1");
		kernel.moments.submit(op("s1", [x1]), (fate) => {
			fates.s1 = fate;
			return "taken back";
		});
		expect(cancel("s1")).toBe(true);
		run();
		expect(fates).toEqual({ s1: { status: "dropped", reason: "cancelled" } });
		expect(ending("s1")).toBe("taken back");
		expect(events).toEqual([{ status: "cancelled", op: op("s1", [x1]) }]);
		expect(records("mark")).toEqual([]);
	});

	test("works while it is held: the log closes it", async () => {
		const { turn, run, cancel, waiting, records, events, state, x1 } = await started();
		state.isHolding = true;
		turn("s1");
		run(op("s1", [x1]));
		state.isHolding = false;
		turn("c1");
		expect(cancel("s1")).toBe(true);
		run();
		expect(waiting()).toEqual([]);
		expect(records("mark")).toEqual([]);
		expect(records("mulligan:queued").at(-1)).toMatchObject({ id: "s1", status: "cancelled" });
		expect(events.at(-1)).toMatchObject({ status: "cancelled", op: { id: "s1" } });
	});

	test("does nothing to an op that is active, was taken back, or never was", async () => {
		const { turn, run, cancel, events, x1 } = await started();
		turn("s1");
		run(op("s1", [x1]));
		const before = events.length;
		expect([cancel("s1"), cancel("nothing")]).toEqual([false, false]);
		expect(events).toHaveLength(before);
	});
});

describe("an op that has become pointless", () => {
	const held = async () => {
		const session = await started();
		session.state.isHolding = true;
		session.turn("r1", "r2");
		session.run(op("r1", [session.x1]), op("r2", [session.x2]));
		session.state.isHolding = false;
		session.state.doubt = ({ id }) => (id === "r1" ? "no longer wanted" : undefined);
		return session;
	};
	const closing = { id: "r1", status: "dropped", reason: "no longer wanted" };

	test("is dropped when a turn starts, with its reason, and the others wait on", async () => {
		const { turn, waiting, records, events } = await held();
		turn("y1");
		expect(waiting().map(({ id }) => id)).toEqual(["r2"]);
		expect(records("mulligan:queued").at(-1)).toMatchObject(closing);
		expect(events.at(-1)).toMatchObject({ status: "dropped", op: { id: "r1" }, reason: "no longer wanted" });
	});

	test("does not become active with the others where the cache breaks between turns", async () => {
		const { kernel, records, moments } = await held();
		kernel.moments.rideNow("model change");
		expect(records("mark").map(({ id }) => id)).toEqual(["r2"]);
		expect(moments.at(-1)).toMatchObject({ ops: [{ id: "r2" }], volumeTokens: 100 });
	});

	test("is dropped before the turn that handed it in is decided, and its result says so", async () => {
		const { turn, run, records, fates, ending, state, x1 } = await started();
		turn("r1");
		state.doubt = () => "no longer wanted";
		run(op("r1", [x1]));
		expect(fates).toEqual({ r1: { status: "dropped", reason: "no longer wanted" } });
		expect(ending("r1")).toBe("r1 is dropped.");
		expect([...records("mark"), ...records("mulligan:queued")]).toEqual([]);
	});

	test("is left out of what a compaction summarises without, which writes nothing", async () => {
		const { kernel, log } = await held();
		const before = log.entries().length;
		expect(kernel.moments.beforeCompaction().ops.map(({ id }) => id)).toEqual(["r2"]);
		expect(log.entries()).toHaveLength(before);
	});

	test.each<[string, (op: Op) => unknown]>([
		[
			"throws",
			() => {
				throw new Error("no idea");
			},
		],
		["answers without a reason", () => true],
		["answers later", async () => "late"],
	])("is only one where its plugin says so: not where that %s", async (_what, doubt) => {
		const { kernel, records, state, told } = await held();
		state.doubt = doubt;
		kernel.moments.rideNow("model change");
		expect(records("mark").map(({ id }) => id)).toEqual(["r1", "r2"]);
		expect(told).toEqual([]);
	});

	test("is none any more once its plugin is switched off", async () => {
		const { turn, waiting, state, told } = await held();
		let asked = 0;
		state.doubt = () => {
			asked++;
			throw new Error("no idea");
		};
		for (const id of ["y1", "y2", "y3"]) turn(id);
		expect(told).toEqual([expect.stringContaining('"mine" is switched off')]);
		expect(asked).toBe(3);
		expect(waiting()).toHaveLength(2);
	});
});

describe("where the log cannot be written", () => {
	test("an op fails with the reason, nothing changes, and no line promises anything", async () => {
		const { turn, run, fates, events, ending, state, kernel, x1 } = await started();
		state.writable = [];
		turn("s1");
		run(op("s1", [x1]));
		expect(fates).toEqual({ s1: { status: "failed", reason: "disk full" } });
		expect(ending("s1")).toBe("s1 is failed.");
		expect(events).toEqual([]);
		expect(kernel.moments.spent).toBe(0);
	});

	test("the human is not told that a plugin is off: none is, and the next op works", async () => {
		const { turn, run, told, fates, state, x1 } = await started();
		state.writable = [];
		for (const id of ["s1", "s2", "s3", "s4"]) {
			turn(id);
			run(op(id, [x1]));
		}
		state.writable = undefined;
		turn("s5");
		run(op("s5", [x1]));
		expect(fates.s5).toEqual({ status: "active" });
		expect(told).toEqual([]);
	});

	test("an op that cannot be kept although held fails too, and waits no longer", async () => {
		const { turn, run, fates, waiting, state, x1 } = await started();
		state.writable = [];
		state.isHolding = true;
		turn("s1");
		expect(() => run(op("s1", [x1]))).not.toThrow();
		expect(fates).toEqual({ s1: { status: "failed", reason: "disk full" } });
		expect(waiting()).toEqual([]);
	});
});

describe("the orientation line", () => {
	/** Which of the calls' results carry a line, and which. */
	const lines = (ending: (id: string) => string | undefined, ...calls: readonly string[]) =>
		Object.fromEntries(
			calls.flatMap((id) => {
				const found = ending(id)?.match(/Context updated: .*$/m)?.[0];
				return found ? [[id, found]] : [];
			}),
		);

	test("is the last line of a shrink's result", async () => {
		const { turn, run, ending, x1 } = await started();
		turn("s1");
		run(op("s1", [x1]));
		expect(ending("s1")).toBe(`s1 is active.\n${line(1, 100)}`);
	});

	test("stands in the last shrink of the turn in the order of its calls, whatever order they ran in", async () => {
		const { turn, run, ending, x1, x2 } = await started();
		turn("r1", "s1", "s2", "y1", "r2");
		run(op("s2", [x1]), op("r2", [x1]), op("s1", [x2]), op("r1", [x2]));
		expect(lines(ending, "r1", "s1", "s2", "y1", "r2")).toEqual({ s2: line(2, 200) });
	});

	test.each<[string, readonly [shed: number, entry: "x1" | "x2"][], string]>([
		[
			"counts results, not shrinks",
			[
				[50, "x1"],
				[70, "x1"],
			],
			line(1, 70),
		],
		[
			"adds up what each shed",
			[
				[50, "x1"],
				[70, "x2"],
			],
			line(2, 120),
		],
		[
			"is net of what grew",
			[
				[50, "x1"],
				[-20, "x2"],
			],
			line(2, 30),
		],
		["never tells less than nothing", [[-50, "x1"]], line(1, 0)],
		[
			"rounds to whole tokens",
			[
				[10.4, "x1"],
				[10.4, "x2"],
			],
			line(2, 21),
		],
	])("%s", async (_what, shrinks, expected) => {
		const session = await started();
		const calls = shrinks.map((_shrink, index) => `s${index + 1}`);
		session.turn(...calls);
		session.run(...shrinks.map(([shedTokens, entry], index) => op(`s${index + 1}`, [session[entry]], { shedTokens })));
		expect(lines(session.ending, ...calls)).toEqual({ [calls.at(-1) ?? ""]: expected });
	});

	test("is not told of a rewind alone", async () => {
		const { turn, run, ending, x1 } = await started();
		turn("r1");
		run(op("r1", [x1]));
		expect(ending("r1")).toBe("r1 is active.");
	});

	test("stands in a rewind's result where that activated shrinks of earlier turns", async () => {
		const { turn, run, ending, state, x1, x2 } = await started();
		state.isHolding = true;
		turn("s1", "s2");
		run(op("s1", [x1]), op("s2", [x2]));
		expect(lines(ending, "s1", "s2")).toEqual({});
		state.isHolding = false;
		turn("r1");
		run(op("r1", [x1]));
		expect(lines(ending, "r1")).toEqual({ r1: line(2, 200) });
	});

	test("counts shrinks of earlier turns with those of this one", async () => {
		const { turn, run, ending, state, x1, x2 } = await started();
		state.isHolding = true;
		turn("s1");
		run(op("s1", [x1]));
		state.isHolding = false;
		turn("s2");
		run(op("s2", [x2]));
		expect(lines(ending, "s2")).toEqual({ s2: line(2, 200) });
	});

	test("counts only what became active, and stands in the last of these", async () => {
		const { turn, run, ending, x1 } = await started();
		turn("s1", "s2");
		run(op("s1", [x1]), op("s2", ["nowhere"]));
		expect(lines(ending, "s1", "s2")).toEqual({ s1: line(1, 100) });
	});

	test("starts anew in each turn", async () => {
		const { turn, run, ending, x1, x2 } = await started();
		turn("s1");
		run(op("s1", [x1]));
		turn("s2");
		run(op("s2", [x2]));
		expect(lines(ending, "s1", "s2")).toEqual({ s2: line(1, 100) });
	});

	describe("where Pi runs the calls of a message one by one", () => {
		test("waits for the last shrink, and counts all of the turn", async () => {
			const { turn, run, ending, kernel, x1, x2 } = await started();
			turn("s1", "y1", "s2");
			run(op("s1", [x1]));
			expect(ending("s1")).toBe("s1 is active.");
			run();
			kernel.moments.noteRun("s2");
			run(op("s2", [x2]));
			expect(lines(ending, "s1", "y1", "s2")).toEqual({ s2: line(2, 200) });
			expect(kernel.moments.spent).toBe(1);
		});

		test("stands in the shrink's result where the rewind came before it", async () => {
			const { turn, run, ending, x1, x2 } = await started();
			turn("r1", "s1");
			run(op("r1", [x1]));
			run(op("s1", [x2]));
			expect(lines(ending, "r1", "s1")).toEqual({ s1: line(1, 100) });
		});

		test("is not said again by a rewind that comes after it", async () => {
			const { turn, run, ending, x1, x2 } = await started();
			turn("s1", "r1");
			run(op("s1", [x1]));
			run(op("r1", [x2]));
			expect(lines(ending, "s1", "r1")).toEqual({ s1: line(1, 100) });
		});

		test("adds up what two shrinks of one result shed one after the other", async () => {
			const { turn, run, ending, kernel, x1 } = await started();
			turn("s1", "s2");
			run(op("s1", [x1], { shedTokens: 900 }));
			kernel.moments.noteRun("s2");
			run(op("s2", [x1], { shedTokens: 50 }));
			expect(lines(ending, "s1", "s2")).toEqual({ s2: line(1, 950) });
		});

		test("waits for the last shrink also where its call id was used in an earlier turn", async () => {
			const { turn, run, ending, kernel, x1, x2 } = await started();
			turn("s1", "s2");
			for (const id of ["s1", "s2"]) kernel.moments.noteRun(id);
			run();
			turn("s1", "s2");
			kernel.moments.noteRun("s1");
			run(op("s1", [x1]));
			expect(lines(ending, "s1")).toEqual({});
			kernel.moments.noteRun("s2");
			run(op("s2", [x2]));
			expect(lines(ending, "s1", "s2")).toEqual({ s2: line(2, 200) });
		});
	});
});

describe("the moments spent", () => {
	test("count turns, not ops", async () => {
		const { turn, run, kernel, x1, x2 } = await started();
		turn("s1", "r1");
		run(op("s1", [x1]), op("r1", [x2]));
		expect(kernel.moments.spent).toBe(1);
		turn("r2");
		run(op("r2", [x2]));
		expect(kernel.moments.spent).toBe(2);
	});

	test.each([
		["shrinks", "s1", "s2"],
		["rewinds", "r1", "r2"],
		["a rewind and a shrink", "r1", "s2"],
	])("count one turn once where %s become active one by one", async (_what, first, second) => {
		const { turn, run, kernel, x1, x2 } = await started();
		turn(first, second);
		run(op(first, [x1]));
		run(op(second, [x2]));
		expect(kernel.moments.spent).toBe(1);
	});
});
