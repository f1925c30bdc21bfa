import { describe, expect, test } from "vitest";
import { AT_ONCE, noScreen, SETTINGS } from "../../test/support/screen.ts";
import { sessionLog } from "../testing/index.ts";
import type { Hooks } from "./hooks.ts";
import { owner } from "./isolate.ts";
import { createKernel } from "./kernel.ts";
import type { Message, SessionEntry } from "./messages.ts";
import type { Plugin } from "./plugin.ts";
import { Meter } from "./trace.ts";

const plugin = (name: string, tap: (hooks: Hooks) => void): Plugin => ({ name, setup: ({ hooks }) => tap(hooks) });

/** A kernel over a session log of these plugins; `request` makes the view of one request. */
async function open(...plugins: readonly Plugin[]) {
	const log = sessionLog();
	const kernel = await createKernel({
		plugins: plugins.map((each) => ({ plugin: each, options: {} })),
		settings: SETTINGS,
		host: {
			append: (type, data) => void log.custom(type, data),
			note: () => {},
			label: () => {},
			notify: () => {},
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
	enter();
	return {
		log,
		kernel,
		enter,
		request() {
			enter();
			kernel.requestView();
		},
		of: (name: string) => kernel.lastTrace()?.plugins.find((each) => each.plugin === name),
	};
}

/** A user message, and a tool group with one result. */
function fill(log: ReturnType<typeof sessionLog>) {
	const user = log.user("go");
	const calls = log.assistant({ calls: [{ id: "c1", name: "grep", args: {} }] });
	const result = log.result("c1", "x".repeat(400));
	return { user, calls, result };
}

describe("the trace of a request", () => {
	test("is undefined before the first", async () => {
		const { kernel } = await open(plugin("idle", () => {}));
		expect(kernel.lastTrace()).toBeUndefined();
	});

	test("names what a plugin hid: a group whole, and what the kernel kept of it", async () => {
		let ids: readonly string[] = [];
		const { log, of, request, kernel } = await open(
			plugin("hider", (hooks) => hooks.beforeFilter.tap("hider", (plan) => ids.forEach((id) => void plan.hide(id)))),
		);
		const { user, calls, result } = fill(log);
		ids = [calls, user, "nowhere"];
		request();
		expect(of("hider")).toMatchObject({
			hidden: [
				{ id: calls, newTokens: 0 },
				{ id: result, tokens: 100 },
			],
			kept: 1,
			changed: [],
		});
		expect(kernel.lastTrace()).toMatchObject({ number: 1, tokens: kernel.durable().tokens });
	});

	test("names what each of two plugins made of the same message", async () => {
		const set = (name: string, text: string) =>
			plugin(name, (hooks) =>
				hooks.transformMessage.tap(name, (message) =>
					message.role === "toolResult" ? ({ ...message, content: [{ type: "text", text }] } as Message) : message,
				),
			);
		const { log, of, request } = await open(set("first", "y".repeat(40)), set("second", "z".repeat(8)));
		const { result } = fill(log);
		request();
		expect(of("first")?.changed).toEqual([{ id: result, tokens: 100, newTokens: 10 }]);
		expect(of("second")?.changed).toEqual([{ id: result, tokens: 100, newTokens: 2 }]);
	});

	test("tells what was, not what came after it", async () => {
		const { log, of, request, kernel, enter } = await open(
			plugin("shorter", (hooks) =>
				hooks.transformMessage.tap("shorter", (message) =>
					message.role === "toolResult" ? ({ ...message, content: "x" } as Message) : message,
				),
			),
		);
		const { result } = fill(log);
		request();
		log.assistant({ calls: [{ id: "c2", name: "grep", args: {} }] });
		log.result("c2", "later");
		enter();
		expect(kernel.durable().replaced.size).toBe(2);
		expect(of("shorter")?.changed.map(({ id }) => id)).toEqual([result]);
	});

	test("names annotations by plugin, of this request only, and none of a tap that threw", async () => {
		let says = ["one", "two"];
		const { log, of, request } = await open(
			plugin("talker", (hooks) =>
				hooks.onView.tap("talker", (view) => says.forEach((line) => void view.annotate(line))),
			),
			plugin("broken", (hooks) =>
				hooks.onView.tap("broken", (view) => {
					view.annotate("lost");
					throw new Error("boom");
				}),
			),
		);
		fill(log);
		request();
		expect(of("talker")?.annotations).toEqual(["one", "two"]);
		expect(of("broken")?.annotations).toEqual([]);
		says = [];
		request();
		expect(of("talker")?.annotations).toEqual([]);
	});

	test("counts the calls of each hook since the request before, taps of one plugin together", async () => {
		const { log, of, request, kernel } = await open(
			plugin("busy", (hooks) => {
				hooks.onView.tap("busy", () => {});
				hooks.onView.tap("busy:again", () => {});
				hooks.onTurnEnd.tapPromise("busy", async () => {});
			}),
		);
		fill(log);
		request();
		expect(of("busy")?.times.map(({ hook, calls }) => [hook, calls])).toEqual([["onView", 2]]);
		await kernel.hooks.onTurnEnd.promise({ turnIndex: 0 });
		expect(of("busy")?.times.map(({ hook }) => hook)).toEqual(["onView"]);
		request();
		expect(of("busy")?.times.map(({ hook, calls }) => [hook, calls])).toEqual([
			["onView", 2],
			["onTurnEnd", 1],
		]);
	});
});

describe("a meter", () => {
	/** A clock that a test moves, and that counts how often it was read. */
	function meter() {
		const state = { now: 0, reads: 0, request: 1 };
		const clock = () => {
			state.reads++;
			return state.now;
		};
		return { state, meter: new Meter({ who: owner("p"), hook: "onView", clock, next: () => state.request }) };
	}

	test("adds up what calls take", () => {
		const { state, meter: it } = meter();
		for (const ms of [2, 3]) {
			const start = it.start();
			state.now += ms;
			it.stop(start);
		}
		expect(it.timeOf(1)).toEqual({ hook: "onView", calls: 2, ms: 5 });
		expect(it.timeOf(2)).toBeUndefined();
	});

	test("tells the request before while the next is under way, and not the one before that", () => {
		const { state, meter: it } = meter();
		for (const request of [1, 2, 3]) {
			state.request = request;
			const start = it.start();
			state.now += request;
			it.stop(start);
		}
		expect([1, 2, 3].map((request) => it.timeOf(request)?.ms)).toEqual([undefined, 2, 3]);
	});

	test("reads the clock for few of many calls, and scales what it saw", () => {
		const { state, meter: it } = meter();
		for (let call = 0; call < 10_000; call++) {
			const start = it.start();
			state.now += 0.001;
			it.stop(start);
		}
		expect(it.timeOf(1)?.ms).toBeCloseTo(10, 1);
		expect(state.reads).toBeLessThan(500);
	});
});
