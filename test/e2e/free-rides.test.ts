import { afterEach, describe, expect, test, vi } from "vitest";
import {
	containsText,
	type OpenSessionOptions,
	openSession,
	orphans,
	type PiVersion,
	piVersions,
	type TestSession,
	textOf,
} from "../../src/testing/index.ts";
import { bulk, call, records } from "../support/mulligan.ts";

const edges = piVersions().filter(({ name }) => name === "oldest" || name === "newest");
const models = [{ id: "model-a" }, { id: "model-b" }];
const tools = { grep: () => bulk("GREP"), log: () => bulk("LOG"), data: () => bulk("DATA") };
const rewrites = { maxMoments: 1, flushShedTokens: 1e6 };
const statuses = (session: TestSession) => records(session, "mulligan:queued").map(({ status }) => status);
const isWhole = (session: TestSession, needle: string) => containsText(session.lastRequest.messages, `${needle}\n0123`);
const minuteMs = 60_000;

afterEach(() => vi.useRealTimers());

/** A session whose first prompt rewinds a grep and whose second shrinks a log; both wait. */
async function waiting(pi: PiVersion, { settings, ...more }: Partial<OpenSessionOptions> = {}): Promise<TestSession> {
	const session = await openSession({ pi, tools, models, settings: { mulligan: { rewrites }, ...settings }, ...more });
	session.script({ calls: [call.tool("g", "grep")] }, { calls: [call.rewind("r")] }, "first");
	session.script(
		{ calls: [call.tool("l", "log")] },
		{ calls: [call.shrink("s", { by_tool_name: "log" }, "SHORT")] },
		"second",
	);
	await session.prompt("go");
	await session.prompt("on");
	expect(statuses(session)).toEqual(["queued", "queued"]);
	expect(["GREP", "LOG"].map((needle) => isWhole(session, needle))).toEqual([true, true]);
	return session;
}

function expectAllActive(session: TestSession): void {
	expect(["GREP", "LOG"].map((needle) => isWhole(session, needle))).toEqual([false, false]);
	expect(containsText(session.lastRequest.messages, "<context-shrunk>\nSHORT\n</context-shrunk>")).toBe(true);
	expect(orphans(session.lastRequest.messages)).toEqual({ calls: [], results: [] });
}

const notes = (session: TestSession) =>
	session.lastRequest.messages.map((message) => textOf(message)).filter((text) => text.startsWith("Rewound"));

describe.each(edges)("with Pi $version", (pi) => {
	describe("a compaction", () => {
		/** Keeps what came after the grep, the log among it. */
		const settings = { compaction: { keepRecentTokens: 270 } };

		test("takes what waits along: hidden from the summary, and in force after it", async () => {
			await using session = await waiting(pi, { settings });
			const before = session.requests.length;
			session.otherwise("SUMMARY");
			await session.compact();
			const asked = session.requests.slice(before);
			expect(asked.length).toBeGreaterThan(0);
			expect(containsText(asked, "[User]: go")).toBe(true);
			expect([containsText(asked, "GREP\n0123"), containsText(asked, "LOG\n0123")]).toEqual([false, false]);
			expect(statuses(session)).toEqual(["queued", "queued", "activated", "activated"]);
			expect(records(session, "mulligan:rewind")).toHaveLength(1);
			await session.prompt("and on");
			expectAllActive(session);
			expect(containsText(session.lastRequest.messages, "SUMMARY")).toBe(true);
			expect(notes(session)).toEqual([expect.stringMatching(/^Rewound now \(asked for earlier\): /)]);
			await using resumed = await session.reopen();
			resumed.script("ok");
			await resumed.prompt("again");
			expectAllActive(resumed);
			expect(notes(resumed)).toHaveLength(1);
		});

		test("that starts by itself does so too, and no request is added", async () => {
			const size = { contextWindow: 24_000, maxTokens: 1000 };
			await using session = await waiting(pi, {
				models: [{ id: "model-a", ...size }],
				settings: { compaction: { enabled: true, reserveTokens: 4000, keepRecentTokens: 150 } },
			});
			const before = session.requests.length;
			session.script({ text: "third", usage: { input: 21_000 } }, "SUMMARY");
			session.otherwise("SUMMARY");
			await session.prompt("full");
			await session.idle();
			expect(session.entries().filter(({ type }) => type === "compaction")).toHaveLength(1);
			expect(statuses(session).slice(2)).toEqual(["activated", expect.stringMatching(/activated|dropped/)]);
			const summaries = session.requests.slice(before + 1);
			expect(containsText(summaries, "GREP\n0123")).toBe(false);
			expect(containsText(summaries, "LOG\n0123")).toBe(false);
			expect([summaries.length, session.entries().at(-1)?.type]).toEqual([2, "custom_message"]);
			await session.prompt("and on");
			expect(["GREP", "LOG"].map((needle) => isWhole(session, needle))).toEqual([false, false]);
			expect(notes(session)).toHaveLength(1);
			expect(orphans(session.lastRequest.messages)).toEqual({ calls: [], results: [] });
		});

		test.each([
			["fails", { error: "no summary today" }],
			["is stopped by the human", { text: "late", delayMs: minuteMs }],
		])("that %s leaves the queue as it was, for the next to take along", async (how, step) => {
			await using session = await waiting(pi, { settings });
			const before = session.requests.length;
			session.otherwise(step);
			const compaction = session.compact().then(
				() => "done",
				() => "not done",
			);
			if (how !== "fails") {
				await vi.waitFor(() => expect(session.requests.length).toBeGreaterThan(before));
				session.session.abortCompaction();
			}
			expect(await compaction).toBe("not done");
			session.script("ok");
			await session.prompt("and on");
			expect(statuses(session)).toEqual(["queued", "queued"]);
			expect(["GREP", "LOG"].map((needle) => isWhole(session, needle))).toEqual([true, true]);
			session.otherwise("SUMMARY");
			await session.compact();
			expect(statuses(session)[2]).toBe("activated");
		});
	});

	describe("a change of model", () => {
		test("takes what waits along, and spends nothing", async () => {
			await using session = await waiting(pi);
			await session.setModel("model-b");
			session.script({ calls: [call.tool("x", "mulligan_audit")] }, "ok");
			await session.prompt("and on");
			expectAllActive(session);
			expect(containsText(session.lastRequest.messages, "Moments: 0 of 1 spent.")).toBe(true);
		});

		test("to the same model is none", async () => {
			await using session = await waiting(pi);
			await session.setModel("model-a");
			session.script("ok");
			await session.prompt("and on");
			expect(statuses(session)).toEqual(["queued", "queued"]);
			expect(["GREP", "LOG"].map((needle) => isWhole(session, needle))).toEqual([true, true]);
		});
	});

	describe("a cancel", () => {
		/** The same with an active shrink, of data, in the first prompt already: the session's one moment. */
		async function withActive(): Promise<TestSession> {
			const session = await openSession({ pi, tools, settings: { mulligan: { rewrites } } });
			const shrinkData = (id: string, text: string) => call.shrink(id, { by_tool_name: "data" }, text);
			session.script(
				{ calls: [call.tool("d", "data")] },
				{ calls: [shrinkData("s1", "ONE"), shrinkData("s2", "TWO")] },
				{ calls: [call.tool("l", "log")] },
				{ calls: [call.shrink("s3", { by_tool_name: "log" }, "SHORT")] },
				"done",
			);
			await session.prompt("go");
			expect([isWhole(session, "DATA"), isWhole(session, "LOG")]).toEqual([false, true]);
			return session;
		}

		test("that brings text back takes what waits along", async () => {
			await using session = await withActive();
			session.script({ calls: [call.cancel("k", { target: { by_tool_call_id: "d" } })] }, "ok");
			await session.prompt("on");
			expect([isWhole(session, "LOG"), containsText(session.lastRequest.messages, "ONE\n</")]).toEqual([false, true]);
			expect(statuses(session)).toEqual(["queued", "activated"]);
		});

		test("that finds nothing, or is of what waits, takes nothing along", async () => {
			await using session = await withActive();
			session.script(
				{ calls: [call.cancel("k1", { markerId: "nowhere" })] },
				{ calls: [call.tool("g", "grep")] },
				{ calls: [call.rewind("r")] },
				{ calls: [call.cancel("k2", { target: { by_tool_call_id: "g" } })] },
				"ok",
			);
			await session.prompt("on");
			expect([isWhole(session, "LOG"), isWhole(session, "GREP")]).toEqual([true, true]);
			expect(statuses(session)).toEqual(["queued", "queued", "cancelled"]);
		});

		test("of a shrink whose result has left the context changes no view: nothing rides", async () => {
			await using session = await withActive();
			const id = String(records(session, "mulligan:shrink")[1]?.id);
			session.sessionManager.appendCompaction("SUMMARY", entryOfCall(session, "l"), 1000);
			session.script({ calls: [call.cancel("k", { markerId: id })] }, "ok");
			await session.reload();
			await session.prompt("on");
			expect(records(session, "mulligan:cancel")).toMatchObject([{ targetId: id }]);
			expect(isWhole(session, "LOG")).toBe(true);
			expect(statuses(session)).toEqual(["queued"]);
		});
	});

	describe("a pause", () => {
		/** Only the clock is changed: timers go on. */
		const setTime = (ms: number) => {
			vi.useFakeTimers({ toFake: ["Date"] });
			vi.setSystemTime(ms);
		};

		test.each([
			["of five minutes before a resume takes nothing along", 5 * minuteMs, false],
			["of more than five does", 5 * minuteMs + 1, true],
		])("%s", async (_what, pauseMs, rides) => {
			await using first = await waiting(pi);
			const newest = first.branch().findLast((entry) => entry.type === "message")?.message.timestamp ?? 0;
			setTime(newest + pauseMs);
			await using session = await first.reopen();
			session.script("ok");
			await session.prompt("and on");
			if (rides) expectAllActive(session);
			else expect(["GREP", "LOG"].map((needle) => isWhole(session, needle))).toEqual([true, true]);
			expect(statuses(session)).toHaveLength(rides ? 4 : 2);
		});

		test("before a reload takes nothing along: the session goes on", async () => {
			await using session = await waiting(pi);
			setTime(Date.now() + 60 * minuteMs);
			await session.reload();
			session.script("ok");
			await session.prompt("and on");
			expect(statuses(session)).toEqual(["queued", "queued"]);
		});
	});
});

function entryOfCall(session: TestSession, callId: string): string {
	const makesCall = (content: unknown) => JSON.stringify(content).includes(`"toolCall","id":"${callId}"`);
	const entry = session
		.branch()
		.find((one) => one.type === "message" && "content" in one.message && makesCall(one.message.content));
	return entry?.id ?? "";
}
