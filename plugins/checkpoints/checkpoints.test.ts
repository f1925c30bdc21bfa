import type { SessionEntry } from "@earendil-works/pi-coding-agent";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import {
	containsText,
	openSession,
	orphans,
	piVersions,
	sessionLog,
	type TestSession,
	textOf,
} from "../../src/testing/index.ts";
import { atOnce, bulk, call, openAtOnce, records } from "../../test/support/mulligan.ts";
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
type Options = NonNullable<Parameters<typeof openSession>[0]>;

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

		test.each(["", "Start", "two words", "a/b", "x".repeat(41)])("refuses the name %j", async (name) => {
			await using session = await openSession({ pi, tools });
			session.script("hello");
			await session.prompt("go");
			await session.prompt(`/mulligan_checkpoint ${name}`);
			expect(told(session)).toBe(
				`Mulligan: refused — a checkpoint needs a name of 1 to 40 of a-z, 0-9, _ and -; got "${name}".`,
			);
			expect(records(session, "mulligan:checkpoint")).toEqual([]);
			expect(banner(session)).toBeUndefined();
		});

		test("is refused while there is no message", async () => {
			await using session = await openSession({ pi });
			await session.prompt("/mulligan_checkpoint start");
			expect(told(session)).toBe("Mulligan: refused — there is no message yet that the checkpoint could stand after.");
			expect(records(session, "mulligan:checkpoint")).toEqual([]);
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

		test("is completed by the active names", async () => {
			await using session = await withCheckpoint(pi);
			for (const name of ["stop", "other", "gone"]) await session.prompt(`/mulligan_checkpoint ${name}`);
			await session.prompt("/mulligan_checkpoint_revoke gone");
			const command = session.session.extensionRunner.getCommand("mulligan_checkpoint_revoke");
			const completed = async (prefix: string) =>
				(await command?.getArgumentCompletions?.(prefix))?.map(({ value }) => value);
			expect(await completed("")).toEqual(["start", "stop", "other"]);
			expect(await completed("st")).toEqual(["start", "stop"]);
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
