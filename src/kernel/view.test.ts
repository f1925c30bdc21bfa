import { describe, expect, test } from "vitest";
import { AT_ONCE, noScreen, SETTINGS } from "../../test/support/screen.ts";
import { type SessionLog, sessionLog } from "../testing/index.ts";
import type { BranchSource } from "./branch.ts";
import { createKernel } from "./kernel.ts";
import { type Content, type Message, type SessionEntry, textOf } from "./messages.ts";
import type { Plugin, PluginApi } from "./plugin.ts";
import type { DurableView } from "./view.ts";

/** A session log as the kernel reads it. */
const sourceOf = (log: SessionLog): BranchSource => ({
	getLeafId: () => log.leaf,
	getEntry: (id) => log.entries().find((entry) => entry.id === id) as SessionEntry | undefined,
	getLabel: () => undefined,
});

/** A kernel over a session log of these plugins. */
async function open(...plugins: readonly Plugin[]) {
	const log = sessionLog();
	const lines: string[] = [];
	const told: string[] = [];
	let ids = 0;
	const kernel = await createKernel({
		plugins: plugins.map((plugin) => ({ plugin, options: {} })),
		settings: SETTINGS,
		host: {
			append: (type, data) => void log.custom(type, data),
			note: ({ customType, content, details }) => void log.customMessage(customType, content, { details }),
			label: () => {},
			notify: (text) => told.push(text),
			log: (line) => line.startsWith("moment: ") || lines.push(line),
			now: () => 0,
			newId: () => `id-${++ids}`,
			screen: noScreen,
			raw: () => undefined,
		},
		rules: AT_ONCE,
		lastSeq: 0,
	});
	const source = sourceOf(log);
	const enter = () =>
		kernel.enter(source, { cwd: "/project", model: "m", window: 1000, promptTokens: 0, activeTools: [] });
	enter();
	return {
		log,
		kernel,
		lines,
		told,
		enter,
		/** The durable view of a request of its own. */
		view: () => {
			enter();
			return kernel.requestView().durable;
		},
		annotations: () => {
			enter();
			return kernel.requestView().annotations;
		},
		/** A record that plugins read: the view is made again. */
		tick: () => void log.custom("tick", { schema: "pi-mulligan", v: 1, seq: 1, ts: 1 }),
	};
}

/** What a view has in place of messages, as texts by entry id. */
const texts = ({ replaced }: DurableView) => new Map([...replaced].map(([id, content]) => [id, textOf(content)]));

const text = (content: string): Content => [{ type: "text", text: content }];
const changed = (message: Message, content: string) => ({ ...message, content: text(content) }) as Message;
const boom = (): never => {
	throw new Error("boom");
};

/** A plugin that hides what `ids` names, and breaks after that while `broken`; it reads the ticks. */
function hider(name: string) {
	const state = { ids: [] as string[], isBroken: false, calls: 0 };
	const plugin: Plugin = {
		name,
		setup({ hooks, journal }) {
			hooks.beforeFilter.tap(name, (plan) => {
				state.calls++;
				journal.read("tick");
				for (const id of state.ids) plan.hide(id);
				if (state.isBroken) boom();
			});
		},
	};
	return { plugin, state };
}

/** A plugin that replaces contents by `change`; it reads the ticks. */
function changer(name: string, change: (message: Message, id: string) => Message) {
	const state = { change, seen: [] as string[] };
	const plugin: Plugin = {
		name,
		setup({ hooks, journal }) {
			hooks.transformMessage.tap(name, (message, { id }) => {
				journal.read("tick");
				state.seen.push(id);
				return state.change(message, id);
			});
		},
	};
	return { plugin, state };
}

describe("what leaves the view", () => {
	test("is what plugins hide, all of them together", async () => {
		const a = hider("a");
		const b = hider("b");
		const { log, view } = await open(a.plugin, b.plugin);
		log.user("first");
		const [second, third, fourth] = [log.user("second"), log.user("third"), log.user("fourth")];
		a.state.ids = [second];
		b.state.ids = [third];
		expect([...view().hidden]).toEqual([second, third]);
		expect(view().hidden.has(fourth)).toBe(false);
	});

	test("is never the first user message", async () => {
		const { plugin, state } = hider("mine");
		const { log, view } = await open(plugin);
		log.bash("ls", "a.ts");
		const [first, second] = [log.user("first"), log.user("second")];
		state.ids = [first, second];
		expect([...view().hidden]).toEqual([second]);
	});

	test("is no entry that does not exist or says nothing to the model", async () => {
		const { plugin, state } = hider("mine");
		const { log, view } = await open(plugin);
		log.user("first");
		state.ids = ["nowhere", log.custom("other", {}), log.modelChange("model-b")];
		expect(view().hidden.size).toBe(0);
	});

	test("is no note that another plugin keeps in it", async () => {
		const { plugin, state } = hider("mine");
		let noteId = "";
		const noter: Plugin = {
			name: "noter",
			setup({ hooks }) {
				hooks.beforeFilter.tap("noter", (plan) =>
					plan.note({
						recordEntryId: noteId,
						customType: "n",
						content: "N",
						details: {},
						timestamp: 1,
						entryId: noteId,
					}),
				);
			},
		};
		const { log, view } = await open(plugin, noter);
		log.user("first");
		noteId = log.customMessage("n", "N");
		state.ids = [noteId];
		expect(view().hidden.size).toBe(0);
		expect(view().notes).toHaveLength(1);
	});

	test("takes the results of a hidden call with it, those stored later too", async () => {
		const { plugin, state } = hider("mine");
		const { log, view, kernel } = await open(plugin);
		log.user("first");
		const assistant = log.assistant({
			calls: [
				{ id: "c1", name: "read", args: {} },
				{ id: "c2", name: "read", args: {} },
			],
		});
		const one = log.result("c1", "ONE");
		state.ids = [assistant];
		expect([...view().hidden]).toEqual([assistant, one]);
		const two = log.result("c2", "TWO");
		expect([...view().hidden]).toEqual([assistant, one, two]);
		expect(kernel.durable().tokens).toBe(kernel.branch.entry(log.entries()[0]?.id ?? "")?.tokens);
		expect(state.calls).toBe(1);
	});

	test("is no half of a tool group: a result whose call stays is kept, and the log says so", async () => {
		const { plugin, state } = hider("mine");
		const { log, view, lines } = await open(plugin);
		log.user("first");
		const { results } = log.batch([
			{ name: "read", result: "ONE" },
			{ name: "read", result: "TWO" },
		]);
		state.ids = [results[1] ?? ""];
		expect(view().hidden.size).toBe(0);
		expect(lines).toEqual([`kept 1 result(s) whose call stays: ${results[1]}`]);
	});
});

describe("what a plugin did half counts for nothing:", () => {
	test("hides before a throw are undone, and another plugin's stay", async () => {
		const bad = hider("bad");
		const good = hider("good");
		const { log, view, lines } = await open(bad.plugin, good.plugin);
		log.user("first");
		const [second, third] = [log.user("second"), log.user("third")];
		bad.state.ids = [second];
		bad.state.isBroken = true;
		good.state.ids = [third];
		expect([...view().hidden]).toEqual([third]);
		expect(lines).toEqual(["bad failed in beforeFilter: boom"]);
	});

	test("so do notes before a throw", async () => {
		const bad: Plugin = {
			name: "bad",
			setup: ({ hooks }) =>
				hooks.beforeFilter.tap("bad", (plan) => {
					plan.note({ recordEntryId: "r", customType: "n", content: "N", details: {}, timestamp: 1 });
					boom();
				}),
		};
		const { log, view } = await open(bad);
		log.user("first");
		expect(view().notes).toEqual([]);
	});

	test("a throw for the second message undoes the change of the first, and another plugin's changes stay", async () => {
		const bad = changer("bad", (message, id) => (id === second ? boom() : changed(message, "BAD")));
		const good = changer("good", (message) => changed(message, "GOOD"));
		const { log, view } = await open(bad.plugin, good.plugin);
		const first = log.user("first");
		const second = log.user("second");
		expect(texts(view())).toEqual(
			new Map([
				[first, "GOOD"],
				[second, "GOOD"],
			]),
		);
		const alone = await open(bad.plugin);
		alone.log.user("first");
		alone.log.user("second");
		expect(alone.view().replaced.size).toBe(0);
	});

	test("a fault in one of the two hooks undoes what the plugin did in the other", async () => {
		let second = "";
		const bad: Plugin = {
			name: "bad",
			setup({ hooks }) {
				hooks.beforeFilter.tap("bad", (plan) => plan.hide(second));
				hooks.transformMessage.tap("bad", boom);
			},
		};
		const { log, view } = await open(bad);
		log.user("first");
		second = log.user("second");
		expect(view().hidden.size).toBe(0);
	});

	test("a wrong value from transformMessage is a fault as well", async () => {
		const bad = changer("bad", (message, id) => (id === second ? (null as never) : changed(message, "BAD")));
		const { log, view, lines } = await open(bad.plugin);
		log.user("first");
		const second = log.user("second");
		expect(view().replaced.size).toBe(0);
		expect(lines).toEqual([
			"bad failed in transformMessage: returned null; return the message itself to leave it as it is",
		]);
	});

	test("a line that was annotated before a throw is not sent, and another plugin's is", async () => {
		const bad: Plugin = {
			name: "bad",
			setup: ({ hooks }) =>
				hooks.onView.tap("bad", (view) => {
					view.annotate("HALF");
					boom();
				}),
		};
		const good: Plugin = {
			name: "good",
			setup: ({ hooks }) => hooks.onView.tap("good", (view) => view.annotate("WHOLE")),
		};
		const { log, annotations, lines } = await open(bad, good);
		log.user("first");
		expect(annotations()).toEqual(["WHOLE"]);
		expect(lines).toEqual(["bad failed in onView: boom"]);
	});
});

describe("while a plugin fails", () => {
	test("what it hid last stands for that request, and it goes on when it has recovered", async () => {
		const { plugin, state } = hider("mine");
		const { log, view, tick } = await open(plugin);
		log.user("first");
		const [second, third] = [log.user("second"), log.user("third")];
		state.ids = [second];
		expect([...view().hidden]).toEqual([second]);
		state.ids = [third];
		state.isBroken = true;
		tick();
		expect([...view().hidden]).toEqual([second]);
		state.isBroken = false;
		expect([...view().hidden]).toEqual([third]);
	});

	test("what it put in place of a message last stands, and messages that are new to it stay as they are", async () => {
		const { plugin, state } = changer("mine", (message) => changed(message, "MINE"));
		const { log, view } = await open(plugin);
		const first = log.user("first");
		view();
		state.change = boom;
		const second = log.user("second");
		expect(texts(view())).toEqual(new Map([[first, "MINE"]]));
		state.change = (message, id) => changed(message, id === second ? "NEW" : "MINE");
		expect(texts(view())).toEqual(
			new Map([
				[first, "MINE"],
				[second, "NEW"],
			]),
		);
	});

	test("what it put in place of a message stands for as long as it may fail, and no longer", async () => {
		const { plugin, state } = changer("mine", (message) => changed(message, "MINE"));
		const { log, view, told, tick } = await open(plugin);
		const first = log.user("first");
		view();
		state.change = boom;
		tick();
		for (let requests = 0; requests < 2; requests++) expect(texts(view())).toEqual(new Map([[first, "MINE"]]));
		expect(told).toEqual([]);
		view();
		expect(told).toHaveLength(1);
		expect(view().replaced.size).toBe(0);
	});

	test("all that it did last in both hooks stands, however often it fails in one", async () => {
		let isBroken = false;
		let second = "";
		const mine: Plugin = {
			name: "mine",
			setup({ hooks, journal }) {
				hooks.beforeFilter.tap("mine", (plan) => plan.hide(second));
				hooks.transformMessage.tap("mine", (message) => {
					journal.read("tick");
					return isBroken ? boom() : changed(message, "MINE");
				});
			},
		};
		const { log, view, tick } = await open(mine);
		const first = log.user("first");
		second = log.user("second");
		view();
		isBroken = true;
		tick();
		for (let requests = 0; requests < 2; requests++) {
			const { hidden, replaced } = view();
			expect([[...hidden], [...replaced.keys()]]).toEqual([[second], [first]]);
		}
	});

	test("a note of its last stands", async () => {
		let isBroken = false;
		const note = { recordEntryId: "r", customType: "n", content: "N", details: {}, timestamp: 1 };
		const mine: Plugin = {
			name: "mine",
			setup: ({ hooks, journal }) =>
				hooks.beforeFilter.tap("mine", (plan) => {
					journal.read("tick");
					if (isBroken) boom();
					plan.note(note);
				}),
		};
		const { log, view, tick } = await open(mine);
		log.user("first");
		view();
		isBroken = true;
		tick();
		expect(view().notes).toEqual([note]);
	});

	test("a later plugin gets the content that stands for it", async () => {
		const bad = changer("bad", (message) => changed(message, "BAD"));
		const inputs: string[] = [];
		const next = changer("next", (message) => {
			inputs.push("content" in message ? textOf(message.content) : "");
			return message;
		});
		const { log, view, tick } = await open(bad.plugin, next.plugin);
		log.user("first");
		view();
		bad.state.change = boom;
		tick();
		inputs.length = 0;
		view();
		expect(inputs.at(-1)).toBe("BAD");
	});

	test("a note of its stands once, from however many taps", async () => {
		let isBroken = false;
		const note = { recordEntryId: "r", customType: "n", content: "N", details: {}, timestamp: 1 };
		const mine: Plugin = {
			name: "mine",
			setup({ hooks, journal }) {
				hooks.beforeFilter.tap("mine", (plan) => {
					journal.read("tick");
					plan.note(note);
				});
				hooks.beforeFilter.tap("mine:two", () => {
					if (isBroken) boom();
				});
			},
		};
		const { log, view, tick } = await open(mine);
		log.user("first");
		expect(view().notes).toEqual([note]);
		isBroken = true;
		tick();
		expect(view().notes).toEqual([note]);
	});

	test("what it has taken back by itself before does not return", async () => {
		const { plugin, state } = changer("mine", (message) => changed(message, "MINE"));
		const { log, view, tick } = await open(plugin);
		log.user("first");
		expect(view().replaced.size).toBe(1);
		state.change = (message) => message;
		tick();
		expect(view().replaced.size).toBe(0);
		state.change = boom;
		tick();
		expect(view().replaced.size).toBe(0);
	});

	test("a request costs it one failure, however often the view is read during it", async () => {
		const { plugin, state } = hider("mine");
		const { log, kernel, told, tick, enter } = await open(plugin);
		log.user("first");
		state.ids = [log.user("second")];
		enter();
		expect(kernel.durable().hidden.size).toBe(1);
		state.isBroken = true;
		tick();
		enter();
		for (let times = 0; times < 3; times++) expect(kernel.durable().hidden.size).toBe(1);
		expect(told).toEqual([]);
	});

	test("a request costs it one failure, also where it met a new message", async () => {
		const { plugin, state } = changer("mine", (message) => changed(message, "MINE"));
		const { log, view, told } = await open(plugin);
		log.user("first");
		view();
		state.change = boom;
		log.user("second");
		for (let requests = 0; requests < 2; requests++) expect(view().replaced.size).toBe(1);
		expect(told).toEqual([]);
		view();
		expect(told).toHaveLength(1);
	});

	test("three requests switch it off: its effects are gone, and those of others stay", async () => {
		const bad = hider("bad");
		const good = hider("good");
		const { log, view, told, tick } = await open(bad.plugin, good.plugin);
		log.user("first");
		const [second, third] = [log.user("second"), log.user("third")];
		bad.state.ids = [second];
		good.state.ids = [third];
		view();
		bad.state.isBroken = true;
		tick();
		expect([...view().hidden]).toEqual([second, third]);
		expect([...view().hidden]).toEqual([second, third]);
		expect(told).toEqual([]);
		view();
		expect(told).toEqual([expect.stringContaining('the plugin "bad" is switched off')]);
		expect([...view().hidden]).toEqual([third]);
		bad.state.isBroken = false;
		tick();
		expect([...view().hidden]).toEqual([third]);
	});
});

test("a plugin that is switched off by another hook loses its effects as well", async () => {
	const hidden: string[] = [];
	const mine: Plugin = {
		name: "mine",
		setup({ hooks }) {
			hooks.beforeFilter.tap("mine", (plan) => hidden.forEach(plan.hide));
			hooks.onView.tap("mine", boom);
		},
	};
	const { log, view, told } = await open(mine);
	log.user("first");
	hidden.push(log.user("second"));
	for (let requests = 0; requests < 3; requests++) expect(view().hidden.size).toBe(1);
	expect(told).toHaveLength(1);
	expect(view().hidden.size).toBe(0);
});

describe("a durable output that changes", () => {
	const warning = (name: string) => `${name} changed earlier context outside a moment: this breaks the prompt cache`;

	test("without a reason is named in the log: other entries hidden", async () => {
		const { plugin, state } = hider("mine");
		const quiet = hider("quiet");
		const { log, view, lines, tick } = await open(quiet.plugin, plugin);
		log.user("first");
		const [second, third] = [log.user("second"), log.user("third")];
		quiet.state.ids = [second];
		state.ids = [second];
		view();
		tick();
		view();
		expect(lines).toEqual([]);
		state.ids = [third];
		tick();
		view();
		expect(lines).toEqual([warning("mine")]);
	});

	test("without a reason is named in the log: a first change of what stood there", async () => {
		const { plugin, state } = changer("mine", (message) => message);
		const { log, view, lines, tick } = await open(plugin);
		log.user("first");
		view();
		state.change = (message) => changed(message, "MINE");
		tick();
		view();
		expect(lines).toEqual([warning("mine")]);
	});

	test.each<[string, (message: Message) => Message]>([
		["another content", (message) => changed(message, "OTHER")],
		["the original again", (message) => message],
	])("without a reason is named in the log: %s", async (_what, change) => {
		const { plugin, state } = changer("mine", (message) => changed(message, "MINE"));
		const { log, view, lines, tick } = await open(plugin);
		log.user("first");
		view();
		state.change = change;
		tick();
		view();
		expect(lines).toEqual([warning("mine")]);
	});

	test("for new messages only is growth, and not named", async () => {
		const { plugin } = changer("mine", (message) => changed(message, "MINE"));
		const { log, view, lines, tick } = await open(plugin);
		log.user("first");
		view();
		log.user("second");
		view();
		tick();
		view();
		expect(lines).toEqual([]);
	});

	/** A plugin whose records decide what is hidden, as a rewind's do. */
	function byRecords() {
		let given: PluginApi | undefined;
		const plugin: Plugin = {
			name: "mine",
			records: ["mulligan:rewind"],
			setup(api) {
				given = api;
				api.hooks.beforeFilter.tap("mine", (plan) => {
					for (const { hideEntryIds } of api.journal.active("mulligan:rewind")) hideEntryIds.forEach(plan.hide);
				});
			},
		};
		const body = (hideEntryIds: readonly string[]) => ({
			id: "m1",
			granularity: "last_turn",
			excludeToolCallId: "c",
			hideEntryIds,
			note: { what_happened: "", true_current_state: "", next: "" },
			ledger: { filesRead: [], filesModified: [], bashSideEffects: [] },
		});
		const submit = (hideEntryIds: readonly string[]) =>
			given?.moments.submit(
				{
					id: "m1",
					describe: "it",
					effect: "hide",
					type: "mulligan:rewind",
					body: body(hideEntryIds),
					entryIds: hideEntryIds,
					shedTokens: 1,
					toolCallId: "c",
				},
				() => "",
			);
		return { plugin, body, submit, api: () => given as PluginApi };
	}

	test("after a moment or a cancel is not named", async () => {
		const { plugin, submit, api } = byRecords();
		const { log, view, lines, kernel } = await open(plugin);
		log.user("first");
		const second = log.user("second");
		expect(view().hidden.size).toBe(0);
		submit([second]);
		kernel.moments.settle();
		expect([...view().hidden]).toEqual([second]);
		api().journal.retire("m1", "cancelled by the model");
		expect(view().hidden.size).toBe(0);
		expect(lines).toEqual(["mine: retired m1: cancelled by the model"]);
	});

	test("by a record that no moment wrote is named", async () => {
		const { plugin, body, api } = byRecords();
		const { log, view, lines } = await open(plugin);
		log.user("first");
		const second = log.user("second");
		view();
		api().journal.append("mulligan:rewind", body([second]));
		expect([...view().hidden]).toEqual([second]);
		expect(lines).toEqual([warning("mine")]);
	});

	test("one reason excuses one change", async () => {
		const { plugin, submit, body, api } = byRecords();
		const { log, view, lines, kernel } = await open(plugin);
		log.user("first");
		const [second, third] = [log.user("second"), log.user("third")];
		view();
		submit([second]);
		kernel.moments.settle();
		view();
		api().journal.append("mulligan:rewind", { ...body([third]), id: "m2" });
		view();
		expect(lines).toEqual([warning("mine")]);
	});

	test("by a move to another branch is not named", async () => {
		const { plugin, submit } = byRecords();
		const { log, view, lines, kernel } = await open(plugin);
		log.user("first");
		const second = log.user("second");
		view();
		submit([second]);
		kernel.moments.settle();
		view();
		log.branchFrom(second);
		expect(view().hidden.size).toBe(0);
		expect(lines).toEqual([]);
	});

	test("because its plugin was switched off is not named", async () => {
		const { plugin, state } = hider("mine");
		const { log, view, lines, tick } = await open(plugin);
		log.user("first");
		state.ids = [log.user("second")];
		view();
		state.isBroken = true;
		tick();
		for (let times = 0; times < 4; times++) view();
		expect(lines.filter((line) => line.includes("outside a moment"))).toEqual([]);
	});
});

describe("transformMessage", () => {
	test("is called once for an entry, and again for all once a record that a tap read was added", async () => {
		const { plugin, state } = changer("mine", (message) => message);
		const { log, view, tick } = await open(plugin);
		const [first, second] = [log.user("first"), log.user("second")];
		view();
		view();
		expect(state.seen).toEqual([first, second]);
		const third = log.user("third");
		log.custom("unread", { schema: "pi-mulligan", v: 1, seq: 1, ts: 1 });
		view();
		view();
		expect(state.seen).toEqual([first, second, third]);
		tick();
		view();
		expect(state.seen).toEqual([first, second, third, first, second, third]);
	});

	test("is called again for all also where only a later entry made a tap read the record's type", async () => {
		const seen: string[] = [];
		const mine: Plugin = {
			name: "mine",
			setup: ({ hooks, journal }) =>
				hooks.transformMessage.tap("mine", (message, { id }) => {
					seen.push(id);
					if (id !== first) journal.read("tick");
					return message;
				}),
		};
		const { log, view, tick } = await open(mine);
		const first = log.user("first");
		view();
		const second = log.user("second");
		view();
		tick();
		view();
		expect(seen).toEqual([first, second, first, second]);
	});

	test("is not called for what is hidden, nor for what has left the context", async () => {
		const hiding = hider("hiding");
		const { plugin, state } = changer("mine", (message) => message);
		const { log, view } = await open(hiding.plugin, plugin);
		const first = log.user("first");
		const second = log.user("second");
		hiding.state.ids = [second];
		view();
		expect(state.seen).toEqual([first]);
		const third = log.user("third");
		const summary = log.compaction("SUMMARY", { firstKept: third });
		state.seen.length = 0;
		view();
		expect(state.seen).toEqual([summary, third]);
	});

	test("that gives the same object back changes nothing", async () => {
		const { plugin } = changer("mine", (message) => message);
		const { log, view, kernel } = await open(plugin);
		log.user("first");
		expect(view().replaced.size).toBe(0);
		expect(view().tokens).toBe(kernel.branch.contextTokens);
	});

	test("hands each plugin the output of the one before, and the original entry", async () => {
		const seen: string[] = [];
		const first = changer("first", (message) => changed(message, "ONE"));
		const next: Plugin = {
			name: "next",
			setup: ({ hooks }) =>
				hooks.transformMessage.tap("next", (message, entry) => {
					seen.push(textOf(message.role === "user" ? message.content : ""));
					seen.push(textOf(entry.message.role === "user" ? entry.message.content : ""));
					return changed(message, "TWO");
				}),
		};
		const { log, view } = await open(first.plugin, next);
		const id = log.user("original");
		view();
		expect(seen).toEqual(["ONE", "original"]);
		expect(texts(view())).toEqual(new Map([[id, "TWO"]]));
	});
});

describe("the size of the view", () => {
	test("is that of the context without what is hidden, with what was put in", async () => {
		const hiding = hider("hiding");
		const { plugin } = changer("mine", (message, id) => (id === third ? changed(message, "x".repeat(40)) : message));
		const { log, view } = await open(hiding.plugin, plugin);
		log.user("x".repeat(400));
		const second = log.user("x".repeat(4000));
		const third = log.user("x".repeat(40_000));
		hiding.state.ids = [second];
		expect(view().tokens).toBe(100 + 10);
		log.user("x".repeat(80));
		expect(view().tokens).toBe(100 + 10 + 20);
	});

	test("does not count what is hidden and has left the context besides", async () => {
		const { plugin, state } = hider("mine");
		const { log, view } = await open(plugin);
		log.user("x".repeat(400));
		const second = log.user("x".repeat(4000));
		state.ids = [second];
		const third = log.user("x".repeat(80));
		log.compaction("x".repeat(40), { firstKept: third });
		expect(view().tokens).toBe(20 + 10);
	});

	test("tells the agent's own part, edits of it included: responses and results, nothing else", async () => {
		const hiding = hider("hiding");
		const { plugin } = changer("mine", (message, id) =>
			id === shrunk || id === swapped ? changed(message, "x".repeat(40)) : message,
		);
		const { log, view } = await open(hiding.plugin, plugin);
		const swapped = log.user("x".repeat(400));
		const response = log.assistant("x".repeat(80));
		const { results } = log.batch([{ name: "f", result: "x".repeat(4000) }], { text: "xxx" });
		const shrunk = results[0];
		log.bash("x".repeat(40), "x".repeat(40));
		log.customMessage("note", "x".repeat(400));
		const others = 10 + 20 + 100;
		const call = Math.ceil("xxxf{}".length / 4);
		expect(view()).toMatchObject({ tokens: others + 20 + call + 10, agentTokens: 20 + call + 10 });
		hiding.state.ids = [response];
		log.custom("tick", {});
		expect(view()).toMatchObject({ tokens: others + call + 10, agentTokens: call + 10 });
		const kept = log.assistant("x".repeat(120));
		log.compaction("x".repeat(400), { firstKept: kept });
		expect(view()).toMatchObject({ tokens: 100 + 30, agentTokens: 30 });
	});

	test("counts no response that broke off, neither as it is nor with what was put in", async () => {
		const { plugin } = changer("mine", (message, id) => (id === broken ? changed(message, "y".repeat(80)) : message));
		const { log, view } = await open(plugin);
		log.user("x".repeat(400));
		const broken = log.assistant({ text: "x".repeat(4000), stopReason: "error" });
		log.assistant({ text: "x".repeat(4000), stopReason: "aborted" });
		log.assistant({ text: "x".repeat(40), stopReason: "length" });
		expect(texts(view()).get(broken)).toBe("y".repeat(80));
		expect(view().tokens).toBe(100 + 10);
	});

	test("is what onView tells, as a share of the window too, with the survivors", async () => {
		const { plugin, state } = hider("hiding");
		let told: unknown;
		const reader: Plugin = {
			name: "reader",
			setup: ({ hooks }) =>
				hooks.onView.tap("reader", (view) => {
					told = {
						tokens: view.tokens,
						window: view.window,
						share: view.share,
						ids: view.entries().map(({ id }) => id),
						has: [view.has(first), view.has(second), view.has("nowhere")],
					};
				}),
		};
		const { log, annotations } = await open(plugin, reader);
		const first = log.user("x".repeat(400));
		const second = log.user("x".repeat(4000));
		state.ids = [second];
		annotations();
		expect(told).toEqual({ tokens: 100, window: 1000, share: 0.1, ids: [first], has: [true, false, false] });
	});
});
