import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { describe, expect, test } from "vitest";
import { DEFAULT_PLUGINS } from "../../src/default-set.ts";
import { mulliganWith } from "../../src/extension.ts";
import type { HookName } from "../../src/kernel/hooks.ts";
import type { Plugin } from "../../src/kernel/plugin.ts";
import { containsText, orphans, piVersions, textOf } from "../../src/testing/index.ts";
import { bulk, call, openAtOnce, records } from "../support/mulligan.ts";

const edges = piVersions().filter(({ name }) => name === "oldest" || name === "newest");
const tools = { grep: ({ pattern }: Record<string, unknown>) => bulk(`GREP-${pattern}`), log: () => bulk("LOG") };
const HOOKS: readonly HookName[] = [
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
];

/** A plugin that does something in the view, and then throws whenever one hook is called. */
const thrower = (hook: HookName): Plugin => ({
	name: "thrower",
	setup({ hooks }) {
		(hooks[hook] as unknown as { tap(name: string, run: () => never): void }).tap("thrower", () => {
			throw new Error(`boom in ${hook}`);
		});
	},
});

const open = (pi: (typeof edges)[number], plugins: readonly Plugin[], more: object = {}) =>
	openAtOnce({ pi, tools, extensionPaths: [], extensions: [(api) => mulliganWith(plugins, api)], ...more });

describe.each(edges)("with Pi $version", (pi) => {
	test.each(HOOKS)("a plugin that throws in %s harms neither the request nor the others", async (hook) => {
		await using session = await open(pi, [thrower(hook), ...DEFAULT_PLUGINS], {
			settings: { compaction: { keepRecentTokens: 10 } },
		});
		session.script(
			{ calls: [call.tool("c1", "grep", { pattern: "wide" })] },
			{ calls: [call.rewind("c2")] },
			{ calls: [call.tool("c3", "log")] },
			{ calls: [call.shrink("c4", { by_tool_name: "log" }, "ALL-GREEN")] },
			{ calls: [call.tool("c5", "grep", { pattern: "again" })] },
		);
		session.otherwise("done");
		for (const prompt of ["one", "two", "three"]) await session.prompt(prompt);
		const { messages } = session.lastRequest;
		expect(session.requests).toHaveLength(8);
		if (hook === "onCompact") await session.compact();
		expect(containsText(messages, "GREP-wide")).toBe(false);
		expect(containsText(messages, "LOG\n0123")).toBe(false);
		expect(containsText(messages, "ALL-GREEN")).toBe(true);
		expect(orphans(messages)).toEqual({ calls: [], results: [] });
		const told = session.ui.notifications.filter(({ message }) => message.includes('"thrower"'));
		const often = !["onMoment", "onOp", "onSession", "onCompact"].includes(hook);
		expect(told).toHaveLength(often ? 1 : 0);
		if (often) expect(told[0]?.message).toContain(`boom in ${hook}`);
	});

	test("a plugin whose set-up fails is left out and named, and the rest works", async () => {
		const broken: Plugin = {
			name: "broken",
			setup({ hooks }) {
				hooks.beforeFilter.tap("broken", (plan) => plan.hide("nothing"));
				throw new Error("no disk");
			},
		};
		await using session = await open(pi, [broken, ...DEFAULT_PLUGINS]);
		session.script({ calls: [call.tool("c1", "grep", { pattern: "wide" })] }, { calls: [call.rewind("c2")] }, "done");
		await session.prompt("go");
		expect(session.ui.notifications.map(({ message }) => message)).toEqual([
			'Mulligan: the plugin "broken" is left out: its set-up failed: no disk',
		]);
		expect(containsText(session.lastRequest.messages, "GREP-wide")).toBe(false);
	});

	test("a plugin that holds a batch back leaves the view whole, says so, and the op survives a reload", async () => {
		let holding = true;
		const holder: Plugin = {
			name: "holder",
			setup: ({ hooks }) => void hooks.onMoment.tap("holder", () => (holding ? false : undefined)),
		};
		await using session = await open(pi, [...DEFAULT_PLUGINS, holder]);
		session.script(
			{ calls: [call.tool("c1", "log")] },
			{ calls: [call.shrink("c2", { by_tool_name: "log" }, "GREEN")] },
			"done",
		);
		await session.prompt("go");
		expect(containsText(session.lastRequest.messages, "LOG\n0123")).toBe(true);
		expect(textOf(session.lastRequest.messages.at(-1) as never)).toMatch(/held by holder/);
		expect(records(session, "mulligan:queued")).toHaveLength(1);
		await session.reload();
		holding = false;
		session.script({ calls: [call.tool("c3", "grep", { pattern: "x" })] }, "done");
		await session.prompt("on");
		expect(containsText(session.lastRequest.messages, "<context-shrunk>\nGREEN")).toBe(true);
		expect(records(session, "mulligan:queued").map(({ status }) => status)).toEqual(["queued", "activated"]);
	});

	test.each([true, false])(
		"what waits at a compaction is summarised exactly where it is held back: %s",
		async (isHeld) => {
			const asked: string[] = [];
			const holder: Plugin = {
				name: "holder",
				setup: ({ hooks }) =>
					void hooks.onMoment.tap("holder", ({ trigger }) => {
						asked.push(trigger);
						return isHeld || trigger !== "compaction" ? false : undefined;
					}),
			};
			const settings = { compaction: { enabled: false, keepRecentTokens: 10 } };
			await using session = await open(pi, [...DEFAULT_PLUGINS, holder], { settings });
			session.script(
				{ calls: [call.tool("c1", "log")] },
				{ calls: [call.shrink("c2", { by_tool_name: "log" }, "GREEN")] },
				"done",
			);
			await session.prompt("go");
			session.otherwise("SUMMARY");
			await session.compact();
			expect(containsText(session.lastRequest.messages, "0123")).toBe(isHeld);
			expect(containsText(session.lastRequest.messages, "<context-shrunk>")).toBe(!isHeld);
			const fates = records(session, "mulligan:queued").map(({ status }) => status);
			expect(fates).toEqual(isHeld ? ["queued"] : ["queued", "dropped"]);
			expect(asked.filter((trigger) => trigger === "compaction")).toHaveLength(1);
		},
	);

	test("a disabled mulligan changes nothing and refuses with its one sentence", async () => {
		await using session = await openAtOnce({ pi, tools, settings: { mulligan: { enabled: false } } });
		session.script(
			{ calls: [call.tool("c1", "log")] },
			{ calls: [call.rewind("c2"), call.shrink("c3", { by_tool_name: "log" })] },
			"done",
		);
		await session.prompt("go");
		expect(session.lastRequest.messages.slice(-2).map(textOf)).toEqual(
			Array(2).fill("Mulligan: refused — Mulligan is disabled."),
		);
		expect(containsText(session.lastRequest.messages, "LOG\n0123")).toBe(true);
		expect(session.entries().filter(({ type }) => type === "custom")).toEqual([]);
	});

	test.each([
		[{ rewind: { enabled: false } }, call.rewind("c2"), "Mulligan: refused — rewind is disabled."],
		[
			{ shrink: { enabled: false } },
			call.shrink("c2", { by_tool_name: "log" }),
			"Mulligan: refused — shrink is disabled.",
		],
	])("a switched-off tool says so: %j", async (mulligan, request, answer) => {
		await using session = await openAtOnce({ pi, tools, settings: { mulligan } });
		session.script({ calls: [call.tool("c1", "log")] }, { calls: [request] }, "done");
		await session.prompt("go");
		expect(textOf(session.lastRequest.messages.at(-1) as never)).toBe(answer);
	});

	test("each wrong knob is one warning that names file, key, expectation and value, and the session goes on", async () => {
		await using session = await openAtOnce({
			pi,
			tools,
			settings: {
				mulligan: {
					rewind: { maxDepth: 0, protectedRoles: ["first:user", "me"] },
					shrink: { maxActive: "many" },
					log: 3,
				},
			},
		});
		session.script("done");
		await session.prompt("go");
		const told = session.ui.notifications.map(({ message }) => message);
		expect(told).toHaveLength(4);
		expect(told[0]).toMatch(/log in .*settings\.json:\d+:\d+ is 3; expected an object/);
		expect(told[1]).toMatch(
			/rewind\.protectedRoles in .* is \["me"\]; expected a list of "first:user" or "latest:user"/,
		);
		expect(told.join("\n")).toMatch(/rewind\.maxDepth in .* is 0; expected an integer of at least 1/);
		expect(told.join("\n")).toMatch(/shrink\.maxActive in .* is "many"; expected an integer of at least 1/);
	});

	test("object parameters that arrive as JSON strings are understood", async () => {
		await using session = await openAtOnce({ pi, tools });
		session.script(
			{ calls: [call.tool("c1", "log")] },
			{
				calls: [
					{ id: "c2", name: "mulligan_shrink", args: { target: '{"by_tool_name":"log"}', replacement: "GREEN" } },
				],
			},
			"done",
		);
		await session.prompt("go");
		expect(containsText(session.lastRequest.messages, "<context-shrunk>\nGREEN")).toBe(true);
	});

	test("a malformed marker changes nothing", async () => {
		await using session = await openAtOnce({ pi, tools });
		session.script({ calls: [call.tool("c1", "log")] }, "done", "done");
		await session.prompt("go");
		const result = session
			.branch()
			.find((entry) => entry.type === "message" && entry.message.role === "toolResult")?.id;
		for (const data of [
			null,
			{},
			{ schema: "pi-mulligan", v: 1, id: 3, pinnedEntryId: result },
			{ schema: "pi-mulligan", v: 9, id: "x", pinnedEntryId: result, replacement: "NO", target: {} },
		])
			session.sessionManager.appendCustomEntry("mulligan:shrink", data);
		await session.prompt("on");
		expect(containsText(session.lastRequest.messages, "LOG\n0123")).toBe(true);
		expect(session.errors).toEqual([]);
	});

	test("a raw handler's throw is blamed on its plugin; switched off, it is silent, but a tool_call handler goes on blocking", async () => {
		let asked = 0;
		const raw: Plugin = {
			name: "raw",
			setup({ pi: api }) {
				const { on } = api as ExtensionAPI;
				on("turn_start", () => {
					asked++;
					throw new Error("no turn");
				});
				on("tool_call", ({ toolName }) => (toolName === "log" ? { block: true, reason: "BLOCKED" } : undefined));
			},
		};
		await using session = await open(pi, [raw, ...DEFAULT_PLUGINS]);
		session.otherwise("done");
		for (const prompt of ["one", "two", "three", "four"]) await session.prompt(prompt);
		expect(asked).toBe(3);
		expect(session.errors.map(({ error }) => error)).toEqual(["no turn", "no turn", "no turn"]);
		expect(session.ui.notifications.filter(({ message }) => message.includes('"raw"'))).toHaveLength(1);
		session.script({ calls: [call.tool("c1", "log")] }, "done");
		await session.prompt("five");
		expect(textOf(session.lastRequest.messages.at(-1) as never)).toBe("BLOCKED");
	});

	test("fresh results and responses can be changed by a plugin, before they are stored", async () => {
		const changer: Plugin = {
			name: "changer",
			setup({ hooks }) {
				hooks.onToolResult.tap("changer", (result, { toolName }) =>
					toolName === "log" ? { ...result, content: [{ type: "text", text: "REDACTED" }] } : result,
				);
				hooks.onAssistantMessage.tap("changer", (message) => ({
					...message,
					content: (message.content as readonly { type: string; name?: string }[]).map((block) =>
						block.name === "lgo" ? { ...block, name: "log" } : block,
					) as never,
				}));
			},
		};
		await using session = await open(pi, [changer, ...DEFAULT_PLUGINS]);
		session.script({ calls: [call.tool("c1", "lgo")] }, "done");
		await session.prompt("go");
		expect(textOf(session.lastRequest.messages.at(-1) as never)).toBe("REDACTED");
		expect(containsText(session.lines(), "LOG\n0123")).toBe(false);
	});
});
