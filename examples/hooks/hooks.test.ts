import type { Config } from "pi-mulligan/plugin";
import { checkPlugin, containsText, openSession, piVersions, type Step } from "pi-mulligan/testing";
import { describe, expect, test } from "vitest";
import beforeFilter from "./beforeFilter.ts";
import onAssistantMessage from "./onAssistantMessage.ts";
import onCompact from "./onCompact.ts";
import onMoment from "./onMoment.ts";
import onOp from "./onOp.ts";
import onSession from "./onSession.ts";
import onSettled from "./onSettled.ts";
import onToolResult from "./onToolResult.ts";
import onTurnEnd from "./onTurnEnd.ts";
import onView from "./onView.ts";
import transformMessage from "./transformMessage.ts";

const all = [
	...[beforeFilter, transformMessage, onView, onToolResult, onAssistantMessage, onTurnEnd, onMoment, onOp],
	...[onSettled, onCompact, onSession],
];

const RED = "\u001b[31m";
const tools = {
	grep: () => `GREP-RESULT\n${"src/a.ts: total\n".repeat(100)}`,
	test: () => `${RED}FAILED\u001b[0m`,
	broken: () => {
		throw new Error("no such file");
	},
};
const call = (id: string, name: string, args: Record<string, unknown> = {}): Step => ({ calls: [{ id, name, args }] });
const shrink = (id: string, of: string) =>
	call(id, "mulligan_shrink", { target: { by_tool_call_id: of }, replacement: "SHORT" });
const atOnce = { maxMoments: 9, flushShedTokens: 0 };

describe.each(piVersions())("with Pi $version", (pi) => {
	const open = (plugin: NonNullable<Config["plugins"]>[number], more: Config = {}, contextWindow = 128_000) =>
		openSession({
			pi,
			tools,
			settings: { compaction: { enabled: false, keepRecentTokens: 10 } },
			models: [{ id: "model-a", contextWindow }],
			config: { ...more, plugins: ["...", plugin] },
		});

	test("beforeFilter: what the model forgets leaves its context, also after a resume", async () => {
		await using first = await open(beforeFilter, { rewrites: atOnce });
		first.script(call("a", "grep"), call("b", "forget_last"), "done");
		await first.prompt("go");
		expect(containsText(first.requests[1]?.messages, "GREP-RESULT")).toBe(true);
		expect(containsText(first.lastRequest.messages, "GREP-RESULT")).toBe(false);
		expect(containsText(first.lastRequest.messages, "Hidden from the next request on.")).toBe(true);
		await using session = await first.reopen();
		session.script(call("c", "forget_last"), "on");
		await session.prompt("and now?");
		expect(containsText(session.requests[0]?.messages, "GREP-RESULT")).toBe(false);
	});

	test("beforeFilter: where there is nothing to forget, or it waits, the model is told", async () => {
		await using session = await open(beforeFilter, { rewrites: { flushShedTokens: 1e6 } });
		session.script(call("a", "forget_last"), call("b", "grep"), call("c", "forget_last"), "done");
		await session.prompt("go");
		expect(containsText(session.lastRequest.messages, "refused — there are no tool calls to forget.")).toBe(true);
		expect(containsText(session.lastRequest.messages, "Not hidden yet: queued.")).toBe(true);
		expect(containsText(session.lastRequest.messages, "GREP-RESULT")).toBe(true);
	});

	test("transformMessage: the model sees no colours, the session file keeps them", async () => {
		await using session = await open(transformMessage);
		session.script(call("a", "test"), "done");
		await session.prompt("go");
		expect(containsText(session.lastRequest.messages, "FAILED")).toBe(true);
		expect(containsText(session.lastRequest.messages, RED)).toBe(false);
		expect(containsText(session.entries(), RED)).toBe(true);
	});

	test("onView: a line says how full the window is, in that request only", async () => {
		await using session = await open(onView, {}, 7000);
		session.script(call("a", "grep"), call("b", "grep"), call("c", "grep"), call("d", "grep"), "done");
		await session.prompt("go");
		const said = session.requests.map(({ messages }) => JSON.stringify(messages).split("The window is ").length - 1);
		expect([said[0], said.at(-1)]).toEqual([0, 1]);
		expect(containsText(session.entries(), "The window is")).toBe(false);
	});

	test("onToolResult: a failed result is stored with what to do next", async () => {
		await using session = await open(onToolResult);
		session.script(call("a", "broken"), call("b", "grep"), "done");
		await session.prompt("go");
		const hints = JSON.stringify(session.lastRequest.messages).split("failed. Read its message").length - 1;
		expect(hints).toBe(1);
		expect(containsText(session.entries(), "broken failed. Read its message before you call it again.")).toBe(true);
	});

	test("onAssistantMessage: a call of Grep runs grep", async () => {
		await using session = await open(onAssistantMessage);
		session.script(call("a", "Grep"), "done");
		await session.prompt("go");
		expect(containsText(session.lastRequest.messages, "GREP-RESULT")).toBe(true);
	});

	test("onTurnEnd: each turn leaves a record, which the model is not sent", async () => {
		await using session = await open(onTurnEnd);
		session.script(call("a", "grep"), "done");
		await session.prompt("go");
		const records = session.entries().filter((entry) => entry.type === "custom" && entry.customType === "growth:turn");
		expect(records).toHaveLength(2);
		expect(containsText(session.lastRequest.messages, "viewTokens")).toBe(false);
	});

	test("onMoment: a small batch is held, and rides a change of model", async () => {
		await using session = await openSession({
			...{ pi, tools, models: [{ id: "model-a" }, { id: "model-b" }] },
			config: { rewrites: atOnce, plugins: ["...", onMoment] },
		});
		session.script(call("a", "grep"), shrink("b", "a"), "done");
		await session.prompt("go");
		expect(containsText(session.lastRequest.messages, "held by thrifty")).toBe(true);
		expect(containsText(session.lastRequest.messages, "GREP-RESULT")).toBe(true);
		await session.setModel("model-b");
		session.script("on");
		await session.prompt("and now?");
		expect(containsText(session.lastRequest.messages, "GREP-RESULT")).toBe(false);
	});

	test("onOp: the human is told why an op was refused", async () => {
		await using session = await open(onOp);
		session.script(shrink("a", "nowhere"), "done");
		await session.prompt("go");
		expect(session.ui.notifications.map(({ message }) => message)).toEqual([
			expect.stringMatching(/^shrink refused: /),
		]);
	});

	test("onSettled: the human is told once the agent has settled", async () => {
		await using session = await open(onSettled);
		session.script(call("a", "grep"), "done");
		await session.prompt("go");
		expect(session.ui.notifications.map(({ message }) => message)).toEqual([
			expect.stringMatching(/^Settled at ~\d+ tokens\.$/),
		]);
	});

	test("onCompact: the first request after a compaction has the line, and no other", async () => {
		await using session = await open(onCompact);
		session.script(call("a", "grep"), "done");
		await session.prompt("go");
		session.otherwise("SUMMARY");
		await session.compact();
		const before = session.requests.length;
		session.script(call("b", "grep"), "on");
		await session.prompt("and now?");
		const said = session.requests.slice(before).map(({ messages }) => containsText(messages, "read PLAN.md again"));
		expect(said).toEqual([true, false]);
	});

	test("onSession: a resume tells how many changes are in force", async () => {
		await using first = await open(onSession, { rewrites: atOnce });
		first.script(call("a", "grep"), shrink("b", "a"), "done");
		await first.prompt("go");
		const isTold = ({ message }: { message: string }) => message.includes("in force");
		expect(first.ui.notifications.filter(isTold)).toEqual([]);
		await using session = await first.reopen();
		expect(session.ui.notifications.filter(isTold)).toHaveLength(1);
	});
});

test.each(all.map((plugin) => [plugin.name, plugin] as const))("%s keeps to the rules of plugins", (_name, plugin) =>
	checkPlugin(plugin as never),
);
