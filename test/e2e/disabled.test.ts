import { copyFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import {
	containsText,
	type OpenSessionOptions,
	openSession,
	type PiVersion,
	piVersions,
	type TestSession,
	textOf,
} from "../../src/testing/index.ts";
import { bulk, call, records, wire } from "../support/mulligan.ts";

const edges = piVersions().filter(({ name }) => name === "oldest" || name === "newest");
const REFUSAL = "Mulligan: refused — Mulligan is disabled.";
const OWN = ["mulligan_rewind", "mulligan_shrink", "mulligan_cancel", "mulligan_audit"];
const COMMANDS = ["mulligan_audit", "mulligan_checkpoint x", "mulligan_checkpoint_revoke start"];
const tools = { grep: () => bulk("GREP"), log: () => bulk("LOG"), data: () => bulk("DATA") };

afterEach(() => vi.unstubAllEnvs());

/** A session in which there is one of each: an active rewind with its note, an active shrink, an op that waits, a checkpoint. */
async function withHistory(pi: PiVersion): Promise<TestSession> {
	const session = await openSession({
		pi,
		tools,
		models: [{ id: "model-a" }, { id: "model-b" }],
		settings: { mulligan: { rewrites: { maxMoments: 1, flushShedTokens: 1e6 }, persistence: "view" } },
	});
	session.script(
		{ calls: [call.tool("c1", "grep")] },
		{ calls: [call.tool("c2", "log")] },
		{ calls: [call.shrink("c3", { by_tool_name: "grep" }, "NOTHING"), call.shrink("c4", { by_tool_name: "log" })] },
		{ calls: [call.tool("c5", "log")] },
		{ calls: [call.rewind("c6")] },
		"done",
	);
	await session.prompt("go");
	await session.setModel("model-b");
	session.script(
		{ calls: [call.tool("c7", "data")] },
		{ calls: [call.shrink("c8", { by_tool_name: "data" })] },
		"done",
	);
	await session.prompt("on");
	await session.prompt("/mulligan_checkpoint start");
	expect(["rewind", "shrink", "checkpoint"].map((kind) => records(session, `mulligan:${kind}`).length)).toEqual([
		1, 2, 1,
	]);
	expect(records(session, "mulligan:queued").at(-1)).toMatchObject({ status: "queued" });
	return session;
}

/** Path of a copy of the session's file. */
function copyOf({ agentDir, sessionFile = "" }: TestSession): string {
	const copy = join(agentDir, `${crypto.randomUUID()}.jsonl`);
	copyFileSync(sessionFile, copy);
	return copy;
}

/** What one more run over a copy of the session sent and wrote: two prompts with tools, the commands between them. */
async function replay(history: TestSession, options: Partial<OpenSessionOptions>, commands: readonly string[] = []) {
	await using session = await openSession({
		pi: history.pi,
		tools,
		cwd: history.cwd,
		sessionFile: copyOf(history),
		models: [{ id: "model-b" }],
		...options,
	});
	const before = session.entries().length;
	session.script(
		{ calls: [call.tool("d1", "grep"), call.tool("d2", "log")] },
		{ text: "thinking aloud", calls: [call.tool("d3", "data")] },
		"done",
		"and done",
	);
	await session.prompt("more");
	for (const command of commands) await session.prompt(`/${command}`);
	await session.prompt("and more");
	const { requests, ui } = session;
	return {
		messages: JSON.stringify(requests.map(({ messages }) => wire(messages))),
		systems: requests.map(({ system }) => system),
		tools: requests.map(({ tools: declared }) => declared.filter(({ name }) => !OWN.includes(name))),
		own: requests.map(({ tools: declared }) => declared.map(({ name }) => name).filter((name) => OWN.includes(name))),
		// Without the extension Pi notes that four tools are gone, as a system message.
		written: session
			.entries()
			.slice(before)
			.map((entry) => (entry.type === "message" ? entry.message.role : entry.type))
			.filter((kind) => kind !== "system"),
		shown: { statuses: [...ui.statuses], widgets: [...ui.widgets.keys()], told: ui.notifications },
	};
}

describe.each(edges)("switched off, with Pi $version", (pi) => {
	test.each([
		["by its setting", { mulligan: { enabled: false } }, {}],
		["by the environment", {}, { MULLIGAN_DISABLED: "1" }],
		["by the environment, against the setting", { mulligan: { enabled: true } }, { MULLIGAN_DISABLED: "1" }],
	] as const)(
		"%s, every request over an edited session is what it is without the extension",
		async (_how, settings, env) => {
			await using history = await withHistory(pi);
			const plain = await replay(history, { extensionPaths: [] });
			for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
			const off = await replay(history, { settings });
			expect(plain.messages).toContain("GREP");
			expect(off.messages).toBe(plain.messages);
			expect(off.systems).toEqual(plain.systems);
			expect(off.tools).toEqual(plain.tools);
			expect(plain.own.flat()).toEqual([]);
			expect(off.own).toEqual(off.own.map(() => expect.arrayContaining(OWN)));
			expect(off.written).toEqual(plain.written);
			expect(off.shown).toEqual({ statuses: [], widgets: [], told: [] });
		},
	);

	test("its commands answer with its one sentence, and write and show nothing else", async () => {
		await using history = await withHistory(pi);
		const plain = await replay(history, { extensionPaths: [] });
		const off = await replay(history, { settings: { mulligan: { enabled: false } } }, COMMANDS);
		expect(off.shown.told.map(({ message }) => message)).toEqual(COMMANDS.map(() => REFUSAL));
		expect([off.shown.statuses, off.shown.widgets]).toEqual([[], []]);
		expect(off.written).toEqual(plain.written);
		expect(off.messages).toBe(plain.messages);
	});

	test("a summary is asked for over the whole session, as without the extension", async () => {
		await using history = await withHistory(pi);
		const summarised = async (changes: Partial<OpenSessionOptions>) => {
			const sessionFile = copyOf(history);
			const { cwd, agentDir } = history;
			const settings = { compaction: { keepRecentTokens: 10 }, mulligan: { enabled: false } };
			await using session = await openSession({
				pi,
				cwd,
				agentDir,
				sessionFile,
				models: [{ id: "model-b" }],
				settings,
				...changes,
			});
			session.otherwise("SUMMARY");
			await session.compact();
			await session.prompt("on");
			return JSON.stringify(session.requests.map(({ system, messages }) => [system, wire(messages)]));
		};
		const off = await summarised({});
		expect(off).toContain("GREP\\n0123");
		expect(off).toBe(await summarised({ extensionPaths: [] }));
	});

	test("switched off by a reload, it leaves the session alone from then on", async () => {
		await using session = await withHistory(pi);
		const ours = () => session.entries().filter(({ type }) => type === "custom" || type === "label").length;
		const before = ours();
		writeFileSync(join(session.agentDir, "settings.json"), JSON.stringify({ mulligan: { enabled: false } }));
		session.ui.statuses.clear();
		session.ui.widgets.clear();
		await session.reload();
		session.script(
			{ calls: [call.tool("d1", "grep")] },
			{ calls: [call.cancel("d2", { target: { by_tool_name: "grep" } })] },
			"done",
		);
		await session.prompt("more");
		expect(textOf(session.lastRequest.messages.at(-1) as never)).toBe(REFUSAL);
		expect(containsText(session.lastRequest.messages, "<context-shrunk>")).toBe(false);
		expect([ours(), session.ui.statuses.size, session.ui.widgets.size]).toEqual([before, 0, 0]);
	});

	test("its commands answer on standard error where there is no user interface", async () => {
		const written = vi.spyOn(process.stderr, "write").mockReturnValue(true);
		onTestFinished(() => written.mockRestore());
		await using session = await openSession({ pi, mode: "print", settings: { mulligan: { enabled: false } } });
		for (const command of COMMANDS) await session.prompt(`/${command}`);
		expect(written.mock.calls.map(([text]) => text)).toEqual(COMMANDS.map(() => `${REFUSAL}\n`));
	});

	test("its tools answer with its one sentence", async () => {
		await using session = await openSession({ pi, tools, settings: { mulligan: { enabled: false } } });
		const calls = [
			call.rewind("c2"),
			call.shrink("c3", { by_tool_name: "log" }),
			call.cancel("c4", { markerId: "x" }),
			call.tool("c5", "mulligan_audit"),
		];
		session.script({ calls: [call.tool("c1", "log")] }, { calls }, "done");
		await session.prompt("go");
		const answers = session.lastRequest.messages.slice(-4).map((message) => message.content);
		expect(answers).toEqual(Array(4).fill([{ type: "text", text: REFUSAL }]));
	});

	test("once it is switched on again the session is edited as it was", async () => {
		await using history = await withHistory(pi);
		const off = await replay(history, { settings: { mulligan: { enabled: false } } });
		const on = await replay(history, { settings: { mulligan: {} } });
		expect(off.messages).not.toContain("<context-shrunk>");
		expect(on.messages).toContain("<context-shrunk>\\nNOTHING\\n</context-shrunk>");
		expect(on.shown.widgets).toEqual(["mulligan:checkpoints"]);
	});
});

describe.each(edges)("with one tool switched off, with Pi $version", (pi) => {
	test.each([
		["rewind", call.rewind("d3"), "Mulligan: refused — rewind is disabled."],
		["shrink", call.shrink("d3", { by_tool_name: "log" }), "Mulligan: refused — shrink is disabled."],
	] as const)("%s refuses, takes no op and keeps what it did", async (name, request, refusal) => {
		await using history = await withHistory(pi);
		const on = await replay(history, { settings: { mulligan: {} } });
		const off = await replay(history, { settings: { mulligan: { [name]: { enabled: false } } } });
		expect(on.messages).toContain("<context-shrunk>\\nNOTHING\\n</context-shrunk>");
		expect(on.messages).toContain("Rewound now (asked for earlier)");
		expect(off.messages).toBe(on.messages);
		expect(off.own.flat().sort()).toEqual(on.own.flat().sort());
		expect(off.shown.widgets).toEqual(["mulligan:checkpoints"]);

		const { cwd, agentDir } = history;
		const settings = { mulligan: { [name]: { enabled: false } } };
		await using session = await openSession({
			pi,
			tools,
			cwd,
			agentDir,
			sessionFile: copyOf(history),
			settings,
			models: [{ id: "model-b" }],
		});
		// What was in force before becomes Pi's own edits all the same.
		const ofItself = ["mulligan:turn-metric", "mulligan:mirror"];
		const kinds = () =>
			session
				.entries()
				.flatMap((entry) =>
					entry.type === "custom" && !ofItself.includes(entry.customType) ? [entry.customType] : [],
				);
		const before = kinds();
		session.script({ calls: [call.tool("d1", "log")] }, { calls: [request] }, "done");
		await session.prompt("more");
		expect(textOf(session.lastRequest.messages.at(-1) as never)).toBe(refusal);
		expect(kinds()).toEqual(before);
	});
});
