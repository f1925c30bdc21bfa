import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ExtensionAPI, ExtensionUIContext } from "@earendil-works/pi-coding-agent";
import { describe, expect, test } from "vitest";
import { openSession, orphans, piVersions, type TestSession } from "../../src/testing/index.ts";
import { runPi } from "../support/cli.ts";
import { ConfigFolders } from "../support/config.ts";
import { atOnce, bulk, call, openAtOnce, records, wire } from "../support/mulligan.ts";
import { openRpc } from "../support/rpc.ts";
import { openTerminal, terminalMissing } from "../support/terminal.ts";

const edges = piVersions().filter(({ name }) => name === "oldest" || name === "newest");
const extensions = [fileURLToPath(new URL("../..", import.meta.url))];
const tools = { grep: ({ pattern }: Record<string, unknown>) => bulk(`GREP-${pattern}`) };
const WAITING = { rewrites: { maxMoments: 1, flushShedTokens: 1e9 } };

/** What `/mulligan` says to one line: all that the human was shown meanwhile. */
async function say(session: TestSession, line: string): Promise<string> {
	session.ui.notifications.length = 0;
	await session.prompt(`/mulligan ${line}`.trim());
	return session.ui.notifications.map(({ message }) => message).join("\n");
}

/** A session in which grep c1 is shrunk, and grep c3 with its result is hidden by a rewind. */
async function changed(pi: (typeof edges)[number], more: Parameters<typeof openAtOnce>[0] = {}) {
	const session = await openAtOnce({ pi, tools, ...more });
	session.script(
		{ calls: [call.tool("c1", "grep", { pattern: "one" })] },
		{ calls: [call.shrink("c2", { by_tool_name: "grep" }, "SHORT")] },
		{ calls: [call.tool("c3", "grep", { pattern: "two" })] },
		{ calls: [call.rewind("c4")] },
		"done",
	);
	await session.prompt("go");
	return session;
}

/** A text whatever the lines that it was broken into. */
const flat = (text: string) => text.replace(/\s+/g, " ");
const texts = (session: TestSession) => JSON.stringify(session.lastRequest.messages);
const config = (session: TestSession) => join(session.agentDir, "mulligan.config.json");

describe.each(edges)("with Pi $version", (pi) => {
	describe("undo", () => {
		test("takes back the newest, and the next request has its originals, byte for byte", async () => {
			await using session = await changed(pi);
			const before = session.requests[3]?.messages ?? [];
			expect(await say(session, "undo")).toMatch(
				/^Mulligan: the rewind \(last tool call group, 2 messages hidden, ~\d+ tokens\) is taken back: from the next request 2 messages of ~\d+ tokens are as before\. Files are as they are\.$/,
			);
			expect(records(session, "mulligan:cancel")).toHaveLength(1);
			session.script("on");
			await session.prompt("next");
			expect(wire(session.lastRequest.messages).slice(0, before.length)).toEqual(wire(before));
			expect(texts(session)).not.toContain("Rewound");
		});

		test("takes back the one of that number in the panel's list", async () => {
			await using session = await changed(pi);
			expect(await say(session, "show")).toMatch(
				/\n {2}1 {2}rewind {2}last tool call group.*\n {2}2 {2}shrink {2}grep c1: /,
			);
			await say(session, "undo 2");
			session.script("on");
			await session.prompt("next");
			expect(texts(session)).toContain("GREP-one");
			expect(texts(session)).not.toContain("SHORT</");
			expect(texts(session)).not.toContain("GREP-two");
		});

		test("drops a queued one, and nothing changes", async () => {
			await using session = await openSession({ pi, tools, settings: { mulligan: WAITING } });
			session.script(
				{ calls: [call.tool("c1", "grep", { pattern: "one" })] },
				{ calls: [call.shrink("c2", { by_tool_name: "grep" }, "SHORT")] },
				"done",
			);
			await session.prompt("go");
			expect(session.ui.statuses.get("mulligan")).toContain("1 queued");
			expect(await say(session, "undo")).toMatch(
				/^Mulligan: the queued shrink of .* is dropped; nothing had changed\.$/,
			);
			expect(session.ui.statuses.get("mulligan")).toBeUndefined();
			expect(records(session, "mulligan:queued").at(-1)).toMatchObject({ status: "cancelled" });
			expect(await say(session, "undo")).toBe(
				"Mulligan: refused — there is nothing to undo: no change is active or queued.",
			);
		});

		test("while a tool runs counts from the request after it, and no call is parted from its result", async () => {
			const meanwhile: (() => Promise<void>)[] = [];
			const slow = async () => {
				await meanwhile.shift()?.();
				return "ok";
			};
			await using session = await changed(pi, { tools: { ...tools, slow } });
			meanwhile.push(() => session.prompt("/mulligan undo"));
			session.script({ calls: [call.tool("c5", "slow"), call.tool("c6", "grep", { pattern: "three" })] }, "done");
			await session.prompt("next");
			expect(texts(session)).toContain("GREP-two");
			expect(orphans(session.lastRequest.messages)).toEqual({ calls: [], results: [] });
		});

		test("lets what waits become active, since the prompt cache breaks anyway", async () => {
			await using session = await openSession({
				...{ pi, tools },
				settings: { mulligan: { rewrites: { maxMoments: 1, flushShedTokens: 0, safetyValveTokens: 1e9 } } },
			});
			session.script(
				{ calls: [call.tool("c1", "grep", { pattern: "one" })] },
				{ calls: [call.shrink("c2", { by_tool_name: "grep" }, "SHORT-1")] },
				{ calls: [call.tool("c3", "grep", { pattern: "two" })] },
				{ calls: [call.shrink("c4", { by_tool_name: "grep" }, "SHORT-2")] },
				"done",
			);
			await session.prompt("go");
			expect(texts(session)).toContain("GREP-two");
			expect(await say(session, "undo 2")).toContain("What waited became active with it");
			session.script("on");
			await session.prompt("next");
			expect(texts(session)).toContain("GREP-one");
			expect(texts(session)).toContain("<context-shrunk>\\nSHORT-2");
			expect(texts(session)).not.toContain("GREP-two");
		});
	});

	describe("restore", () => {
		test("takes back everything", async () => {
			await using session = await changed(pi);
			expect(await say(session, "restore")).toMatch(
				/^Mulligan: 2 changes taken back: from the next request 3 messages of/,
			);
			session.script("on");
			await session.prompt("next");
			expect(texts(session)).toContain("GREP-one");
			expect(texts(session)).toContain("GREP-two");
			expect(texts(session)).not.toContain("<context-shrunk>");
			expect(texts(session)).not.toContain("Rewound");
		});

		test("works while mulligan is off: once on again nothing is changed", async () => {
			await using session = await changed(pi);
			await using off = await session.reopen({ settings: { mulligan: { ...atOnce, enabled: false } } });
			expect(await say(off, "show")).toMatch(/^Mulligan .* is off: "enabled" is false/);
			expect(await say(off, "restore")).toMatch(/^Mulligan: 2 changes taken back: nothing of it was in force/);
			await using on = await off.reopen({ settings: { mulligan: atOnce } });
			on.script("on");
			await on.prompt("next");
			expect(texts(on)).toContain("GREP-one");
			expect(texts(on)).toContain("GREP-two");
		});
	});

	test("trace tells what each plugin did to the last request, and the last moment", async () => {
		await using session = await changed(pi);
		const text = await say(session, "trace");
		expect(text).toMatch(/^Request 5 of this session: a view of ~\d+ tokens, made in \d+\.\d\d ms\./);
		expect(text).toMatch(/\n {2}rewind +\d+\.\d\d ms .*hid 2 messages, ~\d+ tokens/);
		expect(flat(text)).toContain("(a call of grep, grep c3); keeps 1 note in the view");
		expect(flat(text)).toMatch(/shrink \d+\.\d\d ms (\d+\.\d\d ms )?changed 1 message, ~\d+ → \d+ tokens \(grep c1\)/);
		expect(flat(text)).toContain("Last moment: 1 change (rewind of");
	});

	test("audit is the report of /mulligan_audit", async () => {
		await using session = await changed(pi);
		const report = await say(session, "audit 3");
		session.ui.notifications.length = 0;
		await session.prompt("/mulligan_audit 3");
		expect(session.ui.notifications.map(({ message }) => message)).toEqual([report]);
		expect(report).toContain("Mulligan audit:");
	});

	test("none of it makes a request, or writes an entry unless it takes something back", async () => {
		await using session = await changed(pi);
		const { length } = session.entries();
		for (const line of [
			"",
			"show",
			"help",
			"trace",
			"doctor",
			"audit",
			"trust",
			"set rewind.maxDepth",
			"frob",
			"undo 99",
		])
			expect(await say(session, line)).not.toBe("");
		expect(session.entries()).toHaveLength(length);
		expect(session.requests).toHaveLength(5);
		expect(session.errors).toEqual([]);
	});

	describe("doctor", () => {
		test("says nothing of prompts, results, notes or names, and no path of the home folder or project", async () => {
			const secrets = ["PROMPT", "RESULT", "ANSWER", "NOTED", "REPLACED", "WRONG", "pointed"];
			await using session = await openAtOnce({
				pi,
				tools: { grep: () => bulk("RESULT") },
				settings: { mulligan: { shrink: { maxActive: "WRONG" }, log: { file: "m.jsonl" } } },
			});
			session.script(
				{ text: "ANSWER", calls: [call.tool("c1", "grep", { pattern: "PROMPT" })] },
				{ calls: [call.shrink("c2", { by_tool_name: "grep" }, "REPLACED")] },
				{ calls: [call.tool("c3", "grep", {})] },
				{
					calls: [call.rewind("c4", { note: { what_happened: "NOTED", true_current_state: "NOTED", next: "NOTED" } })],
				},
				"ANSWER",
			);
			await session.prompt("PROMPT");
			await session.prompt("/mulligan_checkpoint pointed");
			const report = await say(session, "doctor");
			for (const secret of [...secrets, session.cwd, session.agentDir]) expect(report).not.toContain(secret);
			expect(report).toContain(`Pi ${pi.version}, mode rpc`);
			expect(report).toContain("- <agent>/m.jsonl: writable");
			expect(report).toContain("- checkpoints: 1");
			expect(report).toContain("in force: 1 rewind, 1 shrink");
			expect(report).toContain("- warning about shrink.maxActive");
		});

		test("sees, of a request that it watched, that another extension changed the list", async () => {
			let isMeddling = false;
			const other = (api: ExtensionAPI) => {
				api.registerCommand("meddle", { description: "m", handler: async () => {} });
				api.on("context", ({ messages }) => (isMeddling ? { messages: messages.slice(1) } : undefined));
			};
			await using session = await openAtOnce({
				...{ pi, tools, extensionPaths: [] },
				extensions: [other, await mulligan()],
			});
			session.otherwise("done");
			await session.prompt("one");
			expect(await say(session, "doctor")).toContain("- the next request is watched: ask again after it");
			await session.prompt("two");
			expect(await say(session, "doctor")).toContain("the watched request reached mulligan as the session has it");
			isMeddling = true;
			await session.prompt("three");
			const report = await say(session, "doctor");
			expect(flat(report)).toContain("with 0 messages added, 1 missing and 0 changed of 4");
			expect(report).toContain("(1 command)");
		});

		test("names the events that another extension's file names", async () => {
			await using session = await openSession({
				pi,
				extensionPaths: [
					fileURLToPath(new URL("../../src/index.ts", import.meta.url)),
					fileURLToPath(new URL("../support/meddler.ts", import.meta.url)),
				],
			});
			const report = flat(await say(session, "doctor"));
			expect(report).toMatch(/meddler\.ts \(1 command\): its file names context, session_before_compact/);
			expect(report).not.toContain("src/index.ts");
		});
	});

	describe("set", () => {
		test("writes the user's config, says what changed, and has Pi reload", async () => {
			const starts: string[] = [];
			await using session = await openSession({
				pi,
				extensions: [(api) => void api.on("session_start", ({ reason }) => void starts.push(reason))],
			});
			expect(await say(session, "set rewind.maxDepth 8")).toBe(
				`Mulligan: rewind.maxDepth is 8 instead of 5, in ${config(session)}, which is new. Pi has reloaded, and it counts.`,
			);
			expect(JSON.parse(readFileSync(config(session), "utf8"))).toMatchObject({
				$schema: expect.stringContaining("pi-mulligan"),
				rewind: { maxDepth: 8 },
			});
			expect(starts).toEqual(["startup", "reload"]);
			expect(session.errors).toEqual([]);
		});

		test("counts after the reload, and is shown with where it comes from", async () => {
			await using session = await openSession({ pi, tools });
			await say(session, "set rewind.enabled off");
			session.script({ calls: [call.tool("c1", "grep", { pattern: "one" })] }, { calls: [call.rewind("c2")] }, "done");
			await session.prompt("go");
			expect(texts(session)).toContain("Mulligan: refused — rewind is disabled.");
			expect(flat(await say(session, "show"))).toContain(
				`rewind.enabled false instead of true, from ${config(session)}`,
			);
			await say(session, "set rewind.enabled default");
			session.script({ calls: [call.rewind("c3")] }, "done");
			await session.prompt("again");
			expect(texts(session)).toContain("Mulligan: rewind recorded");
		});

		test("of an entry of a record leaves the others, and their origins, alone", async () => {
			await using session = await openSession({ pi });
			await say(session, "set nudges.bloatThresholdBytesByTool.grep 4096");
			expect(await say(session, "set nudges.bloatThresholdBytesByTool")).toContain(
				'is {"read":24576,"grep":4096}, from',
			);
		});

		test("that the project overrides has no effect and says so; --project writes there", async () => {
			using folders = new ConfigFolders();
			folders.write("mulligan.config.json", { rewind: { maxDepth: 3 } });
			await using session = await openSession({ pi, cwd: folders.project, agentDir: folders.agentDir });
			expect(await say(session, "set rewind.maxDepth 8 --user")).toContain(
				"It has no effect: ./mulligan.config.json says otherwise and counts more.",
			);
			expect(await say(session, "set rewind.maxDepth")).toContain("rewind.maxDepth is 3, from ./mulligan.config.json");
			expect(await say(session, "set rewind.maxDepth 9")).toContain(
				"rewind.maxDepth is 9 instead of 3, in ./mulligan.config.json. Pi has reloaded, and it counts.",
			);
			expect(await say(session, "set rewind.maxDepth")).toContain("rewind.maxDepth is 9, from ./mulligan.config.json");
		});

		test("while the agent works it writes, and leaves the reload to the human", async () => {
			const heard: string[] = [];
			await using session = await openSession({
				pi,
				tools: {
					slow: async () => {
						await session.prompt("/mulligan set rewind.maxDepth 8");
						heard.push(...session.ui.notifications.map(({ message }) => message));
						return "ok";
					},
				},
			});
			session.script({ calls: [call.tool("c1", "slow")] }, "done");
			await session.prompt("go");
			expect(heard).toEqual([
				`Mulligan: rewind.maxDepth is 8 instead of 5, in ${config(session)}, which is new. It counts after /reload; Pi can't reload now.`,
			]);
		});

		test("refuses what the setting does not take, and writes nothing", async () => {
			await using session = await openSession({ pi });
			expect(await say(session, "set rewind.maxDepth none")).toBe(
				"Mulligan: refused — rewind.maxDepth takes an integer of at least 1; got none.",
			);
			expect(existsSync(config(session))).toBe(false);
		});
	});

	test("a plugin is taken out of the list, and the picker is not opened without a terminal", async () => {
		let isAsked = false;
		const uiContext: Partial<ExtensionUIContext> = {
			select: async () => {
				isAsked = true;
				return undefined;
			},
		};
		await using session = await openSession({ pi, uiContext });
		expect(await say(session, "")).toContain("Plugins, in their order:");
		expect(isAsked).toBe(false);
		expect(await say(session, "nudges OFF")).toMatch(
			/^Mulligan: nudges is off, in .* Pi has reloaded, and it counts\.$/,
		);
		expect(JSON.parse(readFileSync(config(session), "utf8")).plugins).toEqual([
			...["checkpoints", "rewind", "shrink", "cancel", "audit"],
		]);
		expect(await say(session, "show")).toMatch(/ {2}audit +on\n {2}nudges +off\n/);
		expect(await say(session, "nudges")).toMatch(/^Mulligan: nudges is on, in /);
		expect(JSON.parse(readFileSync(config(session), "utf8")).plugins).toEqual(["..."]);
		expect(await say(session, "show")).toMatch(/ {2}nudges +on\n {2}audit +on\n/);
	});

	test("the tools of a plugin that is off are gone after the reload, and back once it is on", async () => {
		await using session = await openSession({ pi });
		const declared = async () => {
			session.script("done");
			await session.prompt("hi");
			return session.lastRequest.tools.some(({ name }) => name === "mulligan_shrink");
		};
		await say(session, "shrink off");
		expect(await declared()).toBe(false);
		await say(session, "shrink on");
		expect(await declared()).toBe(true);
	});

	test("mulligan as a whole goes off and on", async () => {
		await using session = await openSession({ pi, tools });
		expect(await say(session, "off")).toContain("enabled is false instead of true");
		expect(flat(await say(session, ""))).toContain(
			`is off: "enabled" is false in ${config(session)}. /mulligan on switches it on.`,
		);
		expect(await say(session, "trace")).toBe("Mulligan is off: it touches no request.");
		expect(await say(session, "shrink off")).toContain("refused — mulligan is off");
		expect(await say(session, "on")).toContain("enabled is true instead of false");
		expect(await say(session, "")).toMatch(/^Mulligan .* is on\./);
	});

	test("trust approves the code that waits, and it runs after the reload", async () => {
		using folders = new ConfigFolders();
		folders.write(
			"nudge.ts",
			'export default { name: "nudge", setup({ hooks }) { hooks.onView.tap("nudge", (view) => view.annotate("NUDGE")); } };',
		);
		folders.write("mulligan.config.json", { plugins: ["...", "./nudge.ts"] });
		const confirm = async () => false;
		await using session = await openSession({
			...{ pi, cwd: folders.project, agentDir: folders.agentDir },
			uiContext: { confirm },
		});
		session.otherwise("done");
		await session.prompt("hi");
		expect(texts(session)).not.toContain("NUDGE");
		expect(await say(session, "show")).toContain("Waits for your approval (/mulligan trust):\n  ./nudge.ts");
		expect(await say(session, "doctor")).toContain("- waits for approval: <project>/nudge.ts");
		expect(await say(session, "trust")).toContain(
			"Mulligan: 1 file approved as it is now: ./nudge.ts. Pi has reloaded, and it counts.",
		);
		await session.prompt("again");
		expect(texts(session)).toContain("NUDGE");
	});

	test("trust says that the approval counts until Pi ends where it can't be kept, and it does so", async () => {
		using folders = new ConfigFolders();
		folders.write(
			"nudge.ts",
			'export default { name: "nudge", setup({ hooks }) { hooks.onView.tap("nudge", (view) => view.annotate("NUDGE")); } };',
		);
		folders.write("mulligan.config.json", { plugins: ["...", "./nudge.ts"] });
		writeFileSync(join(folders.agentDir, "mulligan"), "a file where the store's folder should be");
		await using session = await openSession({
			...{ pi, cwd: folders.project, agentDir: folders.agentDir },
			uiContext: { confirm: async () => false },
		});
		session.otherwise("done");
		expect(await say(session, "trust")).toContain(
			"./nudge.ts. Pi has reloaded, and it counts. The approval could not be kept: it counts until Pi ends, and then you are asked again.",
		);
		await session.prompt("hi");
		expect(texts(session)).toContain("NUDGE");
	});

	test("in a terminal the picker switches, and applies once", async () => {
		const choices = ["[x] nudges", "[x] audit", "apply and reload: nudges off, audit off"];
		const titles: string[] = [];
		await using session = await openSession({
			...{ pi, mode: "tui" },
			uiContext: {
				select: async (title) => {
					titles.push(title);
					return choices.shift();
				},
			},
		});
		const said = await say(session, "");
		expect(said).toContain("Plugins, in their order:");
		expect(said).toMatch(/Mulligan: nudges is off, audit is off, in .*Pi has reloaded, and it counts\.$/);
		expect(titles).toHaveLength(3);
		expect(JSON.parse(readFileSync(config(session), "utf8")).plugins).toEqual([
			"checkpoints",
			"rewind",
			"shrink",
			"cancel",
		]);
	});

	test("what can't be approved or read is said: without a gate nothing waits", async () => {
		await using session = await openSession({ pi });
		expect(await say(session, "trust")).toBe("Mulligan: no code of this project waits for your approval.");
	});

	test("its arguments are completed, after a reload too", async () => {
		await using session = await changed(pi);
		await session.reload();
		const complete = async (typed: string) => {
			const command = session.session.extensionRunner.getCommand("mulligan");
			return ((await command?.getArgumentCompletions?.(typed)) ?? []).map(({ value }) => value);
		};
		expect(await complete("set rewind.maxD")).toEqual(["set rewind.maxDepth"]);
		expect(await complete("undo ")).toEqual(["undo 1", "undo 2"]);
		expect(await complete("rew")).toEqual(["rewind"]);
	});
});

describe.concurrent.each(edges)("the program pi $version", (pi) => {
	test("prints in print mode, on standard error, and makes no request", async () => {
		using run = await runPi({ pi, extensions, prompt: "/mulligan" });
		expect(run.code).toBe(0);
		expect(run.stdout).toBe("");
		expect(run.stderr).toContain("Plugins, in their order:");
		expect(run.requests).toEqual([]);
	});

	test("writes a setting in print mode and never prompts", async () => {
		using run = await runPi({ pi, extensions, prompt: "/mulligan set rewind.maxDepth 8" });
		expect(run.stderr).toContain(
			"Mulligan: rewind.maxDepth is 8 instead of 5, in ~/mulligan.config.json, which is new. Pi has reloaded, and it counts.",
		);
		expect(JSON.parse(readFileSync(join(run.agentDir, "mulligan.config.json"), "utf8")).rewind).toEqual({
			maxDepth: 8,
		});
	});

	test("answers in rpc mode by a notification, without a dialog", async () => {
		await using rpc = openRpc({ pi, extensions });
		await rpc.send({ type: "prompt", message: "/mulligan" });
		const shown = await rpc.next("extension_ui_request", ({ method }) => method === "notify");
		expect(shown.message).toContain("Plugins, in their order:");
		expect(rpc.events.filter(({ method }) => method === "select")).toEqual([]);
	});

	test("in a terminal bare /mulligan is a picker, and what it changed is told after the reload", async ({ skip }) => {
		const missing = terminalMissing();
		if (missing) skip(missing);
		await using terminal = openTerminal({ pi, extensions, width: 150, height: 60 });
		await terminal.shows("[Extensions]");
		terminal.enter("/mulligan");
		await terminal.shows("Enter switches, Escape leaves");
		terminal.press("Down", "Enter");
		await terminal.shows("apply and reload: rewind off");
		terminal.press("Enter");
		await terminal.shows("rewind is off, in ~/mulligan.config.json, which is new. Pi has reloaded, and it counts.");
		expect(JSON.parse(readFileSync(join(terminal.agentDir, "mulligan.config.json"), "utf8")).plugins).toEqual([
			...["checkpoints", "shrink", "cancel", "nudges", "audit"],
		]);
	});
});

/** Mulligan as an inline extension, which Pi loads in the order that it is given in. */
async function mulligan(): Promise<(api: ExtensionAPI) => void> {
	const { default: extension } = await import("../../src/extension.ts");
	return extension;
}
