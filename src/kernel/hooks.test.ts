import { describe, expect, test } from "vitest";
import { AT_ONCE, noScreen, SETTINGS } from "../../test/support/screen.ts";
import type { FinishedCall, FreshResult, HookName, Hooks } from "./hooks.ts";
import { createKernel, type Kernel, type PluginWithOptions } from "./kernel.ts";
import type { AssistantMessage, Message } from "./messages.ts";
import type { Moment } from "./moments.ts";
import type { Plugin } from "./plugin.ts";

/** A kernel with plugins that do nothing but tap, with its log and what the human was told. */
async function kernelWith(...plugins: readonly Plugin[]) {
	return kernelOf(plugins.map((plugin) => ({ plugin, options: {} })));
}

async function kernelOf(plugins: readonly PluginWithOptions[]) {
	const log: string[] = [];
	const told: string[] = [];
	const kernel = await createKernel({
		plugins,
		settings: SETTINGS,
		host: {
			append: () => {},
			note: () => {},
			label: () => {},
			notify: (text) => told.push(text),
			log: (line) => log.push(line),
			now: () => 0,
			newId: () => "id",
			screen: noScreen,
			raw: () => undefined,
		},
		rules: AT_ONCE,
		lastSeq: 0,
	});
	return { kernel, log, told };
}

const plugin = (name: string, tap: (hooks: Hooks) => void): Plugin => ({ name, setup: ({ hooks }) => tap(hooks) });

const user: Message = { role: "user", content: "hello", timestamp: 1 };
const entry = { id: "e", message: user, tokens: 2 };
const result: FreshResult = { content: [{ type: "text", text: "out" }], details: undefined, isError: false };
const call: FinishedCall = { toolCallId: "c", toolName: "bash", input: {} };
const response: AssistantMessage = { role: "assistant", content: [], timestamp: 1 };
const moment: Moment = { ops: [], volumeTokens: 0, trigger: "volume", free: false };

const later = () => new Promise((resolve) => setImmediate(resolve));

const HOOKS = Object.keys((await kernelWith()).kernel.hooks) as HookName[];
const SYNC: readonly HookName[] = ["beforeFilter", "transformMessage", "onView", "onMoment", "onOp"];
const ASYNC = HOOKS.filter((name) => !SYNC.includes(name));

/** Any hook as one that takes a tap of any kind and any arguments. */
const any = (hooks: Hooks, name: HookName) =>
	hooks[name] as unknown as {
		tap(options: unknown, fn: (...args: unknown[]) => unknown): void;
		tapAsync(options: unknown, fn: (...args: unknown[]) => unknown): void;
		tapPromise(options: unknown, fn: (...args: unknown[]) => unknown): void;
		call(...args: unknown[]): unknown;
		promise(...args: unknown[]): Promise<unknown>;
	};

const ARGS: Partial<Record<HookName, readonly unknown[]>> = {
	transformMessage: [user, entry],
	onToolResult: [result, call],
	onAssistantMessage: [response],
	onView: [{ annotate: () => {} }],
	onMoment: [moment],
};

/** Calls a hook as the kernel does, and waits for it. */
const run = async ({ hooks }: Kernel, name: HookName) => {
	const args = ARGS[name] ?? [{}];
	return SYNC.includes(name) ? any(hooks, name).call(...args) : any(hooks, name).promise(...args);
};

test("the hooks are these, and no others", () => {
	expect(HOOKS).toEqual([
		"beforeFilter",
		"transformMessage",
		"onView",
		"onToolResult",
		"onAssistantMessage",
		"onTurnEnd",
		"onMoment",
		"onOp",
		"onSettled",
		"onCompact",
		"onSession",
	]);
});

describe("a waterfall tap that returns", () => {
	const wrongMessages = [
		undefined,
		null,
		0,
		"text",
		true,
		{},
		{ ...user, role: "assistant" },
		{ role: "user", timestamp: 1 },
		{ ...user, content: 3 },
	];
	const wrongResults = [
		undefined,
		null,
		0,
		"text",
		{},
		{ ...result, content: "text" },
		{ ...result, content: undefined },
	];
	const wrongResponses = [
		undefined,
		null,
		0,
		"text",
		{},
		{ ...response, content: "text" },
		{ ...response, role: "user" },
	];
	const cases = [
		...wrongMessages.map((wrong) => ["transformMessage", user, wrong] as const),
		...wrongResults.map((wrong) => ["onToolResult", result, wrong] as const),
		...wrongResponses.map((wrong) => ["onAssistantMessage", response, wrong] as const),
	];

	test.each(cases)("a wrong value from %s passes %j on and is blamed: %j", async (name, input, wrong) => {
		let seen: unknown;
		const { kernel, log } = await kernelWith(
			plugin("wrong", (hooks) => any(hooks, name).tap("wrong", () => wrong)),
			plugin("next", (hooks) =>
				any(hooks, name).tap("next", (value) => {
					seen = value;
					return value;
				}),
			),
		);
		expect(await run(kernel, name)).toBe(input);
		expect(seen).toBe(input);
		expect(log).toEqual([expect.stringMatching(new RegExp(`^wrong failed in ${name}: returned `))]);
	});

	test.each(["onToolResult", "onAssistantMessage"] as const)(
		"nothing in the end passes the input of %s on",
		async (name) => {
			const { kernel, log } = await kernelWith(
				plugin("wrong", (hooks) => any(hooks, name).tap("wrong", async () => undefined)),
			);
			expect(await run(kernel, name)).toBe(ARGS[name]?.[0]);
			expect(log).toHaveLength(1);
		},
	);

	test.each([
		["transformMessage", { ...user, content: [{ type: "text", text: "changed" }] }],
		["onToolResult", { ...result, isError: true }],
		["onAssistantMessage", { ...response, content: [{ type: "text", text: "changed" }] }],
	] as const)("a good value from %s hands it to the next tap and out", async (name, changed) => {
		let seen: unknown;
		const { kernel, log } = await kernelWith(
			plugin("first", (hooks) => any(hooks, name).tap("first", () => changed)),
			plugin("next", (hooks) =>
				any(hooks, name).tap("next", (value) => {
					seen = value;
					return value;
				}),
			),
		);
		expect(await run(kernel, name)).toBe(changed);
		expect(seen).toBe(changed);
		expect(log).toEqual([]);
	});
});

describe("a plugin in the place of another", () => {
	const inPlaceOf = (name: string, { setup, name: ownName }: Plugin) => ({
		plugin: { name, setup },
		options: {},
		ownName,
	});
	const tapAs = (...names: readonly string[]) =>
		plugin("mine", (hooks) => {
			for (const name of names) hooks.onOp.tap(name, () => undefined);
		});

	test.each([[["mine", "mine:second"]], [["theirs", "theirs:second"]]])("may tap as %j", async (names) => {
		const { told, kernel } = await kernelOf([inPlaceOf("theirs", tapAs(...names))]);
		expect(told).toEqual([]);
		expect(kernel.hooks.onOp.taps.map(({ name }) => name)).toEqual(["theirs", "theirs:second"]);
	});

	test("stands beside itself under its own name", async () => {
		const { told, kernel } = await kernelOf([
			inPlaceOf("theirs", tapAs("mine")),
			{ plugin: tapAs("mine"), options: {} },
		]);
		expect(told).toEqual([]);
		expect(kernel.hooks.onOp.taps.map(({ name }) => name)).toEqual(["theirs", "mine"]);
	});

	test("is blamed under the name of the place", async () => {
		const { told } = await kernelOf([inPlaceOf("theirs", tapAs("mineral"))]);
		expect(told[0]).toContain('a tap of theirs is named "mineral"');
	});
});

describe("a tap is refused, and its plugin left out,", () => {
	const nothing = () => undefined;
	test.each<[string, (hooks: Hooks) => void, string]>([
		[
			"when it taps a hook twice under one name",
			(hooks) => {
				hooks.onOp.tap("mine", nothing);
				hooks.onOp.tap("mine", nothing);
			},
			'onOp: "mine" taps twice. Name the second "mine:…".',
		],
		[
			"when it taps under the name of another",
			(hooks) => hooks.onOp.tap("other", nothing),
			'onOp: a tap of mine is named "other". Name it "mine" or "mine:…".',
		],
		[
			"when its name only begins like its plugin's",
			(hooks) => hooks.onOp.tap("mineral", nothing),
			'a tap of mine is named "mineral"',
		],
		[
			"when it wants to stand before another",
			(hooks) => hooks.onOp.tap({ name: "mine", before: "other" }, nothing),
			'onOp: "mine" sets before or stage. The order of taps is the order of plugins.',
		],
		[
			"when it wants to stand before several others",
			(hooks) => any(hooks, "onOp").tap({ name: "mine", before: ["other"] }, nothing),
			'"mine" sets before or stage',
		],
		[
			"when it sets an early stage",
			(hooks) => hooks.onOp.tap({ name: "mine", stage: -1 }, nothing),
			'"mine" sets before or stage',
		],
		[
			"when it sets a late stage",
			(hooks) => hooks.onOp.tap({ name: "mine", stage: 1 }, nothing),
			'"mine" sets before or stage',
		],
		[
			"when it would call back",
			(hooks) => any(hooks, "onTurnEnd").tapAsync("mine", nothing),
			'onTurnEnd: "mine" uses tapAsync. Use tap or tapPromise.',
		],
		[
			"when it asks for tapable's context, which would shift its arguments",
			(hooks) => any(hooks, "onOp").tap({ name: "mine", context: true }, nothing),
			'onOp: "mine"',
		],
		[
			"when it promises on a synchronous hook",
			(hooks) => any(hooks, "onOp").tapPromise("mine", nothing),
			"not supported",
		],
	])("%s", async (_what, tap, complaint) => {
		let otherRan = false;
		const { told, kernel } = await kernelWith(
			plugin("other", (hooks) =>
				hooks.onOp.tap("other", () => {
					otherRan = true;
				}),
			),
			plugin("mine", tap),
		);
		expect(told).toEqual([expect.stringContaining(`the plugin "mine" is left out: its set-up failed: `)]);
		expect(told[0]).toContain(complaint);
		await run(kernel, "onOp");
		expect(otherRan).toBe(true);
	});

	test("and what it had tapped before that does nothing", async () => {
		let ran = false;
		const { kernel } = await kernelWith(
			plugin("mine", (hooks) => {
				hooks.onOp.tap("mine", () => {
					ran = true;
				});
				hooks.onOp.tap("mine", () => {});
			}),
		);
		await run(kernel, "onOp");
		expect(ran).toBe(false);
	});
});

test("a plugin may tap each hook under its name, and one hook several times under names of its own, in that order", async () => {
	const ran: string[] = [];
	const { kernel, told } = await kernelWith(
		plugin("mine", (hooks) => {
			for (const name of HOOKS)
				for (const tap of ["mine", "mine:two"])
					any(hooks, name).tap(tap, (value) => {
						ran.push(`${name} ${tap}`);
						return name === "onMoment" ? undefined : value;
					});
		}),
	);
	expect(told).toEqual([]);
	for (const name of HOOKS) await run(kernel, name);
	expect(ran).toEqual(HOOKS.flatMap((name) => [`${name} mine`, `${name} mine:two`]));
});

test.each<[string, object]>([
	[
		"watches calls",
		{
			call: () => {
				throw new Error("boom");
			},
		},
	],
	[
		"watches taps",
		{
			tap: () => {
				throw new Error("boom");
			},
		},
	],
])("an interceptor of a plugin that %s cannot break the hook for others", async (_what, interceptor) => {
	let ran = false;
	const { kernel } = await kernelWith(
		plugin("mine", (hooks) => hooks.onOp.intercept(interceptor)),
		plugin("other", (hooks) =>
			hooks.onOp.tap("other", () => {
				ran = true;
			}),
		),
	);
	expect(() => any(kernel.hooks, "onOp").call({})).not.toThrow();
	expect(ran).toBe(true);
});

test("taps run in the order of the plugins", async () => {
	const ran: string[] = [];
	const recorder = (name: string) => plugin(name, (hooks) => hooks.onOp.tap(name, () => void ran.push(name)));
	const { kernel } = await kernelWith(recorder("z"), recorder("a"), recorder("m"));
	await run(kernel, "onOp");
	expect(ran).toEqual(["z", "a", "m"]);
});

describe.each(HOOKS)("%s", (name) => {
	test("takes no tap once set-up is over", async () => {
		const { kernel } = await kernelWith(plugin("mine", () => {}));
		expect(() => any(kernel.hooks, name).tap("mine", () => {})).toThrow(
			`${name}: "mine" taps after set-up. Tap in setup(), before it returns.`,
		);
	});

	test("goes on after a tap that throws, which is blamed by plugin and hook", async () => {
		let reached = false;
		const { kernel, log } = await kernelWith(
			plugin("bad", (hooks) =>
				any(hooks, name).tap("bad", () => {
					throw new Error("boom");
				}),
			),
			plugin("next", (hooks) =>
				any(hooks, name).tap("next", (value) => {
					reached = true;
					return name === "onMoment" ? undefined : value;
				}),
			),
		);
		await run(kernel, name);
		expect(reached).toBe(true);
		expect(log).toEqual([`bad failed in ${name}: boom`]);
	});
});

describe.each(SYNC)("the synchronous %s", (name) => {
	test.each([
		["rejects", async () => Promise.reject(new Error("late"))],
		["resolves", async (value: unknown) => value],
	])("blames a tap whose promise %s, and no rejection escapes", async (_how, tap) => {
		const escaped: unknown[] = [];
		const note = (reason: unknown) => void escaped.push(reason);
		process.on("unhandledRejection", note);
		try {
			const { kernel, log } = await kernelWith(plugin("mine", (hooks) => any(hooks, name).tap("mine", tap)));
			expect(await run(kernel, name)).toBe(name === "transformMessage" ? user : undefined);
			await later();
			expect(log).toEqual([`mine failed in ${name}: returned a promise from a synchronous hook`]);
			expect(escaped).toEqual([]);
		} finally {
			process.off("unhandledRejection", note);
		}
	});
});

describe.each(ASYNC)("the asynchronous %s", (name) => {
	const passing = (mark: () => void) => async (value: unknown) => {
		await later();
		mark();
		return value;
	};

	test.each(["tap", "tapPromise"] as const)(
		"waits for an async function given to %s before the next tap",
		async (how) => {
			const ran: string[] = [];
			const { kernel } = await kernelWith(
				plugin("slow", (hooks) =>
					any(hooks, name)[how](
						"slow",
						passing(() => ran.push("slow")),
					),
				),
				plugin("next", (hooks) =>
					any(hooks, name)[how](
						"next",
						passing(() => ran.push("next")),
					),
				),
			);
			await run(kernel, name);
			expect(ran).toEqual(["slow", "next"]);
		},
	);

	test("takes a synchronous answer from tapPromise", async () => {
		const { kernel, log } = await kernelWith(
			plugin("mine", (hooks) => any(hooks, name).tapPromise("mine", (value) => value)),
		);
		await run(kernel, name);
		expect(log).toEqual([]);
	});

	test.each([
		[
			"throws at once",
			() => {
				throw new Error("boom");
			},
		],
		["rejects", async () => Promise.reject(new Error("boom"))],
	])("blames a tapPromise that %s, and goes on", async (_how, tap) => {
		let reached = false;
		const { kernel, log } = await kernelWith(
			plugin("mine", (hooks) => any(hooks, name).tapPromise("mine", tap)),
			plugin("next", (hooks) =>
				any(hooks, name).tapPromise("next", async (value) => {
					reached = true;
					return value;
				}),
			),
		);
		const input = ARGS[name]?.[0];
		expect(await run(kernel, name)).toBe(input);
		expect(reached).toBe(true);
		expect(log).toEqual([`mine failed in ${name}: boom`]);
	});
});

describe("onMoment", () => {
	test("is bailed out of by exactly false, and no later tap is asked", async () => {
		let asked = false;
		const { kernel, log } = await kernelWith(
			plugin("holder", (hooks) => hooks.onMoment.tap("holder", () => false)),
			plugin("next", (hooks) =>
				hooks.onMoment.tap("next", () => {
					asked = true;
					return undefined;
				}),
			),
		);
		expect(kernel.hooks.onMoment.call(moment)).toBe(false);
		expect(asked).toBe(false);
		expect(log).toEqual([]);
	});

	test("goes on past a tap that returns nothing", async () => {
		const { kernel, log } = await kernelWith(
			plugin("shy", (hooks) => hooks.onMoment.tap("shy", () => undefined)),
			plugin("holder", (hooks) => hooks.onMoment.tap("holder", () => false)),
		);
		expect(kernel.hooks.onMoment.call(moment)).toBe(false);
		expect(log).toEqual([]);
	});

	test.each([0, null, "", Number.NaN, true, "no", 1, {}])("counts %j as nothing and blames it", async (value) => {
		let asked = false;
		const { kernel, log } = await kernelWith(
			plugin("odd", (hooks) => any(hooks, "onMoment").tap("odd", () => value)),
			plugin("next", (hooks) =>
				hooks.onMoment.tap("next", () => {
					asked = true;
					return undefined;
				}),
			),
		);
		expect(kernel.hooks.onMoment.call(moment)).toBe(undefined);
		expect(asked).toBe(true);
		expect(log).toEqual([expect.stringMatching(/^odd failed in onMoment: returned .*only exactly false holds/)]);
	});
});
