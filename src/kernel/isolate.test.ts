import { describe, expect, test } from "vitest";
import { AT_ONCE, noScreen, SETTINGS } from "../../test/support/screen.ts";
import { type Blame, Isolation, messageOfError, owner } from "./isolate.ts";
import { createKernel } from "./kernel.ts";
import type { Plugin } from "./plugin.ts";

function isolated(name = "mine") {
	const blames: Blame[] = [];
	const isolation = new Isolation((blame) => blames.push(blame));
	const who = owner(name);
	const fail = (hook: string) =>
		isolation.run<string>(
			who,
			hook,
			() => {
				throw new Error(`boom in ${hook}`);
			},
			{ otherwise: () => "otherwise" },
		);
	const pass = (hook: string) => isolation.run<string>(who, hook, () => "fine", { otherwise: () => "otherwise" });
	return { isolation, who, blames, fail, pass };
}

describe("one call", () => {
	test("gives the value on, which `accept` takes, and blames nobody", () => {
		const { isolation, who, blames } = isolated();
		const taken: number[] = [];
		const value = isolation.run(who, "hook", () => 7, { otherwise: () => 0, accept: (good) => void taken.push(good) });
		expect([value, taken, blames]).toEqual([7, [7], []]);
	});

	test("that throws is answered by `otherwise`, which gets the error, and blamed by plugin and hook", () => {
		const { isolation, who, blames } = isolated("culprit");
		const error = new Error("boom");
		const taken: unknown[] = [];
		const value = isolation.run<unknown>(
			who,
			"hook",
			() => {
				throw error;
			},
			{ otherwise: (given) => ["instead", given], accept: (good) => void taken.push(good) },
		);
		expect(value).toEqual(["instead", error]);
		expect(blames).toEqual([{ plugin: "culprit", hook: "hook", error, switchedOff: false }]);
		expect(taken).toEqual([]);
	});

	test("whose value is complained of counts as failed", () => {
		const { isolation, who, blames } = isolated();
		const taken: number[] = [];
		const value = isolation.run(who, "hook", () => 7, {
			otherwise: () => 0,
			complaint: (given) => `${given} is too much`,
			accept: (good) => void taken.push(good),
		});
		expect([value, taken]).toEqual([0, []]);
		expect(blames).toMatchObject([{ error: new TypeError("7 is too much") }]);
	});

	test("is a promise exactly when the code returned one", async () => {
		const { isolation, who } = isolated();
		expect(isolation.run(who, "hook", () => 7, { otherwise: () => 0 })).toBe(7);
		const promised = isolation.run(who, "hook", async () => 7, { otherwise: () => 0 });
		expect(promised).toBeInstanceOf(Promise);
		expect(await promised).toBe(7);
	});

	test.each<[string, () => Promise<number>, ((value: number) => string | undefined) | undefined]>([
		["rejects", () => Promise.reject(new Error("late")), undefined],
		["resolves to a value that is complained of", async () => 7, () => "wrong"],
	])("whose promise %s is answered by `otherwise` and blamed", async (_how, code, complaint) => {
		const { isolation, who, blames } = isolated();
		const verdict = { otherwise: () => -1, ...(complaint ? { complaint } : {}) };
		expect(await isolation.run<number>(who, "hook", code, verdict)).toBe(-1);
		expect(blames).toHaveLength(1);
	});
});

describe("a plugin is switched off", () => {
	test("by three failures of a hook in a row, which is told once", () => {
		const { who, blames, fail } = isolated();
		for (let times = 0; times < 5; times++) fail("hook");
		expect(blames.map(({ switchedOff }) => switchedOff)).toEqual([false, false, true, false, false]);
		expect(who.off).toBe("threw in hook 3 times in a row");
	});

	test("by failures that come later than the call, as promises", async () => {
		const { isolation, who, blames } = isolated();
		const late = () =>
			isolation.run<void>(who, "hook", () => Promise.reject(new Error("late")), { otherwise: () => undefined });
		await late();
		await late();
		expect(who.off).toBeUndefined();
		await late();
		expect(blames.at(-1)?.switchedOff).toBe(true);
	});

	const F = "fail";
	const P = "pass";
	test.each<[string, readonly (readonly [string, "a" | "b"])[], boolean]>([
		[
			"not by two failures",
			[
				[F, "a"],
				[F, "a"],
			],
			false,
		],
		[
			"not by three with a success in between",
			[
				[F, "a"],
				[F, "a"],
				[P, "a"],
				[F, "a"],
				[F, "a"],
			],
			false,
		],
		[
			"by three after a success",
			[
				[F, "a"],
				[P, "a"],
				[F, "a"],
				[F, "a"],
				[F, "a"],
			],
			true,
		],
		[
			"not by failures of different hooks",
			[
				[F, "a"],
				[F, "b"],
				[F, "a"],
				[F, "b"],
			],
			false,
		],
		[
			"by three of one hook, whatever another does in between",
			[
				[F, "a"],
				[P, "b"],
				[F, "a"],
				[F, "b"],
				[F, "a"],
			],
			true,
		],
	])("%s", (_what, calls, isOff) => {
		const { who, fail, pass } = isolated();
		for (const [how, hook] of calls) how === F ? fail(hook) : pass(hook);
		expect(who.off !== undefined).toBe(isOff);
	});

	test("alone: another's failures are not its own", () => {
		const mine = isolated();
		const other = owner("other");
		for (let times = 0; times < 3; times++) {
			mine.isolation.run<void>(other, "hook", () => Promise.reject(), { otherwise: () => undefined, isSync: true });
			mine.pass("hook");
		}
		expect([other.off !== undefined, mine.who.off]).toEqual([true, undefined]);
	});
});

describe("in the kernel, a plugin that failed three times in a row", () => {
	async function failing() {
		const told: string[] = [];
		let calls = 0;
		const bad: Plugin = {
			name: "bad",
			tools: [],
			setup({ hooks, tool, command }) {
				hooks.onOp.tap("bad", () => {
					calls++;
					throw new Error("boom");
				});
				hooks.onSettled.tap("bad", () => void calls++);
				hooks.onToolResult.tap("bad", (result) => ({ ...result, isError: true }));
				tool({ name: "bad_tool", label: "", description: "", parameters: {} }, () => ({ text: "fine", details: {} }));
				command("bad", { description: "", run: () => void calls++ });
			},
		};
		const kernel = await createKernel({
			plugins: [{ plugin: bad, options: {} }],
			settings: SETTINGS,
			host: {
				append: () => {},
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
		const op = () => kernel.hooks.onOp.call({ status: "refused", plugin: "p", reason: "r", code: "c" });
		return { kernel, told, op, calls: () => calls };
	}

	test("is named to the human once, with the hook, the error and what to do", async () => {
		const { told, op } = await failing();
		op();
		op();
		expect(told).toEqual([]);
		op();
		op();
		expect(told).toEqual([
			'Mulligan: the plugin "bad" is switched off for this session: it failed three times in a row in onOp (boom). Fix it or take it out of "plugins", then /reload.',
		]);
	});

	test("is passed over in that hook and in every other", async () => {
		const { kernel, op, calls } = await failing();
		for (let times = 0; times < 5; times++) op();
		expect(calls()).toBe(3);
		await kernel.hooks.onSettled.promise();
		expect(calls()).toBe(3);
		const result = { content: [], details: undefined, isError: false };
		expect(await kernel.hooks.onToolResult.promise(result, { toolCallId: "c", toolName: "t", input: {} })).toBe(result);
	});

	test("refuses in its tools, and says why", async () => {
		const { kernel, op } = await failing();
		const run = async () => (await kernel.tools[0]?.run({ toolCallId: "c", params: {} as never }))?.text;
		expect(await run()).toBe("fine");
		for (let times = 0; times < 3; times++) op();
		expect(await run()).toBe('Mulligan: refused — the plugin "bad" is switched off: threw in onOp 3 times in a row.');
	});
});

test.each([
	[new Error("boom"), "boom"],
	["a text", "a text"],
	[undefined, "undefined"],
	[{ a: 1 }, "[object Object]"],
])("the message of a thrown %j is %j", (thrown, message) => {
	expect(messageOfError(thrown)).toBe(message);
});
