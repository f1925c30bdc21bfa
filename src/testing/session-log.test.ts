import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { containsText, openSession, piVersions, type SessionLog, sessionLog, shape } from "./index.ts";

const folder = mkdtempSync(join(tmpdir(), "mulligan-log-"));
afterAll(() => rmSync(folder, { recursive: true }));

function longLog(entries: number): SessionLog {
	const log = sessionLog();
	while (log.entries().length < entries) {
		log.user("next");
		for (let i = 0; i < 100; i++) log.batch([{ name: "read", args: { path: `${i}.ts` }, result: "line\n".repeat(20) }]);
	}
	return log;
}

test("the same calls write the same bytes", () => {
	const [a, b] = [1, 2].map((n) => readFileSync(longLog(500).write(join(folder, `${n}/log.jsonl`)), "utf8"));
	expect(a).toBe(b);
});

test("every entry hangs below the one before, a second later, unless it starts a branch", () => {
	const log = sessionLog({ startedAt: 0 });
	const first = log.user("a");
	const left = log.assistant("b");
	log.branchFrom(first);
	const other = log.assistant("c");
	log.branchFrom(null);
	log.user("d");
	expect(log.entries().map(({ id, parentId, timestamp }) => [id, parentId, timestamp])).toEqual([
		[first, null, "1970-01-01T00:00:01.000Z"],
		[left, first, "1970-01-01T00:00:02.000Z"],
		[other, first, "1970-01-01T00:00:03.000Z"],
		["00000004", null, "1970-01-01T00:00:04.000Z"],
	]);
	expect(log.leaf).toBe("00000004");
});

test("an answer names the model that was chosen last", () => {
	const log = sessionLog({ model: "one" });
	log.assistant("a");
	log.modelChange("two", "elsewhere");
	log.assistant("b");
	expect(log.entries()).toMatchObject([
		{ message: { model: "one", provider: "scripted" } },
		{ modelId: "two", provider: "elsewhere" },
		{ message: { model: "two", provider: "elsewhere" } },
	]);
});

test("a result needs its call", () => {
	expect(() => sessionLog().result("c9", "x")).toThrow('No call "c9" stands before its result.');
});

describe.each(piVersions())("with Pi $version", (pi) => {
	const open = (log: SessionLog) => openSession({ pi, log, extensionPaths: [] });

	test("a log of 20,000 entries opens as it was built", async () => {
		const log = longLog(20_000);
		await using session = await open(log);
		const opened = session.branch().slice(0, log.entries().length);
		expect(JSON.stringify(opened) === JSON.stringify(log.entries())).toBe(true);
	});

	test("names, levels and models are restored", async () => {
		const log = sessionLog();
		log.sessionName("a name");
		log.modelChange("model-a");
		log.thinkingLevel("off");
		log.user("hi");
		await using session = await open(log);
		expect([session.session.sessionName, session.session.model?.id, session.session.thinkingLevel]).toEqual([
			"a name",
			"model-a",
			"off",
		]);
	});

	test("prompts and context edits count where Pi knows them", async () => {
		const log = sessionLog();
		const prompt = log.system({ content: "OLD PROMPT", toolsAdded: [] });
		const [hidden, changed] = [log.user("hidden"), log.user("before")];
		log.contextEdit(hidden, null);
		log.contextEdit(changed, "after");
		await using session = await open(log);
		session.script("ok");
		await session.prompt("go");
		const knowsEdits = typeof session.sessionManager.buildSessionProjection === "function";
		expect(shape(session.lastRequest.messages)).toEqual(
			knowsEdits ? ["user: after", "user: go"] : ["user: hidden", "user: before", "user: go"],
		);
		expect(session.sessionManager.getEntry(prompt)).toBeDefined();
		expect(containsText(session.lastRequest.raw, "OLD PROMPT")).toBe(
			session.lastRequest.raw.systemPrompt === undefined,
		);
	});
});
