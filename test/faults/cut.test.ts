import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { faultsOfForm } from "../../src/testing/conformance/form.ts";
import { containsText, openSession, type PiVersion, piVersions, type TestSession } from "../../src/testing/index.ts";
import { ConfigFolders } from "../support/config.ts";
import { bulk, call, records } from "../support/mulligan.ts";

/** Points at which a session's process is killed, for each Pi. */
const CUTS = 100;

const mulligan = { rewrites: { maxMoments: 3, flushShedTokens: 200 } };
const settings = { mulligan, compaction: { enabled: false, keepRecentTokens: 200 } };
const tools = { grep: ({ mark }: Record<string, unknown>) => bulk(`MARK-${mark}-`, 20) };
const search = (id: string) => call.tool(id, "grep", { mark: id });

/** A session in which ops wait, become active, are cancelled, ride a compaction, and use up a checkpoint. */
async function record(pi: PiVersion): Promise<Buffer> {
	await using session = await openSession({ pi, settings, tools });
	const play = async (prompt: string, ...steps: readonly object[]) => {
		session.script(...(steps as never[]), `answer to ${prompt}`);
		await session.prompt(prompt);
	};
	await play(
		"first",
		{ calls: [search("a1"), search("a2"), search("a3")] },
		{ calls: [call.shrink("s1", { by_tool_call_id: "a1" }, "short a1")] },
		{ calls: [call.shrink("s2", { by_tool_call_id: "a2" }, "short a2"), call.shrink("s3", { by_tool_call_id: "a3" })] },
	);
	await play(
		"second",
		{ calls: [search("b1"), search("b3"), search("b4")] },
		{ calls: [call.rewind("r1")] },
		{ calls: [search("b2")] },
	);
	const newest = () => ({ calls: [call.cancel("x1", { markerId: records(session, "mulligan:rewind").at(-1)?.id })] });
	await play("third", newest, { calls: [search("c1")] });
	expect(records(session, "mulligan:cancel")).toHaveLength(1);
	await session.prompt("/mulligan_checkpoint here");
	await play("fourth", { calls: [search("d1")] });
	await play("fifth", { calls: [call.rewind("r2", { granularity: "checkpoint", checkpoint: "here" })] });
	await play("sixth", { calls: [search("e1")] }, { calls: [call.shrink("s4", { by_tool_call_id: "e1" }, "short e1")] });
	await session.prompt("/mulligan_audit");
	session.otherwise("SUMMARY");
	await session.session.compact();
	await play("seventh", { calls: [search("f1"), search("f2")] }, { calls: [call.rewind("r3")] });
	expect(session.errors).toEqual([]);
	return readFileSync(session.sessionFile as string);
}

interface Line {
	readonly id?: string;
	readonly type: string;
	readonly customType?: string;
	readonly data?: { id: string; targetId: string; hideEntryIds?: string[]; pinnedEntryId?: string; status?: string };
	readonly message?: { role: string; toolCallId?: string; content?: readonly { type: string; id: string }[] };
}

/** What a session file says, read without any code of ours: what is hidden or shrunk, and which ops wait. */
function standing(lines: readonly Line[]) {
	const all = (type: string) => lines.flatMap(({ customType, data }) => (customType === type && data ? [data] : []));
	const retired = new Set(all("mulligan:cancel").map(({ targetId }) => targetId));
	const markers = [...all("mulligan:rewind"), ...all("mulligan:shrink")].filter(({ id }) => !retired.has(id));
	const covered = new Set(markers.flatMap(({ hideEntryIds, pinnedEntryId }) => hideEntryIds ?? [pinnedEntryId]));
	const waits = new Map<string, string | undefined>();
	for (const { id, status } of all("mulligan:queued")) waits.set(id, status);
	return { covered, waiting: [...waits].flatMap(([id, status]) => (status === "queued" ? [id] : [])) };
}

/** The calls whose results the file doesn't have. */
function cutCalls(lines: readonly Line[]): readonly string[] {
	const answered = new Set(lines.map(({ message }) => message?.toolCallId));
	const called = lines.findLast(({ message }) => message?.role === "assistant")?.message?.content ?? [];
	return called.flatMap(({ type, id }) => (type === "toolCall" && !answered.has(id) ? [id] : []));
}

function linesOf(text: string): readonly Line[] {
	return text.split("\n").flatMap((line) => {
		try {
			return [JSON.parse(line) as Line];
		} catch {
			return [];
		}
	});
}

/** Numbers from 0 to 1, the same at each run. */
function numbers(seed: number): () => number {
	let state = seed;
	return () => {
		state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
		return state / 2 ** 31;
	};
}

/** The marks of the results that the file still has in the context. */
function marks(session: TestSession, covered: ReadonlySet<string | undefined>, isCovered: boolean): readonly string[] {
	const compacted = session.branch().findLast(({ type }) => type === "compaction");
	const kept = compacted?.type === "compaction" ? compacted.firstKeptEntryId : undefined;
	const entries = session.branch();
	const from = kept ? entries.findIndex(({ id }) => id === kept) : 0;
	return entries.slice(from).flatMap((entry) => {
		if (entry.type !== "message" || entry.message.role !== "toolResult" || entry.message.toolName !== "grep") return [];
		return covered.has(entry.id) === isCovered ? [`MARK-${entry.message.toolCallId}-`] : [];
	});
}

describe.each(piVersions())("killed at any point, with Pi $version", (pi) => {
	test(`a session goes on with what its file says, at each of ${CUTS} points`, { timeout: 600_000 }, async () => {
		const whole = await record(pi);
		const head = whole.indexOf("\n") + 1;
		const next = numbers(20_26);
		using folders = new ConfigFolders();
		const seen = { covered: 0, waiting: 0, torn: 0 };
		for (let count = 0; count < CUTS; count++) {
			const cut = head + Math.floor(next() * (whole.length - head));
			const file = join(folders.agentDir, `sessions/cut-${count}.jsonl`);
			mkdirSync(dirname(file), { recursive: true });
			const left = whole.subarray(0, cut);
			writeFileSync(file, left);
			const before = linesOf(left.toString("utf8"));
			const { covered, waiting } = standing(before);
			await using session = await openSession({ pi, settings, tools, sessionFile: file });
			session.otherwise("on");
			await session.prompt("and now?");

			const where = `cut at byte ${cut}`;
			const { messages } = session.lastRequest;
			// Pi itself answers a call that the process was killed in.
			const unanswered = cutCalls(before).map((id) => `the call ${id} has no result`);
			const open = faultsOfForm(messages).filter((fault) => !unanswered.includes(fault));
			expect([where, open]).toEqual([where, []]);
			expect([where, session.errors]).toEqual([where, []]);
			for (const mark of marks(session, covered, true))
				expect([where, mark, containsText(messages, mark)]).toEqual([where, mark, false]);
			for (const mark of marks(session, covered, false))
				expect([where, mark, containsText(messages, mark)]).toEqual([where, mark, true]);
			expect([where, standing(linesOf(readFileSync(file, "utf8"))).waiting]).toEqual([where, waiting]);
			expect(
				readFileSync(file)
					.subarray(0, left.lastIndexOf("\n") + 1)
					.equals(left.subarray(0, left.lastIndexOf("\n") + 1)),
			).toBe(true);
			if (covered.size > 0) seen.covered++;
			if (waiting.length > 0) seen.waiting++;
			if (left.at(-1) !== 10) seen.torn++;
		}
		expect(Math.min(seen.covered, seen.waiting, seen.torn)).toBeGreaterThan(CUTS / 10);
	});
});
