import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { describe, expect, test } from "vitest";
import {
	containsText,
	type OpenSessionOptions,
	onePixel,
	openSession,
	orphans,
	piVersions,
	sessionLog,
	shape,
	type TestSession,
} from "./index.ts";

const fixture = (name: string) => fileURLToPath(new URL(`./fixtures/${name}.ts`, import.meta.url));
const call = (id: string, name: string, args = {}) => ({ id, name, args });
const sent = (session: TestSession) => shape(session.lastRequest.messages);
const userEntries = (session: TestSession) =>
	session.branch().filter((entry) => entry.type === "message" && entry.message.role === "user");
const compactSoon = { compaction: { keepRecentTokens: 2 } };
const [oldest, newest] = [piVersions()[0], piVersions().at(-1)];

test("the oldest and the newest supported Pi are installed", () => {
	expect(piVersions().map(({ name }) => name)).toEqual(expect.arrayContaining(["oldest", "newest"]));
	expect([oldest?.version, newest?.version]).toEqual(["0.84.4", "1.6.0"]);
});

describe.each(piVersions())("with Pi $version", (pi) => {
	const open = (options: OpenSessionOptions = {}) => openSession({ pi, extensionPaths: [], ...options });

	test("a request holds prompt, tools and conversation in one shape, and raw as Pi sent it", async () => {
		await using session = await open({ tools: { grep: () => "3 matches" } });
		session.script("hello");
		await session.prompt("hi");
		const { system, tools, messages, raw, model } = session.lastRequest;
		expect(system).toContain(session.cwd);
		expect(tools.map(({ name }) => name)).toEqual(["read", "bash", "edit", "write", "grep"]);
		expect(tools.at(-1)?.description).toBe("The tool grep.");
		expect(shape(messages)).toEqual(["user: hi"]);
		expect(model).toBe("model-a");
		const promptIsBeside = pi.version.startsWith("0.84") || pi.version.startsWith("0.85");
		expect(raw.systemPrompt === system).toBe(promptIsBeside);
		expect(raw.messages.some(({ role }) => role === "system")).toBe(!promptIsBeside);
	});

	test("an extension that Pi loads from disk changes what the model gets, not what is stored", async () => {
		await using session = await open({ extensionPaths: [fixture("hide-secret")] });
		session.script("one", "two");
		await session.prompt("the secret");
		await session.prompt("the rest");
		expect(sent(session)).toEqual(["assistant: one", "user: the rest"]);
		expect(session.lastRequest.system).not.toBe("");
		expect(session.lastRequest.tools).not.toEqual([]);
		expect(containsText(session.requests, "secret")).toBe(false);
		expect(containsText(session.lines(), "secret")).toBe(true);
	});

	test("an extension finds the folder and the settings of its session, and its own Pi", async () => {
		await using session = await open({
			extensionPaths: [fixture("report-start")],
			settings: { mulligan: { plugins: ["rewind"] }, compaction: { keepRecentTokens: 77 } },
		});
		expect(session.ui.notifications.map(({ message }) => JSON.parse(message))).toEqual([
			{
				reason: "startup",
				starts: 1,
				agentDir: session.agentDir,
				version: pi.version,
				mulligan: { plugins: ["rewind"] },
			},
		]);
		expect(session.session.settingsManager.getCompactionSettings().keepRecentTokens).toBe(77);
	});

	test("an extension that doesn't load fails the opening", async () => {
		await expect(open({ extensionPaths: ["/nowhere/extension.ts"] })).rejects.toThrow("/nowhere/extension.ts");
		expect(process.env.PI_CODING_AGENT_DIR).toBeUndefined();
	});

	test("parallel calls run together and their results come in the order of the calls", async () => {
		const finished: string[] = [];
		let finishFast = () => {};
		const fastIsDone = new Promise<void>((resolve) => {
			finishFast = resolve;
		});
		await using session = await open({
			tools: {
				slow: async () => {
					await fastIsDone;
					finished.push("slow");
					return "slow result";
				},
				fast: () => {
					finished.push("fast");
					finishFast();
					return "fast result";
				},
				broken: () => {
					throw new Error("no such file");
				},
			},
		});
		session.script({ text: "all", calls: [call("c1", "slow"), call("c2", "fast"), call("c3", "broken")] }, "done");
		await session.prompt("go");
		expect(finished).toEqual(["fast", "slow"]);
		expect(sent(session)).toEqual([
			"user: go",
			"assistant: all → slow#c1, fast#c2, broken#c3",
			"result slow#c1: slow result",
			"result fast#c2: fast result",
			"failed broken#c3: no such file",
		]);
		expect(orphans(session.lastRequest.messages)).toEqual({ calls: [], results: [] });
	});

	test("messages queued while a tool runs come after its result: steering at once, a follow-up at the end", async () => {
		await using session = await open({
			tools: {
				work: async () => {
					await session.steer("use tabs");
					await session.followUp("and then?");
					return "worked";
				},
			},
		});
		session.script({ calls: [call("c1", "work")] }, "tabs it is", "nothing");
		await session.prompt("go");
		expect(sent(session)).toEqual([
			"user: go",
			"assistant → work#c1",
			"result work#c1: worked",
			"user: use tabs",
			"assistant: tabs it is",
			"user: and then?",
		]);
	});

	test("an abort inside a tool ends the run, and the session goes on", async () => {
		await using session = await open({
			tools: {
				stuck: (_args, { signal }) =>
					new Promise((_resolve, reject) => {
						signal?.addEventListener("abort", () => reject(new Error("stopped")));
						void session.abort();
					}),
			},
		});
		session.script({ calls: [call("c1", "stuck")] });
		session.otherwise("again");
		await session.prompt("go");
		await session.idle();
		const before = session.requests.length;
		await session.prompt("more");
		expect(session.requests).toHaveLength(before + 1);
		expect(sent(session)).toEqual(
			expect.arrayContaining(["assistant → stuck#c1", "failed stuck#c1: stopped", "user: more"]),
		);
	});

	test("an abort ends an answer that is still awaited", async () => {
		await using session = await open();
		session.script(() => {
			void session.abort();
			return new Promise<string>(() => {});
		});
		await session.prompt("go");
		await session.idle();
		const last = session.branch().at(-1);
		expect(last).toMatchObject({ type: "message", message: { role: "assistant", stopReason: "aborted" } });
	});

	test("an image in a result reaches the model", async () => {
		await using session = await open({ tools: { look: () => [{ type: "text", text: "a dot" }, onePixel] } });
		session.script({ calls: [call("c1", "look")] }, "seen");
		await session.prompt("look");
		expect(sent(session).at(-1)).toBe("result look#c1: a dot [image]");
		expect(containsText(session.lastRequest, onePixel.type === "image" ? onePixel.data : "")).toBe(true);
	});

	test("the human's commands reach the model unless hidden", async () => {
		await using session = await open();
		session.script("ok");
		await session.bash("echo shown-$((40 + 2))");
		await session.bash("echo hidden-$((40 + 2))", { hidden: true });
		await session.prompt("go");
		expect(containsText(session.lastRequest.messages, "shown-42")).toBe(true);
		expect(containsText(session.lastRequest.messages, "hidden-42")).toBe(false);
		expect(shape(session.session.messages).slice(0, 2)).toEqual([
			"bash: $ echo shown-$((40 + 2)) shown-42",
			"bash: $ echo hidden-$((40 + 2)) hidden-42",
		]);
	});

	test("messages, records and commands of an inline extension work", async () => {
		const notes = (pi: ExtensionAPI) =>
			pi.registerCommand("note", {
				description: "",
				handler: async (text) => {
					pi.appendEntry("note-record", { text });
					pi.sendMessage({ customType: "note", content: text, display: true }, { triggerTurn: false });
				},
			});
		await using session = await open({ extensions: [notes] });
		session.script("ok");
		await session.prompt("/note mind the gap");
		expect(session.requests).toEqual([]);
		await session.prompt("go");
		expect(sent(session)).toEqual(["user: mind the gap", "user: go"]);
		expect(session.entries().map(({ type }) => type)).toEqual(expect.arrayContaining(["custom", "custom_message"]));
	});

	test("a compaction takes a step of the script and puts its summary into the next request", async () => {
		await using session = await open({ settings: compactSoon });
		session.script("one", "two", "SUMMARY of one", "three");
		await session.prompt("first");
		await session.prompt("second");
		await session.compact();
		expect(containsText(session.lastRequest.messages, "first")).toBe(true);
		await session.prompt("third");
		expect(containsText(session.lastRequest.messages, "SUMMARY of one")).toBe(true);
		expect(containsText(session.lastRequest.messages, "first")).toBe(false);
		expect(session.branch().map(({ type }) => type)).toContain("compaction");
	});

	test("moving in the tree starts another branch, with a summary if wanted", async () => {
		await using session = await open();
		session.script("one", "two", "SUMMARY of two", "three");
		await session.prompt("first");
		const fork = session.sessionManager.getLeafId() ?? "";
		await session.prompt("second");
		await session.navigateTree(fork, { summarize: true });
		await session.prompt("third");
		expect(containsText(session.lastRequest.messages, "second")).toBe(false);
		expect(containsText(session.lastRequest.messages, "SUMMARY of two")).toBe(true);
		expect(userEntries(session)).toHaveLength(2);
		expect(session.entries().length).toBeGreaterThan(session.branch().length);
	});

	test("a fork goes on in a new file with the branch before a user message", async () => {
		await using session = await open({ extensionPaths: [fixture("report-start")] });
		session.script("one", "two", "three");
		await session.prompt("first");
		await session.prompt("second");
		const { sessionFile } = session;
		await session.fork(userEntries(session).at(-1)?.id ?? "");
		await session.prompt("instead");
		expect(session.sessionFile).not.toBe(sessionFile);
		expect(sent(session)).toEqual(["user: first", "assistant: one", "user: instead"]);
		expect(session.ui.notifications.map(({ message }) => JSON.parse(message).reason)).toEqual(["startup", "fork"]);
	});

	test("a reopened session resumes its file as a new process would", async () => {
		const session = await open({
			extensionPaths: [fixture("report-start")],
			tools: { echo: ({ text }) => String(text) },
		});
		session.script({ calls: [call("c1", "echo", { text: "pong" })] }, "done");
		await session.prompt("ping");
		await using resumed = await session.reopen();
		await session.dispose();
		resumed.script("still here");
		await resumed.prompt("there?");
		expect(sent(resumed)).toEqual([
			"user: ping",
			"assistant → echo#c1",
			"result echo#c1: pong",
			"assistant: done",
			"user: there?",
		]);
		expect(resumed.sessionFile).toBe(session.sessionFile);
		expect(resumed.ui.notifications.map(({ message }) => JSON.parse(message).starts)).toEqual([1]);
	});

	test("a reload loads extensions afresh, and a new session starts empty", async () => {
		await using session = await open({ extensionPaths: [fixture("report-start")] });
		session.script("one", "two");
		await session.prompt("first");
		await session.reload();
		await session.newSession();
		await session.prompt("second");
		expect(sent(session)).toEqual(["user: second"]);
		const starts = session.ui.notifications.map(({ message }) => JSON.parse(message));
		expect(starts.map(({ reason, starts }) => [reason, starts])).toEqual([
			["startup", 1],
			["reload", 1],
			["new", 2],
		]);
	});

	test("lines are what is on disk", async () => {
		await using session = await open();
		expect(session.lines()).toEqual([]);
		session.script("one");
		await session.prompt("first");
		expect(session.lines().slice(1)).toEqual(JSON.parse(JSON.stringify(session.entries())));
		expect(session.lines()[0]).toMatchObject({ type: "session", version: 3, cwd: session.cwd });
	});

	test("a session in memory has no file", async () => {
		await using session = await open({ persist: false });
		session.script("one");
		await session.prompt("first");
		expect([session.sessionFile, session.lines(), existsSync(join(session.agentDir, "sessions"))]).toEqual([
			undefined,
			[],
			false,
		]);
		await expect(session.reopen()).rejects.toThrow("Only a session with a file");
	});

	test("models have their own windows, can be switched, and stay selected on resume", async () => {
		const session = await open({
			models: [
				{ id: "small", contextWindow: 8_000 },
				{ id: "large", contextWindow: 1_000_000 },
			],
		});
		session.script("one", "two");
		await session.prompt("first");
		await session.setModel("large");
		await session.prompt("second");
		expect(session.requests.map(({ model }) => model)).toEqual(["small", "large"]);
		expect(session.session.getContextUsage()?.contextWindow).toBe(1_000_000);
		await using resumed = await session.reopen();
		expect(resumed.session.model?.id).toBe("large");
	});

	test("only active tools are declared", async () => {
		await using session = await open({ tools: { grep: () => "" }, activeTools: ["read", "grep"] });
		session.script("ok");
		await session.prompt("go");
		expect(session.lastRequest.tools.map(({ name }) => name).sort()).toEqual(["grep", "read"]);
	});

	test("a request that the script doesn't foresee fails the prompt", async () => {
		await using session = await open();
		await expect(session.prompt("go")).rejects.toThrow("The script had no answer for 1 request(s).");
		session.otherwise(({ messages }) => `answer to ${messages.length}`);
		await session.prompt("again");
		expect(shape(session.session.messages).at(-1)).toBe("assistant: answer to 3");
	});

	test("thinking, errors and whole messages can be scripted", async () => {
		await using session = await open();
		session.script({ thinking: "hm", text: "one" }, { error: "overloaded" });
		await session.prompt("first");
		await session.prompt("second");
		const assistants = session.session.messages.filter((message) => message.role === "assistant");
		expect(assistants[0]?.content).toEqual([
			{ type: "thinking", thinking: "hm" },
			{ type: "text", text: "one" },
		]);
		expect(assistants[1]).toMatchObject({ stopReason: "error", errorMessage: "overloaded" });
		if (assistants[0]) session.script(assistants[0]);
		await session.prompt("third");
		expect(shape(session.session.messages).at(-1)).toBe("assistant: one");
	});

	test("usage tells how much of a request the one before it had in common", async () => {
		await using session = await open({
			extensionPaths: [fixture("hide-secret")],
			tools: { dump: () => "x".repeat(40_000) },
		});
		session.script({ calls: [call("c1", "dump")] }, "two", "three", { text: "four", usage: { input: 7, output: 5 } });
		await session.prompt("first");
		await session.prompt("more");
		await session.prompt("measured");
		const [cold, warm, warmer, given] = session.usage;
		expect(cold?.cacheRead).toBe(0);
		expect(warm?.cacheRead).toBe(cold?.cacheWrite);
		expect(warm?.cacheWrite).toBeGreaterThan(10_000);
		expect(warmer?.cacheRead).toBeGreaterThan(10_000);
		expect(warmer?.cacheWrite).toBeLessThan(100);
		expect(given).toMatchObject({ input: 7, output: 5, cacheRead: 0, totalTokens: 12 });
	});

	test("a change early in the conversation costs what comes after it", async () => {
		let hide = false;
		const forget = (pi: ExtensionAPI) => {
			const view = <M extends { role: string }>({ messages }: { messages: M[] }) => ({
				messages: messages.filter(({ role }) => !hide || role === "system" || role === "user"),
			});
			pi.on("context", (event, ctx) =>
				typeof ctx.sessionManager.buildSessionProjection === "function" ? undefined : view(event),
			);
			pi.on("context_with_system", view);
		};
		await using session = await open({ extensions: [forget], tools: { dump: () => "x".repeat(40_000) } });
		session.script({ calls: [call("c1", "dump")] }, "two", "three");
		await session.prompt("first");
		hide = true;
		await session.prompt("more");
		expect(session.usage[2]?.cacheRead).toBeLessThan(5_000);
		expect(session.usage[2]?.cacheRead).toBeGreaterThan(500);
	});

	test("what extensions show and throw is recorded", async () => {
		const show = (pi: ExtensionAPI) => {
			pi.on("session_start", async (_event, { ui, hasUI, mode }) => {
				ui.notify(`${mode} ${hasUI}`, "warning");
				ui.setStatus("a", "busy");
				ui.setStatus("b", ui.theme.fg("dim", "gone"));
				ui.setStatus("b", undefined);
				ui.setWidget("w", ["line"]);
				if (await ui.confirm("Sure?", "")) ui.setTitle("confirmed");
			});
			pi.on("agent_start", () => {
				throw new Error("oops");
			});
		};
		await using session = await open({ extensions: [show], uiContext: { confirm: async () => true } });
		session.script("ok");
		await session.prompt("go");
		expect(session.ui.notifications).toEqual([{ message: "rpc true", type: "warning" }]);
		expect([...session.ui.statuses, ...session.ui.widgets, session.ui.title]).toEqual([
			["a", "busy"],
			["w", ["line"]],
			"confirmed",
		]);
		expect(session.errors).toMatchObject([{ event: "agent_start", error: "oops" }]);
		await using printing = await open({ extensions: [show], mode: "print" });
		expect(printing.ui.notifications).toEqual([]);
	});

	test("a built log is resumed with all its kinds of entries", async () => {
		const log = sessionLog();
		log.user("old");
		const { results } = log.batch(
			[
				{ name: "read", result: "a" },
				{ name: "look", result: [onePixel], isError: true },
			],
			{ text: "both" },
		);
		log.label(results[0] ?? "", "bookmark");
		log.custom("record", { a: 1 });
		log.customMessage("note", "noted");
		log.bash("ls", "files");
		log.bash("pwd", "hidden", { hidden: true });
		const kept = log.user("kept");
		log.assistant({ thinking: "hm", text: "answer" });
		await using session = await open({ log });
		session.script("ok");
		await session.prompt("new");
		expect(sent(session)).toEqual([
			"user: old",
			"assistant: both → read#c1, look#c2",
			"result read#c1: a",
			"failed look#c2: [image]",
			"user: noted",
			"user: Ran `ls` ``` files ```",
			"user: kept",
			"assistant: answer",
			"user: new",
		]);
		expect(session.sessionManager.getLabel(results[0] ?? "")).toBe("bookmark");

		log.compaction("SUMMARY", { firstKept: kept });
		log.user("after");
		await using compacted = await open({ log });
		compacted.script("ok");
		await compacted.prompt("new");
		expect(sent(compacted).slice(1)).toEqual(["user: kept", "assistant: answer", "user: after", "user: new"]);
		expect(containsText(compacted.lastRequest.messages[0], "SUMMARY")).toBe(true);

		log.branchSummary("LEFT", { branchFrom: kept });
		await using branched = await open({ log });
		branched.script("ok");
		await branched.prompt("new");
		expect(sent(branched).slice(-3)[0]).toBe("user: kept");
		expect(containsText(branched.lastRequest.messages.at(-2), "LEFT")).toBe(true);
	});
});

test("a session can be reopened with another Pi, there and back", async () => {
	if (!oldest || !newest) throw new Error("Two versions are needed.");
	const first = await openSession({ pi: oldest, extensionPaths: [fixture("report-start")] });
	first.script("one");
	await first.prompt("1");
	const second = await first.reopen({ pi: newest });
	second.script("two");
	await second.prompt("2");
	await using third = await second.reopen({ pi: oldest });
	third.script("three");
	await third.prompt("3");
	expect(sent(third)).toEqual(["user: 1", "assistant: one", "user: 2", "assistant: two", "user: 3"]);
	const versions = [first, second, third].map(
		(session) => JSON.parse(session.ui.notifications[0]?.message ?? "{}").version,
	);
	expect(versions).toEqual([oldest.version, newest.version, oldest.version]);
});

test("dispose says goodbye to extensions, removes what openSession made, and gives the environment back", async () => {
	const goodbyes: string[] = [];
	const farewell = (pi: ExtensionAPI) => {
		pi.on("session_shutdown", ({ reason }) => void goodbyes.push(reason));
	};
	const cwd = mkdtempSync(join(tmpdir(), "own-cwd-"));
	const session = await openSession({ cwd, extensionPaths: [], extensions: [farewell] });
	const inner = await openSession({ extensionPaths: [] });
	expect(process.env.PI_CODING_AGENT_DIR).toBe(inner.agentDir);
	await session.dispose();
	expect(process.env.PI_CODING_AGENT_DIR).toBe(inner.agentDir);
	await inner.dispose();
	await inner.dispose();
	expect(process.env.PI_CODING_AGENT_DIR).toBeUndefined();
	expect(goodbyes).toEqual(["quit"]);
	expect([cwd, session.agentDir, inner.cwd, inner.agentDir].map((folder) => existsSync(folder))).toEqual([
		true,
		false,
		false,
		false,
	]);
	rmSync(cwd, { recursive: true });
});

test("settings add to a file that is there already", async () => {
	const agentDir = mkdtempSync(join(tmpdir(), "own-agent-"));
	writeFileSync(join(agentDir, "settings.json"), JSON.stringify({ mulligan: { a: 1 }, quietStartup: true }));
	await using session = await openSession({ agentDir, extensionPaths: [], settings: { mulligan: { b: 2 } } });
	expect(JSON.parse(readFileSync(join(session.agentDir, "settings.json"), "utf8"))).toEqual({
		retry: { enabled: false },
		mulligan: { b: 2 },
		quietStartup: true,
	});
	await session.dispose();
	rmSync(agentDir, { recursive: true });
});
