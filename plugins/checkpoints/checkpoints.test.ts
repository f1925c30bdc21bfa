import type { SessionEntry } from "@earendil-works/pi-coding-agent";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { DEFAULT_PLUGINS } from "../../src/default-set.ts";
import { mulliganWith } from "../../src/extension.ts";
import {
	containsText,
	openSession as openAny,
	orphans,
	piVersions,
	sessionLog,
	type TestSession,
	textOf,
} from "../../src/testing/index.ts";
import { atOnce, bulk, call, records } from "../../test/support/mulligan.ts";
import { BANNER, bannerLines } from "./banner.ts";
import { checkpointLines } from "./record.ts";

const edges = piVersions().filter(({ name }) => name === "oldest" || name === "newest");
const models = [{ id: "model-a" }, { id: "model-b" }];
const tools = { grep: () => bulk("GREP") };
const lineOf = (name: string) =>
	`⚠ Mulligan checkpoint active: "${name}" (you set it). The agent may rewind across your subsequent prompts back to this point. Revoke: /mulligan_checkpoint_revoke ${name}`;
const banner = (session: TestSession) => session.ui.widgets.get(BANNER);
const told = (session: TestSession) => session.ui.notifications.at(-1)?.message ?? "";
const answers = (session: TestSession) =>
	session.lastRequest.messages.filter(({ role }) => role === "toolResult").map((message) => textOf(message));
const statuses = (session: TestSession) => records(session, "mulligan:queued").map(({ status }) => status);
const toCheckpoint = (id: string, checkpoint = "start") => call.rewind(id, { granularity: "checkpoint", checkpoint });
const isCheckpoint = (entry: SessionEntry) => entry.type === "custom" && entry.customType === "mulligan:checkpoint";
const isResult = (entry: SessionEntry) => entry.type === "message" && entry.message.role === "toolResult";
/** The labels of the entries that the command wrote, in file order. */
const labels = (session: TestSession) =>
	session
		.entries()
		.filter(isCheckpoint)
		.map(({ id }) => session.sessionManager.getLabel(id));
/** Id of the first message with this role on the branch. */
const first = (session: TestSession, role: string) =>
	session.branch().find((entry) => entry.type === "message" && entry.message.role === role)?.id ?? "";

type Version = (typeof edges)[number];
type Options = NonNullable<Parameters<typeof openAny>[0]>;

/** A session with the default set as it is: loading it from disk is tested elsewhere, and slow. */
const openSession = (options: Options) =>
	openAny({ extensionPaths: [], extensions: [(api) => mulliganWith(DEFAULT_PLUGINS, api)], ...options });
/** The same in which every op is active at once. */
const openAtOnce = (options: Options) => openSession({ settings: { mulligan: atOnce }, ...options });

/** A session with one exchange and the checkpoint "start" after it. */
async function withCheckpoint(pi: Version, options: Options = {}, open = openAtOnce): Promise<TestSession> {
	const session = await open({ pi, tools, models, ...options });
	session.script("hello");
	await session.prompt("go");
	await session.prompt("/mulligan_checkpoint start");
	return session;
}

/** The same with a rewind to it, after one more prompt and a grep: active, or queued where `open` is `openSession`. */
async function withRewind(pi: Version, options: Options = {}, open = openAtOnce): Promise<TestSession> {
	const session = await withCheckpoint(pi, options, open);
	session.script({ calls: [call.tool("c1", "grep")] }, "found");
	await session.prompt("WRONG-WAY");
	session.script({ calls: [toCheckpoint("c2")] }, "back");
	await session.prompt("try again");
	return session;
}

test("the banner has a line for each checkpoint, and from ten on nine lines and the rest counted", () => {
	const names = (count: number) => Array.from({ length: count }, (_, index) => `n${index}`);
	expect(bannerLines([])).toBeUndefined();
	expect(bannerLines(["a"])).toEqual([lineOf("a")]);
	expect(bannerLines(names(9))).toEqual(names(9).map(lineOf));
	expect(bannerLines(names(10))).toEqual([...names(9).map(lineOf), "… and 1 more: /mulligan"]);
	expect(bannerLines(names(23))).toEqual([...names(9).map(lineOf), "… and 14 more: /mulligan"]);
});

test("a record is shown as one line", () => {
	expect(checkpointLines({ name: "start" })).toEqual(['Mulligan: you set the checkpoint "start" here.']);
});

describe.each(edges)("with Pi $version", (pi) => {
	describe("setting one", () => {
		test("labels an entry of its own, shows the banner and tells what is allowed now", async () => {
			await using session = await withCheckpoint(pi);
			expect(banner(session)).toEqual([lineOf("start")]);
			expect(records(session, "mulligan:checkpoint")).toMatchObject([{ schema: "pi-mulligan", v: 1, name: "start" }]);
			expect(labels(session)).toEqual(["mulligan:checkpoint:start"]);
			expect(session.ui.notifications.at(-1)?.type).toBe("warning");
			expect(told(session)).toMatch(/"start" is set here.*across all prompts.*\/mulligan_checkpoint_revoke start$/s);
			session.script("ok");
			await session.prompt("on");
			expect(containsText(session.requests, "mulligan:checkpoint")).toBe(false);
			expect(containsText(session.requests, "checkpoint active")).toBe(false);
		});

		test("refuses what is no name, and says what a name is", async () => {
			await using session = await openSession({ pi, tools });
			session.script("hello");
			await session.prompt("go");
			for (const [name, quoted] of [
				["", "nothing"],
				["   ", "nothing"],
				["Start", '"Start"'],
				["NaN", '"NaN"'],
				["two words", '"two words"'],
				["two\nlines", '"two\\nlines"'],
				["a/b", '"a/b"'],
				["ümlaut", '"ümlaut"'],
				["名前", '"名前"'],
				["１", '"１"'],
				["\u202eevil\u001b[31m", '"\\u{202e}evil\\u001b[31m"'],
				["x".repeat(41), `"${"x".repeat(41)}"`],
				["x".repeat(100_000), `"${"x".repeat(60)}…" (100000 characters)`],
			]) {
				await session.prompt(`/mulligan_checkpoint ${name}`);
				expect(session.ui.notifications.at(-1)).toEqual({
					type: "warning",
					message: `Mulligan: refused — a checkpoint needs a name of 1 to 40 of a-z, 0-9, _ and -, as in /mulligan_checkpoint before-refactoring; got ${quoted}.`,
				});
			}
			expect(records(session, "mulligan:checkpoint")).toEqual([]);
			expect(banner(session)).toBeUndefined();
		});

		test("takes every name of the form, with spaces around it", async () => {
			await using session = await withCheckpoint(pi);
			const names = ["a", "0", "-1", "1e9", "_-_", "x".repeat(40)];
			for (const name of names) await session.prompt(`/mulligan_checkpoint   ${name}  `);
			expect(records(session, "mulligan:checkpoint").map(({ name }) => name)).toEqual(["start", ...names]);
			expect(banner(session)).toEqual(["start", ...names].map(lineOf));
		});

		test("is refused while there is no message", async () => {
			await using session = await openSession({ pi });
			await session.prompt("/mulligan_checkpoint start");
			expect(told(session)).toBe("Mulligan: refused — there is no message yet that the checkpoint could stand after.");
			expect(records(session, "mulligan:checkpoint")).toEqual([]);
		});

		test("stands after the newest entry that the model reads, whatever else was written since", async () => {
			await using session = await openAtOnce({ pi, tools, models });
			session.script("hello");
			await session.prompt("go");
			await session.bash("echo KEPT-OUTPUT");
			await session.setModel("model-b");
			session.sessionManager.appendCustomEntry("team:record", {});
			await session.prompt("/mulligan_checkpoint start");
			session.script("wrong", { calls: [toCheckpoint("c1")] }, "back");
			await session.prompt("WRONG-WAY");
			await session.prompt("again");
			expect(containsText(session.lastRequest.messages, "KEPT-OUTPUT")).toBe(true);
			expect(containsText(session.lastRequest.messages, "WRONG-WAY")).toBe(false);
		});

		test("again takes over the label that an earlier version put on a message", async () => {
			const log = sessionLog();
			log.user("go");
			const reply = log.assistant("hello");
			log.label(reply, "mulligan:checkpoint:start");
			log.user("KEPT-PROMPT");
			log.assistant("kept");
			await using session = await openSession({ pi, log });
			await session.prompt("/mulligan_checkpoint start");
			expect(told(session)).toContain('"start" has moved here');
			expect(session.sessionManager.getLabel(reply)).toBeUndefined();
			expect(labels(session)).toEqual(["mulligan:checkpoint:start"]);
		});

		test("is for the human alone: no call of the agent's tools sets one", async () => {
			await using session = await openAtOnce({ pi, tools });
			session.script(
				{ calls: [call.tool("c1", "grep")] },
				{ calls: [toCheckpoint("c2", "mine"), call.rewind("c3", { checkpoint: "mine" })] },
				{ calls: [call.shrink("c4", { by_tool_call_id: "c1" }, "mulligan:checkpoint:mine")] },
				{ calls: [call.tool("c5", "mulligan_audit"), call.tool("c6", "mulligan_checkpoint", { name: "mine" })] },
				"done",
			);
			await session.prompt("go");
			expect(records(session, "mulligan:checkpoint")).toEqual([]);
			expect(session.entries().filter(({ type }) => type === "label")).toEqual([]);
			expect(banner(session)).toBeUndefined();
			const declared = session.lastRequest.tools.filter(({ name }) => name.startsWith("mulligan_"));
			expect(declared.map(({ name }) => name).sort()).toEqual([
				"mulligan_audit",
				"mulligan_cancel",
				"mulligan_rewind",
				"mulligan_shrink",
			]);
		});

		test("again moves it: what came before the new place stays", async () => {
			await using session = await withCheckpoint(pi);
			session.script("kept");
			await session.prompt("KEPT-PROMPT");
			await session.prompt("/mulligan_checkpoint start");
			expect(told(session)).toContain('"start" has moved here');
			expect(labels(session)).toEqual([undefined, "mulligan:checkpoint:start"]);
			expect(banner(session)).toEqual([lineOf("start")]);
			session.script("wrong", { calls: [toCheckpoint("c1")] }, "back");
			await session.prompt("WRONG-WAY");
			await session.prompt("again");
			expect(containsText(session.lastRequest.messages, "KEPT-PROMPT")).toBe(true);
			expect(containsText(session.lastRequest.messages, "WRONG-WAY")).toBe(false);
		});

		test("leaves a bookmark of the human on the message alone, and so do revoking and rewinding", async () => {
			await using session = await openAtOnce({ pi, tools });
			session.script("hello");
			await session.prompt("go");
			const place = first(session, "assistant");
			session.sessionManager.appendLabelChange(place, "mine");
			await session.prompt("/mulligan_checkpoint one");
			await session.prompt("/mulligan_checkpoint two");
			expect(banner(session)).toEqual([lineOf("one"), lineOf("two")]);
			await session.prompt("/mulligan_checkpoint_revoke one");
			session.script("wrong", { calls: [toCheckpoint("c1", "two")] }, "back");
			await session.prompt("on");
			await session.prompt("again");
			expect(labels(session)).toEqual([undefined, undefined]);
			expect(session.sessionManager.getLabel(place)).toBe("mine");
		});

		test("while a tool runs puts it between a call and its result, and no request loses a pair", async () => {
			let session: TestSession | undefined;
			const ask = async () => {
				await session?.prompt("/mulligan_checkpoint mid");
				return bulk("ASKED");
			};
			await using opened = await openAtOnce({ pi, tools: { ...tools, ask } });
			session = opened;
			session.script({ calls: [call.tool("c1", "ask"), call.tool("c2", "grep")] }, "done");
			await session.prompt("go");
			expect(banner(session)).toEqual([lineOf("mid")]);
			const place = session.branch().findIndex(isCheckpoint);
			const results = session.branch().flatMap((entry, index) => (isResult(entry) ? [index] : []));
			expect(results.map((index) => index > place)).toEqual([true, true]);
			expect(orphans(session.lastRequest.messages)).toEqual({ calls: [], results: [] });
			session.script("wrong", { calls: [toCheckpoint("c3", "mid")] }, "back");
			await session.prompt("WRONG-WAY");
			await session.prompt("again");
			expect(orphans(session.lastRequest.messages)).toEqual({ calls: [], results: [] });
			expect(containsText(session.lastRequest.messages, "ASKED")).toBe(true);
			expect(containsText(session.lastRequest.messages, "WRONG-WAY")).toBe(false);
			await using resumed = await session.reopen();
			resumed.script("more");
			await resumed.prompt("on");
			expect(orphans(resumed.lastRequest.messages)).toEqual({ calls: [], results: [] });
			expect(containsText(resumed.lastRequest.messages, "WRONG-WAY")).toBe(false);
		});
	});

	describe("revoking one", () => {
		test("clears its label and the banner, and the agent can't rewind to it", async () => {
			await using session = await withCheckpoint(pi);
			await session.prompt("/mulligan_checkpoint_revoke start");
			expect(told(session)).toBe(
				'Mulligan: the checkpoint "start" is revoked; the agent can\'t rewind to it any more.',
			);
			expect(labels(session)).toEqual([undefined]);
			expect(banner(session)).toBeUndefined();
			session.script({ calls: [toCheckpoint("c1")] }, "done");
			await session.prompt("on");
			expect(answers(session).at(-1)).toMatch(/^Mulligan: refused — no checkpoint "start" is set on this branch/);
		});

		test("that does not exist names those that do", async () => {
			await using session = await withCheckpoint(pi);
			await session.prompt("/mulligan_checkpoint other");
			await session.prompt("/mulligan_checkpoint_revoke none");
			expect(told(session)).toBe(
				'Mulligan: refused — no checkpoint "none" is active on this branch. Active: start, other.',
			);
			await session.prompt("/mulligan_checkpoint_revoke start");
			await session.prompt("/mulligan_checkpoint_revoke other");
			await session.prompt("/mulligan_checkpoint_revoke start");
			expect(told(session)).toBe('Mulligan: refused — no checkpoint "start" is active on this branch. None is active.');
		});

		test("refuses what names none, and names what could be revoked", async () => {
			await using session = await withCheckpoint(pi);
			for (const [name, reason] of [
				["", "/mulligan_checkpoint_revoke takes the name of a checkpoint. Active: start."],
				["  ", "/mulligan_checkpoint_revoke takes the name of a checkpoint. Active: start."],
				["START", 'no checkpoint "START" is active on this branch. Active: start.'],
				["start stop", 'no checkpoint "start stop" is active on this branch. Active: start.'],
				["0", 'no checkpoint "0" is active on this branch. Active: start.'],
				["名前", 'no checkpoint "名前" is active on this branch. Active: start.'],
				[
					"x".repeat(5000),
					`no checkpoint "${"x".repeat(60)}…" (5000 characters) is active on this branch. Active: start.`,
				],
			]) {
				await session.prompt(`/mulligan_checkpoint_revoke ${name}`);
				expect(session.ui.notifications.at(-1)).toEqual({ type: "warning", message: `Mulligan: refused — ${reason}` });
			}
			expect(labels(session)).toEqual(["mulligan:checkpoint:start"]);
		});

		test("of many names the first twenty, and the banner fits the screen", async () => {
			await using session = await withCheckpoint(pi);
			for (let index = 1; index < 23; index++) await session.prompt(`/mulligan_checkpoint n${index}`);
			await session.prompt("/mulligan_checkpoint_revoke none");
			expect(told(session)).toMatch(/ Active: start, n1, (n\d+, )+n19 and 3 more\.$/);
			expect(banner(session)).toHaveLength(10);
			expect((banner(session) as string[]).at(-1)).toBe("… and 14 more: /mulligan");
		});

		test("is completed by the active names", async () => {
			await using session = await withCheckpoint(pi);
			for (const name of ["stop", "other", "gone"]) await session.prompt(`/mulligan_checkpoint ${name}`);
			await session.prompt("/mulligan_checkpoint_revoke gone");
			const command = session.session.extensionRunner.getCommand("mulligan_checkpoint_revoke");
			const completed = async (prefix: string) =>
				(await command?.getArgumentCompletions?.(prefix))?.map(({ value }) => value);
			expect(await completed("")).toEqual(["start", "stop", "other"]);
			expect(await completed("st")).toEqual(["start", "stop"]);
			expect(await completed("  ot")).toEqual(["other"]);
			expect(await completed("ST")).toEqual([]);
			expect(await completed("x")).toEqual([]);
		});

		test("works for labels that earlier versions put on messages, doubled ones too", async () => {
			const log = sessionLog();
			const prompt = log.user("go");
			const reply = log.assistant("hello");
			log.label(prompt, "mulligan:checkpoint:old");
			log.label(reply, "mulligan:checkpoint:old");
			await using session = await openSession({ pi, log });
			expect(banner(session)).toEqual([lineOf("old")]);
			await session.prompt("/mulligan_checkpoint_revoke old");
			expect(banner(session)).toBeUndefined();
			expect([prompt, reply].map((id) => session.sessionManager.getLabel(id))).toEqual([undefined, undefined]);
		});

		test("drops the rewind that waits to go there: what it would have hidden stays", async () => {
			await using session = await withRewind(pi, {}, openSession);
			expect(statuses(session)).toEqual(["queued"]);
			await session.prompt("/mulligan_checkpoint_revoke start");
			expect(told(session)).toContain("1 queued rewind(s)");
			expect(records(session, "mulligan:queued").at(-1)).toMatchObject({
				status: "dropped",
				reason: 'the user has revoked the checkpoint "start"',
			});
			await session.setModel("model-b");
			session.script("ok");
			await session.prompt("on");
			expect(statuses(session)).toEqual(["queued", "dropped"]);
			expect(records(session, "mulligan:rewind")).toEqual([]);
			expect(containsText(session.lastRequest.messages, "WRONG-WAY")).toBe(true);
		});

		test("in the very turn of the rewind drops it before it is stored, and its result says so", async () => {
			let session: TestSession | undefined;
			const human = async () => {
				await session?.prompt("/mulligan_checkpoint_revoke start");
				return "ok";
			};
			await using opened = await withCheckpoint(pi, { tools: { ...tools, human } });
			session = opened;
			session.script("wrong", { calls: [toCheckpoint("c1"), call.tool("c2", "human")] }, "done");
			await session.prompt("WRONG-WAY");
			await session.prompt("again");
			expect(answers(session)[0]).toMatch(/Dropped: the user has revoked the checkpoint "start"/);
			expect(containsText(session.lastRequest.messages, "WRONG-WAY")).toBe(true);
			expect(records(session, "mulligan:rewind")).toEqual([]);
		});

		test("leaves rewinds to other checkpoints in the queue; moving drops like revoking", async () => {
			await using session = await withRewind(pi, {}, openSession);
			await session.prompt("/mulligan_checkpoint other");
			await session.prompt("/mulligan_checkpoint_revoke other");
			expect(statuses(session)).toEqual(["queued"]);
			await session.prompt("/mulligan_checkpoint start");
			expect(statuses(session)).toEqual(["queued", "dropped"]);
			await session.setModel("model-b");
			expect(labels(session)).toEqual([undefined, undefined, "mulligan:checkpoint:start"]);
			expect(banner(session)).toEqual([lineOf("start")]);
		});
	});

	describe("a rewind", () => {
		test("consumes it once it is active, and cancelling the rewind does not set it again", async () => {
			await using session = await withRewind(pi);
			expect(containsText(session.lastRequest.messages, "WRONG-WAY")).toBe(false);
			expect(labels(session)).toEqual([undefined]);
			expect(banner(session)).toBeUndefined();
			session.script({ calls: [call.cancel("c3", { markerId: records(session, "mulligan:rewind")[0]?.id })] }, "ok");
			await session.prompt("on");
			expect(containsText(session.lastRequest.messages, "WRONG-WAY")).toBe(true);
			expect(labels(session)).toEqual([undefined]);
			expect(banner(session)).toBeUndefined();
		});

		test("that is queued keeps it, and consumes it when the queue becomes active", async () => {
			await using session = await withRewind(pi, {}, openSession);
			expect(statuses(session)).toEqual(["queued"]);
			expect(labels(session)).toEqual(["mulligan:checkpoint:start"]);
			expect(banner(session)).toEqual([lineOf("start")]);
			await session.setModel("model-b");
			expect(statuses(session)).toEqual(["queued", "activated"]);
			expect(labels(session)).toEqual([undefined]);
			expect(banner(session)).toBeUndefined();
		});
	});

	describe("a label that the human edits in /tree while a rewind to it waits", () => {
		const reason = 'the user has cleared the label of the checkpoint "start"';
		const clear = (session: TestSession) => {
			const entry = session.entries().find(isCheckpoint);
			session.sessionManager.appendLabelChange(entry?.id ?? "", undefined);
		};
		/** What the human was told of a drop. */
		const drops = (session: TestSession) =>
			session.ui.notifications.map(({ message }) => message).filter((message) => message.includes("is dropped"));
		const isDropped = async (session: TestSession, why = reason) => {
			expect(records(session, "mulligan:queued").map(({ status, reason }) => ({ status, reason }))).toEqual([
				{ status: "queued", reason: undefined },
				{ status: "dropped", reason: why },
			]);
			expect(drops(session)).toEqual([
				`Mulligan: the queued rewind of all since the checkpoint "start" is dropped: ${why}.`,
			]);
			session.script("ok");
			await session.prompt("on");
			expect(records(session, "mulligan:rewind")).toEqual([]);
			expect(containsText(session.lastRequest.messages, "WRONG-WAY")).toBe(true);
			expect(containsText(session.lastRequest.messages, "Rewound")).toBe(false);
		};

		test("cleared, drops the rewind when the next turn starts, and the banner is gone", async () => {
			await using session = await withRewind(pi, {}, openSession);
			clear(session);
			let seen: unknown;
			session.script(() => {
				seen = [statuses(session), banner(session)];
				return "ok";
			});
			await session.prompt("on");
			expect(seen).toEqual([["queued", "dropped"], undefined]);
			await isDropped(session);
		});

		test("cleared, drops it when a change of model would activate it", async () => {
			await using session = await withRewind(pi, {}, openSession);
			clear(session);
			await session.setModel("model-b");
			await isDropped(session);
		});

		test("cleared, drops it at a compaction, whose summary is then made of all that it would have hidden", async () => {
			const settings = { compaction: { keepRecentTokens: 10 } };
			await using session = await withRewind(pi, { settings }, openSession);
			clear(session);
			let summarized: unknown;
			session.otherwise(({ messages }) => {
				summarized ??= messages;
				return "SUMMARY";
			});
			await session.compact();
			expect(statuses(session)).toEqual(["queued", "dropped"]);
			expect(containsText(summarized, "WRONG-WAY")).toBe(true);
			expect(records(session, "mulligan:rewind")).toEqual([]);
		});

		test("cleared before the session was closed, drops it at a resume that breaks the cache", async () => {
			const first = await withRewind(pi, {}, openSession);
			clear(first);
			const now = Date.now();
			vi.spyOn(Date, "now").mockImplementation(() => now + 6 * 60_000);
			onTestFinished(() => void vi.restoreAllMocks());
			await using session = await first.reopen();
			await isDropped(session);
		});

		test("cleared in the very turn of the rewind, drops it before it is stored, and its result says so", async () => {
			let session: TestSession | undefined;
			const human = () => {
				if (session) clear(session);
				return "ok";
			};
			await using opened = await withCheckpoint(pi, { tools: { ...tools, human } });
			session = opened;
			session.script("wrong", { calls: [toCheckpoint("c1"), call.tool("c2", "human")] }, "done");
			await session.prompt("WRONG-WAY");
			await session.prompt("again");
			expect(answers(session)[0]).toContain(`Dropped: ${reason}. The messages stay in the view.`);
			expect(containsText(session.lastRequest.messages, "WRONG-WAY")).toBe(true);
			expect(records(session, "mulligan:rewind")).toEqual([]);
			expect(drops(session)).toHaveLength(1);
		});

		test("moved to a later message, drops it: the human has not allowed what lies between", async () => {
			await using session = await withRewind(pi, {}, openSession);
			const prompts = session
				.branch()
				.flatMap((entry) => (entry.type === "message" && entry.message.role === "user" ? [entry.id] : []));
			clear(session);
			session.sessionManager.appendLabelChange(prompts[1] ?? "", "mulligan:checkpoint:start");
			await session.setModel("model-b");
			await isDropped(session, 'the user has moved the checkpoint "start"');
			expect(banner(session)).toEqual([lineOf("start")]);
		});

		test("moved to an earlier message, leaves it: what it hides is allowed", async () => {
			await using session = await withRewind(pi, {}, openSession);
			clear(session);
			session.sessionManager.appendLabelChange(first(session, "user"), "mulligan:checkpoint:start");
			await session.setModel("model-b");
			expect(statuses(session)).toEqual(["queued", "activated"]);
			expect(session.sessionManager.getLabel(first(session, "user"))).toBeUndefined();
			expect(drops(session)).toEqual([]);
		});

		test("replaced by a bookmark of the human, drops it and leaves the bookmark", async () => {
			await using session = await withRewind(pi, {}, openSession);
			const entry = session.entries().find(isCheckpoint)?.id ?? "";
			session.sessionManager.appendLabelChange(entry, "mine");
			await session.setModel("model-b");
			await isDropped(session);
			expect(session.sessionManager.getLabel(entry)).toBe("mine");
		});

		test("cleared of one of two entries, leaves it: the older one still allows more", async () => {
			await using session = await withCheckpoint(pi, {}, openSession);
			session.sessionManager.appendLabelChange(first(session, "user"), "mulligan:checkpoint:start");
			session.script("wrong", { calls: [toCheckpoint("c1")] }, "back");
			await session.prompt("WRONG-WAY");
			await session.prompt("again");
			clear(session);
			await session.setModel("model-b");
			expect(statuses(session)).toEqual(["queued", "activated"]);
			expect(session.sessionManager.getLabel(first(session, "user"))).toBeUndefined();
		});
	});

	describe("the banner", () => {
		test("is back after a resume, a reload and in a fork, and gone in a new session", async () => {
			await using first = await withCheckpoint(pi);
			await using session = await first.reopen();
			expect(banner(session)).toEqual([lineOf("start")]);
			session.ui.widgets.clear();
			await session.reload();
			expect(banner(session)).toEqual([lineOf("start")]);
			session.ui.widgets.clear();
			await session.fork(session.sessionManager.getLeafId() ?? "", "at");
			expect(banner(session)).toEqual([lineOf("start")]);
			await session.newSession();
			expect(banner(session)).toBeUndefined();
		});

		test("follows /tree: a checkpoint of another branch does not count", async () => {
			await using session = await withCheckpoint(pi);
			const leaf = session.sessionManager.getLeafId() ?? "";
			session.script("elsewhere");
			await session.navigateTree(first(session, "assistant"));
			expect(banner(session)).toBeUndefined();
			await session.prompt("/mulligan_checkpoint_revoke start");
			expect(told(session)).toContain("None is active.");
			await session.prompt("on");
			session.script({ calls: [toCheckpoint("c1")] }, "done");
			await session.prompt("back");
			expect(answers(session).at(-1)).toMatch(/^Mulligan: refused — no checkpoint "start" is set on this branch/);
			await session.navigateTree(leaf);
			expect(banner(session)).toEqual([lineOf("start")]);
		});

		test("is gone once a compaction has taken its place away; the checkpoint can still be revoked", async () => {
			await using session = await withCheckpoint(pi, {
				settings: { mulligan: atOnce, compaction: { keepRecentTokens: 10 } },
			});
			session.otherwise("SUMMARY");
			for (const text of ["one", "two"]) await session.prompt(`${text} ${"more ".repeat(40)}`);
			expect(banner(session)).toEqual([lineOf("start")]);
			await session.compact();
			expect(banner(session)).toBeUndefined();
			await session.prompt("/mulligan_checkpoint_revoke start");
			expect(told(session)).toContain('"start" is revoked');
		});

		test("follows labels that the human edits in /tree between prompts, from the next request on", async () => {
			await using session = await withCheckpoint(pi);
			const entry = session.entries().find(isCheckpoint);
			session.sessionManager.appendLabelChange(entry?.id ?? "", "mine");
			session.sessionManager.appendLabelChange(first(session, "assistant"), "mulligan:checkpoint:by-hand");
			let seen: unknown;
			session.script(() => {
				seen = banner(session);
				return "ok";
			});
			await session.prompt("on");
			expect(seen).toEqual([lineOf("by-hand")]);
		});

		test("follows a label that the human clears during a run, from the next request on", async () => {
			let session: TestSession | undefined;
			const clear = () => {
				const entry = session?.entries().find(isCheckpoint);
				session?.sessionManager.appendLabelChange(entry?.id ?? "", undefined);
				return "ok";
			};
			await using opened = await withCheckpoint(pi, { tools: { clear } });
			session = opened;
			session.script({ calls: [call.tool("c1", "clear")] }, "ok");
			await session.prompt("on");
			expect(banner(session)).toBeUndefined();
		});

		test("follows a label that the human sets during a run, from the next request on", async () => {
			let session: TestSession | undefined;
			const set = () => {
				const place = session ? first(session, "assistant") : "";
				session?.sessionManager.appendLabelChange(place, "mulligan:checkpoint:by-hand");
				return "ok";
			};
			await using opened = await openAtOnce({ pi, tools: { set } });
			session = opened;
			let seen: unknown;
			session.script({ calls: [call.tool("c1", "set")] }, () => {
				seen = banner(opened);
				return "ok";
			});
			await session.prompt("on");
			expect(seen).toEqual([lineOf("by-hand")]);
		});

		test("is not shown again while it stays the same", async () => {
			const setWidget = vi.fn();
			await using session = await withCheckpoint(pi, { uiContext: { setWidget } });
			setWidget.mockClear();
			session.script({ calls: [call.tool("c1", "grep")] }, "ok", "ok");
			await session.prompt("on");
			await session.prompt("and on");
			expect(setWidget).not.toHaveBeenCalled();
		});

		test("is never shown with ui.activeCheckpointBanner false, and the checkpoint works", async () => {
			const settings = { mulligan: { ...atOnce, ui: { activeCheckpointBanner: false } } };
			await using session = await withCheckpoint(pi, { settings });
			expect(banner(session)).toBeUndefined();
			expect(labels(session)).toEqual(["mulligan:checkpoint:start"]);
			await using resumed = await session.reopen();
			resumed.script("ok");
			await resumed.prompt("on");
			expect(banner(resumed)).toBeUndefined();
		});
	});

	test("without a user interface the answers of the commands arrive on standard error", async () => {
		const written = vi.spyOn(process.stderr, "write").mockReturnValue(true);
		onTestFinished(() => written.mockRestore());
		await using session = await withCheckpoint(pi, { mode: "print" });
		await session.prompt("/mulligan_checkpoint_revoke none");
		await session.prompt("/mulligan_checkpoint_revoke start");
		const lines = written.mock.calls.map(([text]) => String(text));
		expect(lines).toEqual([
			expect.stringContaining('"start" is set here'),
			expect.stringContaining('no checkpoint "none"'),
			expect.stringContaining('"start" is revoked'),
		]);
	});
});
