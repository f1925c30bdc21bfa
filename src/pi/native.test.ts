import type { ExtensionAPI, SessionEntry } from "@earendil-works/pi-coding-agent";
import { describe, expect, test } from "vitest";
import { atOnce, bulk, call, records, wire } from "../../test/support/mulligan.ts";
import { faultsOfForm } from "../testing/conformance/form.ts";
import {
	containsText,
	openSession,
	type PiVersion,
	piVersions,
	type Step,
	type TestSession,
} from "../testing/index.ts";

type Edit = Extract<SessionEntry, { type: "context_edit" }>;

const tools = { grep: ({ mark }: Record<string, unknown>) => bulk(`MARK-${mark}-`) };
const search = (...marks: string[]): Step => ({
	text: `looking for ${marks.join()}`,
	calls: marks.map((mark) => call.tool(mark, "grep", { mark })),
});
const shrink = (id: string, of: string, words = `SHORT-${of}-`): Step => ({
	calls: [call.shrink(id, { by_tool_call_id: of }, words)],
});
const rewind = (id: string): Step => ({ calls: [call.rewind(id)] });
/** Takes the newest marker back. */
const cancel =
	(id: string, session: () => TestSession): Step =>
	() => {
		const markers = [...records(session(), "mulligan:rewind"), ...records(session(), "mulligan:shrink")];
		const taken = new Set(records(session(), "mulligan:cancel").map(({ targetId }) => targetId));
		const newest = markers
			.filter((marker) => !taken.has(marker.id))
			.sort((a, b) => Number(a.seq) - Number(b.seq))
			.at(-1);
		return { calls: [call.cancel(id, { markerId: newest?.id })] };
	};

const open = (pi: PiVersion, more: object = {}) =>
	openSession({ pi, tools, settings: { mulligan: { ...atOnce, ...more }, compaction: { enabled: false } } });
const play = async (session: TestSession, prompt: string, ...steps: readonly Step[]) => {
	session.script(...steps, `answer to ${prompt}`);
	await session.prompt(prompt);
};
const edits = (session: TestSession): readonly Edit[] =>
	session.entries().filter((entry): entry is Edit => entry.type === "context_edit");

/** An edit as its target's call or role, and what stands in its place. */
const told = (session: TestSession) =>
	edits(session).map(({ targetId, replacement }) => {
		const entry = session.entries().find(({ id }) => id === targetId);
		const message = entry?.type === "message" ? entry.message : undefined;
		const target = message?.role === "toolResult" ? message.toolCallId : (message?.role ?? entry?.type);
		return `${target}: ${
			replacement === null
				? "out"
				: JSON.stringify(replacement.content)
						.replace(/^.*"text":"([^"]*)".*$/, "$1")
						.slice(0, 40)
		}`;
	});

/** What messages say, by role, without times, bills and ids. */
const said = (messages: TestSession["requests"][number]["messages"]) =>
	messages.map((message) => `${message.role} ${JSON.stringify("content" in message && message.content)}`);

const hasEdits = ({ version }: PiVersion) => {
	const [major = 0, minor = 0] = version.split(".").map(Number);
	return major > 0 || minor >= 87;
};

describe.each(piVersions())("with Pi $version", (pi) => {
	test("what an op hides or shrinks becomes Pi's own edits at the end of its turn, once", async () => {
		await using session = await open(pi);
		await play(session, "one", search("a", "b"), shrink("s", "a"), search("c"), rewind("r"));
		if (!hasEdits(pi)) return expect(edits(session)).toEqual([]);
		const made = ["a: <context-shrunk>\\nSHORT-a-\\n</context-sh", "assistant: out", "c: out"];
		expect(told(session)).toEqual(made);
		const count = session.entries().length;
		await play(session, "two");
		await play(session, "three");
		expect(told(session)).toEqual(made);
		expect(records(session, "mulligan:mirror")).toHaveLength(2);
		expect(session.entries().length - count).toBeLessThanOrEqual(6);
		const branch = session.branch();
		for (const [at, entry] of branch.entries())
			if (entry.type === "context_edit") expect(["context_edit", "custom"]).toContain(branch[at - 1]?.type);
		expect(session.errors).toEqual([]);
	});

	test("the requests are those of a session that keeps it all in the view", async () => {
		const steps = async (session: TestSession) => {
			await play(session, "one", search("a", "b"), shrink("s", "a"), search("c"), rewind("r"));
			await play(
				session,
				"two",
				cancel("x", () => session),
				search("d"),
				shrink("t", "d"),
				shrink("u", "d", "EVEN SHORTER"),
			);
			await play(
				session,
				"three",
				cancel("y", () => session),
			);
			return session.requests.map(({ messages }) => said(messages).map((line) => line.replace(/[0-9a-f-]{36}/g, "id")));
		};
		await using first = await open(pi);
		const auto = await steps(first);
		await using second = await open(pi, { persistence: "view" });
		expect(await steps(second)).toEqual(auto);
		expect(edits(second)).toEqual([]);
		for (const { messages } of first.requests) expect(faultsOfForm(messages)).toEqual([]);
	});

	test("a cancel gives the original back byte for byte, with its signatures", async () => {
		await using session = await open(pi);
		const signed: Step = { thinking: "hm", text: "looking", calls: [call.tool("a", "grep", { mark: "a" })] };
		await play(session, "one", signed, rewind("r"));
		expect(containsText(session.lastRequest.messages, "MARK-a-")).toBe(false);
		await play(
			session,
			"two",
			cancel("x", () => session),
		);
		const originals = session.entries().flatMap((entry) => (entry.type === "message" ? [entry.message] : []));
		for (const role of ["assistant", "toolResult"] as const) {
			const original = originals.find(
				(message) => message.role === role && containsText(message, role === "assistant" ? "looking" : "MARK-a-"),
			);
			const sent = session.lastRequest.messages.find(
				(message) => message.role === role && containsText(message, role === "assistant" ? "looking" : "MARK-a-"),
			);
			expect(JSON.stringify(sent && "content" in sent && sent.content)).toBe(
				JSON.stringify(original && "content" in original && original.content),
			);
		}
		const before = told(session).length;
		await play(session, "three");
		expect(told(session)).toHaveLength(before);
	});

	test.each(["/mulligan undo", "/mulligan restore"])(
		"%s gives the originals back to the very next request",
		async (command) => {
			await using session = await open(pi);
			await play(session, "one", search("a"), shrink("s", "a"));
			expect(containsText(session.lastRequest.messages, "MARK-a-")).toBe(false);
			await session.prompt(command);
			await play(session, "two");
			expect(containsText(session.requests.at(-1)?.messages, "MARK-a-")).toBe(true);
			expect(containsText(session.lastRequest.messages, "SHORT-a-")).toBe(true);
			expect(containsText(session.lastRequest.messages, "context-shrunk")).toBe(false);
		},
	);

	test("restore does so as well while mulligan is off, and what it is left to hide stays hidden", async () => {
		await using first = await open(pi);
		await play(first, "one", search("a"), rewind("r"));
		await using session = await first.reopen({ settings: { mulligan: { ...atOnce, enabled: false } } });
		await play(session, "two");
		const isHidden = !containsText(session.lastRequest.messages, "MARK-a-");
		expect(isHidden).toBe(hasEdits(pi));
		await session.prompt("/mulligan restore");
		await play(session, "three");
		expect(containsText(session.lastRequest.messages, "MARK-a-")).toBe(true);
	});

	test("of a plugin that is left out, what Pi holds stays", async () => {
		await using first = await open(pi);
		await play(first, "one", search("a"), shrink("s", "a"));
		await using session = await first.reopen({ config: { plugins: ["rewind", "cancel"] } });
		const before = told(session);
		await play(session, "two");
		await play(session, "three");
		expect(told(session)).toEqual(before);
		expect(containsText(session.lastRequest.messages, "MARK-a-")).toBe(!hasEdits(pi));
	});

	test("what Pi takes no edit of stays with the view, and all else of the change becomes edits", async () => {
		await using session = await open(pi, { rewind: { protectedRoles: ["first:user"] } });
		await play(session, "one");
		await session.prompt("/mulligan_checkpoint here");
		await play(session, "two", search("a"));
		await session.bash("echo BASH-OUTPUT");
		await play(session, "three", { calls: [call.rewind("r", { granularity: "checkpoint", checkpoint: "here" })] });
		expect(session.errors).toEqual([]);
		for (const mark of ["MARK-a-", "BASH-OUTPUT"])
			expect([mark, containsText(session.lastRequest.messages, mark)]).toEqual([mark, false]);
		if (hasEdits(pi)) expect(told(session)).toContain("a: out");
		await play(session, "four");
		expect(containsText(session.lastRequest.messages, "BASH-OUTPUT")).toBe(false);
		expect(session.errors).toEqual([]);
	});

	test("another extension's edit of the same entry is left alone, and neither breaks the other's proposal", async () => {
		let edited: string | undefined;
		const other = (api: ExtensionAPI) => {
			api.on("turn_end", ((event: { entries?: object[]; toolResultEntryIds?: string[] }) => {
				const targetId = event.toolResultEntryIds?.[0];
				if (!Array.isArray(event.entries) || edited !== undefined || targetId === undefined) return undefined;
				edited = targetId;
				return { entries: [...event.entries, { type: "context_edit", targetId, replacement: { content: "THEIRS" } }] };
			}) as never);
		};
		await using session = await openSession({ pi, tools, settings: { mulligan: atOnce }, extensions: [other] });
		await play(session, "one", search("a"), rewind("r"));
		expect(containsText(session.lastRequest.messages, "MARK-a-")).toBe(false);
		if (!hasEdits(pi)) return;
		expect(edits(session).filter(({ targetId }) => targetId === edited)).toHaveLength(1);
		expect(containsText(session.lastRequest.messages, "THEIRS")).toBe(false);
		await play(
			session,
			"two",
			cancel("x", () => session),
		);
		expect(edits(session).filter(({ targetId }) => targetId === edited)).toHaveLength(1);
		expect(containsText(session.lastRequest.messages, "THEIRS")).toBe(true);
		expect(session.errors).toEqual([]);
	});

	test("a resume, a fork and /tree show the same, and write nothing more", async () => {
		await using first = await open(pi);
		await play(first, "one", search("a", "b"), shrink("s", "a"), search("c"), rewind("r"));
		await play(first, "two");
		const sent = wire(first.lastRequest.messages).slice(0, 8);
		const before = told(first);
		await using session = await first.reopen();
		await play(session, "three");
		expect(wire(session.lastRequest.messages).slice(0, 8)).toEqual(sent);
		expect(told(session)).toEqual(before);
		const last = session.branch().findLast((entry) => entry.type === "message" && entry.message.role === "assistant");
		const user = session.branch().find((entry) => entry.type === "message" && entry.message.role === "user");
		await session.navigateTree(user?.id as string);
		await play(session, "elsewhere");
		expect(containsText(session.lastRequest.messages, "MARK-b-")).toBe(false);
		await session.navigateTree(last?.id as string);
		await play(session, "back");
		expect(wire(session.lastRequest.messages).slice(0, 8)).toEqual(sent);
		await session.fork(last?.id as string, "at");
		await play(session, "forked");
		expect(wire(session.lastRequest.messages).slice(0, 8)).toEqual(sent);
		expect(session.errors).toEqual([]);
	});

	test("view takes back only what it is told to: older edits stay, and cancels restore", async () => {
		await using first = await open(pi);
		await play(first, "one", search("a"), shrink("s", "a"));
		await using session = await first.reopen({ settings: { mulligan: { ...atOnce, persistence: "view" } } });
		const before = told(session);
		await play(session, "two", search("b"), shrink("t", "b"));
		expect(told(session)).toEqual(before);
		expect(containsText(session.lastRequest.messages, "MARK-b-")).toBe(false);
		await session.prompt("/mulligan restore");
		await play(session, "three");
		for (const mark of ["MARK-a-", "MARK-b-"]) expect(containsText(session.lastRequest.messages, mark)).toBe(true);
	});
});

const at = (name: string) => piVersions().find((pi) => pi.name === name) as PiVersion;

test("a session moves to the newest Pi and back, and shows the same view everywhere", async () => {
	await using old = await open(at("oldest"));
	await play(old, "one", search("a", "b"), shrink("s", "a"), search("c"), rewind("r"));
	const roles = (session: TestSession) => said(session.lastRequest.messages);
	const seen = roles(old);
	await using newer = await old.reopen({ pi: at("newest") });
	await play(newer, "two");
	expect(roles(newer).slice(0, seen.length)).toEqual(seen);
	expect([...told(newer)].sort()).toEqual(
		["a: <context-shrunk>\\nSHORT-a-\\n</context-sh", "assistant: out", "c: out"].sort(),
	);
	const then = roles(newer);
	await using back = await newer.reopen({ pi: at("oldest") });
	await play(back, "three");
	expect(roles(back).slice(0, then.length)).toEqual(then);
	await play(
		back,
		"four",
		cancel("x", () => back),
	);
	expect(containsText(back.lastRequest.messages, "MARK-c-")).toBe(true);
	const last = roles(back);
	await using again = await back.reopen({ pi: at("newest") });
	await play(again, "five");
	expect(roles(again).slice(0, last.length)).toEqual(last);
	expect(again.errors).toEqual([]);
});
