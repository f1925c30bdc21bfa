import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { describe, expect, test } from "vitest";
import { DEFAULT_PLUGINS } from "../../src/default-set.ts";
import { mulliganWith } from "../../src/extension.ts";
import type { Plugin } from "../../src/kernel/plugin.ts";
import type { RewindBody } from "../../src/plugin.ts";
import {
	type OpenSessionOptions,
	openSession,
	orphans,
	type SessionLog,
	sessionLog,
	shape,
	type TestSession,
	textOf,
} from "../../src/testing/index.ts";
import { atOnce, call, note, records } from "../../test/support/mulligan.ts";
import { noteText } from "./note.ts";

const tools = {
	grep: () => "GREP",
	bash: () => "BASH",
	read: () => "READ",
	write: () => "WROTE",
	fail: () => {
		throw new Error("failed");
	},
};

/** The default set and these plugins, given as they are: loading them from disk is tested elsewhere, and slow. */
const withPlugins = (...more: readonly Plugin[]) => ({
	extensionPaths: [],
	extensions: [(pi: ExtensionAPI) => mulliganWith([...DEFAULT_PLUGINS, ...more], pi)],
});

/** A session with these settings of ours. */
const open = (mulligan: object = {}, more: Partial<OpenSessionOptions> = {}) =>
	openSession({ tools, settings: { mulligan: { ...atOnce, ...mulligan } }, ...withPlugins(), ...more });

/** A plugin that holds every batch back while `isHolding`, beside the default set. */
function holding() {
	const state = { isHolding: true };
	const holder: Plugin = {
		name: "holder",
		setup: ({ hooks }) => void hooks.onMoment.tap("holder", () => (state.isHolding ? false : undefined)),
	};
	return { state, with: withPlugins(holder) };
}

/** What our tools answered, in order. */
const answers = (session: TestSession) =>
	session.branch().flatMap((entry) => {
		if (entry.type !== "message" || entry.message.role !== "toolResult") return [];
		const { toolName, details } = entry.message;
		return toolName.startsWith("mulligan_") ? [{ text: textOf(entry.message), details: details as object }] : [];
	});
const lastAnswer = (session: TestSession) => answers(session).at(-1) ?? { text: "", details: {} };

/** One prompt whose responses make these calls, one message each, until an answer without calls. */
async function prompt(session: TestSession, ...batches: readonly (readonly ReturnType<typeof call.tool>[])[]) {
	session.script(...batches.map((calls) => ({ calls })), "done");
	await session.prompt("go");
}

/** The last request, a line for each message, our notes by their first words. */
const view = (session: TestSession) =>
	shape(session.lastRequest.messages, 200).map((line) => line.replace(/^user: (Rewound).*/, "note"));

const PREFIX = "Mulligan: refused — ";

describe("refusals", () => {
	/** In one message: a tool that writes the marker of an active rewind, then the rewind. */
	const planted = (args: Record<string, unknown>) => [call.tool("p", "plant"), call.rewind("r", args)];
	async function refusedWith(mulligan: Record<string, Record<string, unknown>>, args: Record<string, unknown>) {
		const session: TestSession = await open(mulligan, {
			tools: {
				plant: {
					sequential: true,
					run: () => {
						session.sessionManager.appendCustomEntry("mulligan:rewind", marker());
						return "planted";
					},
				},
			},
		});
		await using _ = session;
		await prompt(session, planted(args));
		expect(records(session, "mulligan:rewind")).toHaveLength(1);
		expect(records(session, "mulligan:queued")).toEqual([]);
		expect(session.branch().filter(({ type }) => type === "custom_message")).toEqual([]);
		return lastAnswer(session);
	}
	const marker = () => ({
		schema: "pi-mulligan",
		v: 1,
		kind: "rewind",
		seq: 1,
		ts: 1,
		id: "planted",
		granularity: "last_turn",
		excludeToolCallId: "p",
		hideEntryIds: ["gone"],
		note: note("something else"),
		ledger: { filesRead: [], filesModified: [], bashSideEffects: [] },
	});

	/** What is wrong with a call, each with what puts it right. The call is wrong in all ways from a row's on. */
	const WAYS: readonly [code: string, text: string, fix: { options?: object; moments?: number; args?: object }][] = [
		["disabled", "rewind is disabled.", { options: { enabled: true } }],
		["no-moments", "this session allows no change of earlier context (rewrites.maxMoments is 0).", { moments: 1 }],
		[
			"note",
			"note.what_happened, note.true_current_state, note.next must not be empty.",
			{ args: { note: note("it went wrong") } },
		],
		[
			"checkpoint",
			'checkpoint needs a name of 1 to 40 of a-z, 0-9, _ and -; got "No Name!".',
			{ args: { granularity: "last_turn" } },
		],
		[
			"max-depth",
			"1 rewinds are active on this branch, the most that rewind.maxDepth allows. Take one back with mulligan_cancel, or go on.",
			{ options: { maxDepth: 2 } },
		],
		[
			"max-retries",
			"1 rewinds have landed at this prompt, the most that rewind.maxRetriesPerPrompt allows. Go on with what you have, or ask the user.",
			{ options: { maxRetriesPerPrompt: 2 } },
		],
		["too-full", "the context is at ", { options: { abortContextFraction: 1 } }],
		["nothing-to-rewind", "nothing to rewind. Nothing after the user's last message is left in view.", {}],
	];
	test.each(WAYS.map(([code, text], row) => [code, text, row] as const))(
		"come in their order: %s, once what comes before it is right",
		async (code, text, row) => {
			const options = { enabled: false, maxDepth: 1, maxRetriesPerPrompt: 1, abortContextFraction: 0.000_01 };
			const args = {
				note: { what_happened: " ", true_current_state: "", next: "\n" },
				granularity: "checkpoint",
				checkpoint: "No Name!",
			};
			let maxMoments = 0;
			for (const [, , fix] of WAYS.slice(0, row)) {
				Object.assign(options, fix.options);
				Object.assign(args, fix.args);
				maxMoments = fix.moments ?? maxMoments;
			}
			const answer = await refusedWith({ rewind: options, rewrites: { maxMoments } }, args);
			expect(answer.text).toContain(PREFIX + text);
			expect(answer.text.startsWith(PREFIX)).toBe(true);
			expect(answer.details).toEqual({ refused: code });
		},
	);

	test.each(["what_happened", "true_current_state", "next"])(
		"name the field of the note that is blank: %s",
		async (field) => {
			await using session = await open();
			await prompt(session, [call.tool("c1", "grep")], [call.rewind("r", { note: { ...note(), [field]: " \t\n" } })]);
			expect(lastAnswer(session).text).toBe(`${PREFIX}note.${field} must not be empty.`);
			expect(records(session, "mulligan:rewind")).toEqual([]);
		},
	);

	test.each([undefined, "", "Upper", "a b", "x".repeat(41), "ümlaut", "a\n"])(
		"ask for a checkpoint's name where it is %j",
		async (checkpoint) => {
			await using session = await open();
			await prompt(session, [
				call.rewind("r", { granularity: "checkpoint", ...(checkpoint === undefined ? {} : { checkpoint }) }),
			]);
			expect(lastAnswer(session)).toEqual({
				text: `${PREFIX}checkpoint needs a name of 1 to 40 of a-z, 0-9, _ and -; got ${JSON.stringify(checkpoint ?? "")}.`,
				details: { refused: "checkpoint" },
			});
		},
	);

	test("cut a checkpoint's name that is no name but a text", async () => {
		await using session = await open();
		await prompt(session, [call.rewind("r", { granularity: "checkpoint", checkpoint: "x".repeat(100_000) })]);
		expect(lastAnswer(session).text).toBe(
			`${PREFIX}checkpoint needs a name of 1 to 40 of a-z, 0-9, _ and -; got "${"x".repeat(60)}…" (100000 characters).`,
		);
	});

	test("of a full context tell the share, and to shrink the largest result", async () => {
		await using session = await open(
			{ rewind: { abortContextFraction: 0.5 } },
			{ models: [{ id: "model-a", contextWindow: 4000 }] },
		);
		session.script({ calls: [call.tool("c1", "grep")] }, { calls: [call.rewind("r")] }, "done");
		await session.prompt("x".repeat(12_000));
		expect(lastAnswer(session).text).toMatch(
			/^Mulligan: refused — the context is at \d+% of the window, too full for another retry\. See what is largest with mulligan_audit, and shrink that first\.$/,
		);
	});

	test("of a full context do not come below the fraction", async () => {
		await using session = await open(
			{ rewind: { abortContextFraction: 0.5 } },
			{ models: [{ id: "model-a", contextWindow: 400_000 }] },
		);
		session.script({ calls: [call.tool("c1", "grep")] }, { calls: [call.rewind("r")] }, "done");
		await session.prompt("x".repeat(12_000));
		expect(lastAnswer(session).details).toHaveProperty("markerId");
	});

	test.each([
		[
			"last_tool_call_group",
			"No tool call since the last rewind is left in view before this one. Go on with the task.",
		],
		["last_turn", "Nothing after the user's last message is left in view. Go on with the task."],
	])("say why there is nothing to rewind: %s", async (granularity, why) => {
		await using session = await open();
		await prompt(session, [call.rewind("r", { granularity })]);
		expect(lastAnswer(session)).toEqual({
			text: `${PREFIX}nothing to rewind. ${why}`,
			details: { refused: "nothing-to-rewind" },
		});
	});
});

describe("a success", () => {
	test("says what is rewound, how many messages leave, and that it is active; details have the marker's id", async () => {
		await using session = await open();
		await prompt(session, [call.tool("c1", "grep"), call.tool("c2", "grep")], [call.rewind("r")]);
		const [record] = records(session, "mulligan:rewind");
		expect(lastAnswer(session)).toEqual({
			text: "Mulligan: rewind recorded: the last tool call group; 3 message(s) to leave the view.\nActive from the next request: your note stands in their place.",
			details: { markerId: record?.id },
		});
	});

	test("leaves a marker with all that its readers need", async () => {
		await using session = await open();
		await prompt(session, [call.tool("c1", "grep")], [call.rewind("r")]);
		const [assistant, result] = session
			.branch()
			.filter((entry) => entry.type === "message" && /assistant|toolResult/.test(entry.message.role))
			.map(({ id }) => id);
		expect(records(session, "mulligan:rewind")).toEqual([
			{
				schema: "pi-mulligan",
				v: 1,
				kind: "rewind",
				seq: 2,
				ts: expect.any(Number),
				id: expect.stringMatching(/^[0-9a-f-]{36}$/),
				granularity: "last_tool_call_group",
				options: { protect: ["first:user", "latest:user"] },
				excludeToolCallId: "r",
				hideEntryIds: [assistant, result],
				note: note(),
				ledger: { filesRead: [], filesModified: [], bashSideEffects: [] },
			},
		]);
	});

	test("stores its note as a message that the human sees, which names its rewind", async () => {
		await using session = await open();
		await prompt(session, [call.tool("c1", "grep")], [call.rewind("r")]);
		const [record] = records(session, "mulligan:rewind");
		const notes = session.branch().filter((entry) => entry.type === "custom_message");
		expect(notes).toMatchObject([
			{
				customType: "mulligan:note",
				display: true,
				content: noteText(record as unknown as RewindBody),
				details: { schema: "pi-mulligan", v: 1, kind: "note", rewindId: record?.id },
			},
		]);
	});
});

describe("last_tool_call_group", () => {
	test("hides the newest call with its results, and no more", async () => {
		await using session = await open();
		await prompt(
			session,
			[call.tool("c1", "grep")],
			[call.tool("c2", "read"), call.tool("c3", "grep")],
			[call.rewind("r")],
		);
		expect(view(session)).toEqual([
			"user: go",
			"assistant → grep#c1",
			"result grep#c1: GREP",
			"assistant → mulligan_rewind#r",
			expect.stringMatching(/^result mulligan_rewind#r/),
			"note",
		]);
	});

	test("passes over a call that broke off: Pi does not send it", async () => {
		const log = sessionLog();
		log.user("go");
		log.batch([{ id: "c1", name: "grep", result: "GREP" }]);
		log.assistant({ calls: [{ id: "c2", name: "read", args: {} }], stopReason: "aborted" });
		await using session = await open({}, { log });
		await prompt(session, [call.rewind("r")]);
		expect(lastAnswer(session).text).toContain("; 2 message(s) to leave the view.");
		expect(session.lastRequest.messages.map(textOf).join()).not.toContain("GREP");
	});

	test("takes calls of only mulligan tools after it along", async () => {
		await using session = await open();
		await prompt(
			session,
			[call.tool("c1", "grep")],
			[call.shrink("s1", { by_tool_name: "nothing" })],
			[call.cancel("k1", { markerId: "nothing" }), call.shrink("s2", { by_tool_name: "nothing" })],
			[call.rewind("r")],
		);
		expect(lastAnswer(session).text).toContain("; 7 message(s) to leave the view.");
		expect(view(session).slice(0, 2)).toEqual(["user: go", "assistant → mulligan_rewind#r"]);
	});

	test("counts a message with one call that is not of mulligan as a call", async () => {
		await using session = await open();
		await prompt(
			session,
			[call.tool("c1", "grep")],
			[call.cancel("k1", { markerId: "nothing" }), call.tool("c2", "read")],
			[call.rewind("r")],
		);
		expect(view(session).slice(0, 4)).toEqual([
			"user: go",
			"assistant → grep#c1",
			"result grep#c1: GREP",
			"assistant → mulligan_rewind#r",
		]);
	});

	test("ends its search at an earlier rewind, also past calls of only mulligan tools", async () => {
		await using session = await open();
		await prompt(
			session,
			[call.tool("c1", "grep")],
			[call.tool("c2", "read")],
			[call.rewind("r1")],
			[call.cancel("k1", { markerId: "nothing" })],
			[call.rewind("r2")],
		);
		expect(lastAnswer(session).details).toEqual({ refused: "nothing-to-rewind" });
		expect(view(session)).toContain("assistant → grep#c1");
	});

	test("does not end its search at a rewind that was cancelled, which goes along", async () => {
		await using session = await open();
		session.script(
			{ calls: [call.tool("c1", "grep")] },
			{ calls: [call.rewind("r1")] },
			() => ({ calls: [call.cancel("k1", { markerId: records(session, "mulligan:rewind")[0]?.id })] }),
			{ calls: [call.rewind("r2")] },
			"done",
		);
		await session.prompt("go");
		expect(view(session)).toEqual([
			"user: go",
			"assistant → mulligan_rewind#r2",
			expect.stringContaining("; 6 message(s) to leave the view."),
			"note",
		]);
	});

	test("does not end its search at a rewind that was refused", async () => {
		await using session = await open();
		await prompt(
			session,
			[call.tool("c1", "grep")],
			[call.rewind("r1", { note: { ...note(), next: "" } })],
			[call.rewind("r2")],
		);
		expect(view(session).slice(0, 2)).toEqual(["user: go", "assistant → mulligan_rewind#r2"]);
	});

	test("reaches into earlier prompts and leaves their user messages", async () => {
		await using session = await open();
		await prompt(session, [call.tool("c1", "grep")]);
		await prompt(session, [call.rewind("r")]);
		expect(view(session).slice(0, 4)).toEqual([
			"user: go",
			"assistant: done",
			"user: go",
			"assistant → mulligan_rewind#r",
		]);
	});

	test("of two in one message takes two groups", async () => {
		await using session = await open();
		await prompt(
			session,
			[call.tool("c1", "grep")],
			[call.tool("c2", "read")],
			[call.tool("c3", "bash")],
			[call.rewind("r1"), call.rewind("r2", { note: note("another") })],
		);
		expect(view(session).filter((line) => line.startsWith("assistant"))).toEqual([
			"assistant → grep#c1",
			"assistant → mulligan_rewind#r1, mulligan_rewind#r2",
		]);
		expect(view(session).filter((line) => line === "note")).toHaveLength(2);
	});

	test("does not take what another plugin hides: the group before it", async () => {
		const hider: Plugin = {
			name: "hider",
			setup: ({ hooks, session }) =>
				hooks.beforeFilter.tap("hider", (plan) => plan.hide(session.groupOfCall("c2")?.assistantId ?? "")),
		};
		const log = sessionLog();
		log.user("first");
		log.batch([{ id: "c1", name: "grep", result: "A" }]);
		log.batch([{ id: "c2", name: "grep", result: "B" }]);
		await using session = await open({}, { log, ...withPlugins(hider) });
		await prompt(session, [call.rewind("r")]);
		expect(lastAnswer(session).text).toContain("; 2 message(s) to leave the view.");
		expect(view(session).slice(0, 3)).toEqual(["user: first", "user: go", "assistant → mulligan_rewind#r"]);
	});

	test("keeps its own message with sibling calls, and takes the group before it", async () => {
		await using session = await open();
		await prompt(session, [call.tool("c1", "grep")], [call.tool("c2", "read"), call.rewind("r")]);
		expect(view(session).slice(0, 3)).toEqual([
			"user: go",
			"assistant → read#c2, mulligan_rewind#r",
			"result read#c2: READ",
		]);
	});

	test("does not take what waits in a held rewind, nor what came before that", async () => {
		const holder = holding();
		await using session = await open({}, holder.with);
		await prompt(
			session,
			[call.tool("c1", "grep")],
			[call.tool("c2", "read")],
			[call.rewind("r1")],
			[call.rewind("r2")],
		);
		expect(answers(session)[0]?.text).toContain("Queued, held by holder (~");
		expect(lastAnswer(session).details).toEqual({ refused: "nothing-to-rewind" });
		expect(view(session)).toContain("assistant → read#c2");
	});
});

describe("last_turn", () => {
	test("hides all that the agent did since the user's last message, and nothing of others", async () => {
		const log = sessionLog();
		log.user("first");
		log.batch([{ name: "grep", id: "a", result: "EARLIER" }]);
		await using session = await open({}, { log });
		session.sessionManager.appendCustomMessageEntry("other", "OTHER BEFORE", true);
		session.script(
			{ text: "thinking", calls: [call.tool("c1", "grep")] },
			async () => {
				session.sessionManager.appendCustomMessageEntry("other", "OTHER", true);
				return { calls: [call.tool("c2", "read")] };
			},
			{ calls: [call.rewind("r", { granularity: "last_turn" })] },
			"done",
		);
		await session.prompt("go");
		expect(view(session)).toEqual([
			"user: first",
			"assistant → grep#a",
			"result grep#a: EARLIER",
			"user: OTHER BEFORE",
			"user: go",
			"user: OTHER",
			"assistant → mulligan_rewind#r",
			expect.stringContaining("all since the user's last message; 4 message(s) to leave the view."),
			"note",
		]);
	});

	test("keeps notes of earlier rewinds, and hides those rewinds' own groups", async () => {
		await using session = await open();
		await prompt(
			session,
			[call.tool("c1", "grep")],
			[call.rewind("r1")],
			[call.tool("c2", "read")],
			[call.rewind("r2", { granularity: "last_turn", note: note("another") })],
		);
		expect(view(session)).toEqual([
			"user: go",
			"note",
			"assistant → mulligan_rewind#r2",
			expect.stringContaining("; 4 message(s) to leave the view."),
			"note",
		]);
	});

	test("keeps its own message with sibling calls", async () => {
		await using session = await open();
		await prompt(
			session,
			[call.tool("c1", "grep")],
			[call.tool("c2", "read"), call.rewind("r", { granularity: "last_turn" })],
		);
		expect(view(session).slice(0, 3)).toEqual([
			"user: go",
			"assistant → read#c2, mulligan_rewind#r",
			"result read#c2: READ",
		]);
	});
});

describe("a rewind to a checkpoint", () => {
	/** Sets a checkpoint as the human's command does: a custom entry of its own, labelled. */
	const set = (log: SessionLog, name = "here") => {
		const id = log.custom("mulligan:checkpoint", {
			schema: "pi-mulligan",
			v: 1,
			kind: "checkpoint",
			seq: 1,
			ts: 1,
			name,
		});
		log.label(id, `mulligan:checkpoint:${name}`);
		return id;
	};
	const label = (session: TestSession, id: string) => session.sessionManager.getLabel(id);
	const toHere = (more: object = {}) => call.rewind("r", { granularity: "checkpoint", checkpoint: "here", ...more });

	/** Two prompts, a checkpoint after the first's answer, and a third prompt to come. */
	function threePrompts() {
		const log = sessionLog();
		log.user("first");
		log.assistant("one");
		const checkpoint = set(log);
		log.user("second");
		log.batch([{ id: "a", name: "grep", result: "A" }]);
		log.assistant("two");
		return { log, checkpoint };
	}

	test("hides all that follows it, prompts too, but the latest one", async () => {
		const { log } = threePrompts();
		await using session = await open({}, { log });
		await prompt(session, [call.tool("c1", "read")], [toHere()]);
		expect(view(session)).toEqual([
			"user: first",
			"assistant: one",
			"user: go",
			"assistant → mulligan_rewind#r",
			expect.stringContaining('all since the checkpoint "here"; 6 message(s) to leave the view.'),
			"note",
		]);
		expect(records(session, "mulligan:rewind")[0]).toMatchObject({ granularity: "checkpoint", checkpoint: "here" });
	});

	test("keeps the latest prompt also where latest:user is not protected, if two responses would meet without it", async () => {
		const { log } = threePrompts();
		await using session = await open({ rewind: { protectedRoles: ["first:user"] } }, { log });
		await prompt(session, [call.tool("c1", "read")], [toHere()]);
		expect(view(session)).toEqual([
			"user: first",
			"assistant: one",
			"user: go",
			"assistant → mulligan_rewind#r",
			expect.stringContaining("; 6 message(s) to leave the view."),
			"note",
		]);
		expect(records(session, "mulligan:rewind")[0]).toMatchObject({ options: { protect: ["first:user"] } });
	});

	test("keeps the first prompt whatever is protected", async () => {
		const log = sessionLog();
		log.bash("ls", "a.ts");
		set(log);
		log.user("first");
		log.assistant("one");
		await using session = await open({ rewind: { protectedRoles: [] } }, { log });
		await prompt(session, [toHere()]);
		expect(view(session).map((line) => line.slice(0, 12))).toEqual([
			expect.stringContaining("user: "),
			"user: first",
			"assistant → ",
			"result mulli",
			"note",
		]);
		expect(lastAnswer(session).text).toContain("; 2 message(s) to leave the view.");
	});

	test("keeps summaries, earlier notes and its own message with its siblings", async () => {
		const log = sessionLog();
		log.user("first");
		set(log);
		log.batch([{ id: "a", name: "grep", result: "A" }]);
		log.branchSummary("LEFT BEHIND", { branchFrom: log.leaf ?? "" });
		log.customMessage("other", "OTHER");
		log.customMessage("mulligan:note", "Rewound: old");
		await using session = await open({}, { log });
		await prompt(session, [call.tool("c1", "read"), toHere()]);
		const lines = view(session);
		expect(lines[0]).toBe("user: first");
		expect(lines[1]).toContain("LEFT BEHIND");
		expect(lines.slice(2, 6)).toEqual([
			"note",
			"user: go",
			"assistant → read#c1, mulligan_rewind#r",
			"result read#c1: READ",
		]);
		expect(session.lastRequest.messages.map(textOf).join()).not.toContain("OTHER");
	});

	test("finds the label of an earlier version, which stands on a message", async () => {
		const log = sessionLog();
		log.user("first");
		const labelled = log.assistant("one");
		log.user("second");
		log.assistant("two");
		log.label(labelled, "mulligan:checkpoint:here");
		await using session = await open({}, { log });
		await prompt(session, [toHere()]);
		expect(view(session).slice(0, 4)).toEqual([
			"user: first",
			"assistant: one",
			"user: go",
			"assistant → mulligan_rewind#r",
		]);
		expect(label(session, labelled)).toBeUndefined();
	});

	test("takes the newest of two places with its name", async () => {
		const { log } = threePrompts();
		set(log);
		log.user("third");
		await using session = await open({}, { log });
		await prompt(session, [toHere()]);
		expect(lastAnswer(session).text).toContain("; 1 message(s) to leave the view.");
	});

	test("consumes it once active, and no other checkpoint", async () => {
		const { log, checkpoint } = threePrompts();
		const other = set(log, "other");
		await using session = await open({}, { log });
		await prompt(session, [call.tool("c1", "read")], [toHere()], [toHere({ note: note("again") })]);
		expect([label(session, checkpoint), label(session, other)]).toEqual([undefined, "mulligan:checkpoint:other"]);
		expect(lastAnswer(session)).toEqual({
			text: `${PREFIX}no checkpoint "here" is set on this branch; only the user can set one.`,
			details: { refused: "checkpoint" },
		});
	});

	test("consumes every label of its name on the branch, and none of another branch", async () => {
		const { log, checkpoint } = threePrompts();
		const fork = log.leaf;
		const elsewhere = log.user("elsewhere");
		log.label(elsewhere, "mulligan:checkpoint:here");
		log.branchFrom(fork);
		const older = log.assistant("three");
		log.label(older, "mulligan:checkpoint:here");
		log.user("fourth");
		const newest = set(log);
		log.assistant("four");
		await using session = await open({}, { log });
		await prompt(session, [toHere()]);
		expect(lastAnswer(session).text).toContain("; 1 message(s) to leave the view.");
		expect([checkpoint, older, newest, elsewhere].map((id) => label(session, id))).toEqual([
			undefined,
			undefined,
			undefined,
			"mulligan:checkpoint:here",
		]);
	});

	test("does not consume it while it waits", async () => {
		const { log, checkpoint } = threePrompts();
		const holder = holding();
		await using session = await open({}, { log, ...holder.with });
		await prompt(session, [call.tool("c1", "read")], [toHere()]);
		expect(label(session, checkpoint)).toBe("mulligan:checkpoint:here");
		holder.state.isHolding = false;
		await prompt(session, [call.tool("c2", "read")]);
		expect(label(session, checkpoint)).toBeUndefined();
		expect(view(session).join("\n")).not.toContain("grep#a");
	});

	test("is refused once the human has revoked it", async () => {
		const { log, checkpoint } = threePrompts();
		log.label(checkpoint, undefined);
		await using session = await open({}, { log });
		await prompt(session, [toHere()]);
		expect(lastAnswer(session).text).toBe(
			`${PREFIX}no checkpoint "here" is set on this branch; only the user can set one.`,
		);
	});

	test("is refused where its entry is on another branch", async () => {
		const log = sessionLog();
		const first = log.user("first");
		set(log);
		log.branchFrom(first);
		log.assistant("elsewhere");
		await using session = await open({}, { log });
		await prompt(session, [toHere()]);
		expect(lastAnswer(session).text).toContain('no checkpoint "here" is set on this branch');
	});

	test("is refused where its place has been compacted away", async () => {
		const { log } = threePrompts();
		log.compaction("SUMMARY", { firstKept: log.leaf ?? "" });
		await using session = await open({}, { log });
		await prompt(session, [call.tool("c1", "read")], [toHere()]);
		expect(lastAnswer(session)).toEqual({
			text: `${PREFIX}the place of checkpoint "here" has been compacted away. Use last_turn.`,
			details: { refused: "checkpoint" },
		});
	});

	test("works where its place was kept by a compaction, and keeps the summary", async () => {
		const log = sessionLog();
		log.user("first");
		const kept = log.user("kept");
		set(log);
		log.batch([{ id: "a", name: "grep", result: "A" }]);
		log.compaction("SUMMARY", { firstKept: kept });
		await using session = await open({}, { log });
		await prompt(session, [toHere()]);
		const lines = view(session);
		expect(lines[0]).toContain("SUMMARY");
		expect(lines.slice(1, 4)).toEqual(["user: kept", "user: go", "assistant → mulligan_rewind#r"]);
	});

	test("inside a tool group keeps that group whole", async () => {
		const log = sessionLog();
		log.user("first");
		log.assistant({ calls: [call.tool("a", "grep"), call.tool("b", "read")] });
		log.result("a", "A");
		set(log);
		log.result("b", "B");
		log.assistant("one");
		await using session = await open({}, { log });
		await prompt(session, [toHere()]);
		expect(view(session).slice(0, 6)).toEqual([
			"user: first",
			"assistant → grep#a, read#b",
			"result grep#a: A",
			"result read#b: B",
			"user: go",
			"assistant → mulligan_rewind#r",
		]);
		expect(orphans(session.lastRequest.messages)).toEqual({ calls: [], results: [] });
		expect(lastAnswer(session).text).toContain("; 1 message(s) to leave the view.");
	});

	test("with nothing after it is refused", async () => {
		const log = sessionLog();
		log.user("first");
		set(log);
		await using session = await open({}, { log });
		await prompt(session, [toHere()]);
		expect(lastAnswer(session).text).toBe(
			`${PREFIX}nothing to rewind. Nothing after the checkpoint is left in view. Go on with the task.`,
		);
	});
});

describe("rewind.maxDepth", () => {
	const twice = [
		[call.tool("c1", "grep")],
		[call.rewind("r1")],
		[call.tool("c2", "grep")],
		[call.rewind("r2", { note: note("another") })],
	];
	const third = [[call.tool("c3", "grep")], [call.rewind("r3", { note: note("a third") })]];

	test("lets no more rewinds be active on a branch, over all its prompts", async () => {
		await using session = await open({ rewind: { maxDepth: 2 } });
		await prompt(session, ...twice);
		await prompt(session, ...third);
		expect(lastAnswer(session).details).toEqual({ refused: "max-depth" });
		expect(records(session, "mulligan:rewind")).toHaveLength(2);
	});

	test("does not count what was cancelled", async () => {
		await using session = await open({ rewind: { maxDepth: 2 } });
		await prompt(session, ...twice);
		await prompt(
			session,
			[call.cancel("k", { markerId: String(records(session, "mulligan:rewind")[0]?.id) })],
			...third,
		);
		expect(lastAnswer(session).details).toHaveProperty("markerId");
	});

	test("counts what waits", async () => {
		await using session = await open({ rewind: { maxDepth: 1 } }, holding().with);
		await prompt(session, ...twice);
		expect(lastAnswer(session).details).toEqual({ refused: "max-depth" });
	});

	test("counts the branch only", async () => {
		await using session = await open({ rewind: { maxDepth: 1 } });
		await prompt(session, [call.tool("c1", "grep")], [call.rewind("r1")]);
		const first = session.branch().find((entry) => entry.type === "message" && entry.message.role === "assistant");
		await session.navigateTree(first?.id ?? "");
		await prompt(session, [call.tool("c2", "grep")], [call.rewind("r2")]);
		expect(lastAnswer(session).details).toHaveProperty("markerId");
	});
});

describe("rewind.maxRetriesPerPrompt", () => {
	const success = (index: number) => [
		[call.tool(`c${index}`, "grep")],
		[call.rewind(`r${index}`, { note: note(`mistake ${index}`) })],
	];
	const nothing = (index: number) => [[call.rewind(`n${index}`)]];
	const invalid = (index: number) => [[call.rewind(`i${index}`, { note: { ...note(), next: "" } })]];

	test.each([
		["two that landed", [success(1), success(2)], true],
		["two with nothing to rewind", [nothing(1), nothing(2)], true],
		["one of each", [success(1), nothing(2)], true],
		["one that landed and refusals for other reasons", [success(1), invalid(2), invalid(3)], false],
	])("after %s refuses the next: %#", async (_what, before, isRefused) => {
		await using session = await open({ rewind: { maxRetriesPerPrompt: 2 } });
		await prompt(session, ...before.flat(), ...success(9));
		const { details } = lastAnswer(session);
		if (isRefused) expect(details).toEqual({ refused: "max-retries" });
		else expect(details).toHaveProperty("markerId");
	});

	test("starts anew at a new prompt of the user", async () => {
		await using session = await open({ rewind: { maxRetriesPerPrompt: 1 } });
		await prompt(session, ...success(1), ...success(2));
		expect(lastAnswer(session).details).toEqual({ refused: "max-retries" });
		await prompt(session, ...success(3));
		expect(lastAnswer(session).details).toHaveProperty("markerId");
	});

	test("counts what waits at this prompt", async () => {
		await using session = await open({ rewind: { maxRetriesPerPrompt: 1 } }, holding().with);
		await prompt(session, ...success(1), ...success(2));
		expect(lastAnswer(session).details).toEqual({ refused: "max-retries" });
		await prompt(session, ...success(3));
		expect(lastAnswer(session).details).toHaveProperty("markerId");
	});
});

describe("the warning of lasting effects", () => {
	const warning = async (calls: readonly ReturnType<typeof call.tool>[], mulligan: object = {}) => {
		await using session = await open(mulligan);
		await prompt(session, [...calls], [call.rewind("r")]);
		expect(lastAnswer(session).details).toHaveProperty("markerId");
		return lastAnswer(session)
			.text.split("\n")
			.filter((line) => line.startsWith("⚠"));
	};
	const lasting = "These effects persist on disk: check before you do any of it again.";

	test.each([
		[
			"a file was written",
			[call.tool("w", "write", { path: "b.ts" }), call.tool("w2", "write", { path: "a.ts" })],
			`⚠ What you hide changed a.ts, b.ts. ${lasting}`,
		],
		[
			"a command had effects",
			[call.tool("b", "bash", { command: "npm install" })],
			`⚠ What you hide ran 1 command(s) with effects. ${lasting}`,
		],
		[
			"both happened",
			[call.tool("w", "write", { path: "a.ts" }), call.tool("b", "bash", { command: "npm install" })],
			`⚠ What you hide changed a.ts and ran 1 command(s) with effects. ${lasting}`,
		],
	])("comes where %s", async (_what, calls, text) => {
		expect(await warning(calls)).toEqual([text]);
	});

	test.each([
		[
			"files were only read",
			[call.tool("g", "read", { path: "a.ts" }), call.tool("b", "bash", { command: "git status" })],
		],
		["nothing was touched", [call.tool("g", "grep")]],
	])("does not come where %s", async (_what, calls) => {
		expect(await warning(calls)).toEqual([]);
	});

	test("does not come where rewind.requireMutationWarning is false", async () => {
		expect(
			await warning([call.tool("w", "write", { path: "a.ts" })], { rewind: { requireMutationWarning: false } }),
		).toEqual([]);
	});

	test.each([
		["a failed write has changed nothing", "write", { path: "a.ts" }, 0],
		["a failed command may have", "bash", { command: "npm install" }, 1],
	])("knows that %s", async (_what, name, args, warnings) => {
		await using session = await open({}, { tools: { [name]: tools.fail } });
		await prompt(session, [call.tool("f", name, args)], [call.rewind("r")]);
		expect(lastAnswer(session).text.match(/^⚠/gm) ?? []).toHaveLength(warnings);
	});

	test("stands before the word that it is active", async () => {
		await using session = await open();
		await prompt(session, [call.tool("w", "write", { path: "a.ts" })], [call.rewind("r")]);
		expect(
			lastAnswer(session)
				.text.split("\n")
				.map((line) => line.slice(0, 8)),
		).toEqual(["Mulligan", "⚠ What y", "Active f"]);
	});
});

describe("the advice to change the approach", () => {
	const ADVICE =
		"⚠ The same thing happened before your last rewind at this prompt. Change the approach, or ask the user.";
	const rewindAfter = (index: number, what: string) => [
		[call.tool(`c${index}`, "grep")],
		[call.rewind(`r${index}`, { note: note(what) })],
	];
	const advised = (session: TestSession) => answers(session).map(({ text }) => text.includes(ADVICE));

	test.each([
		["the same thing happened", ["too wide", "too wide"], [false, true]],
		["it differs only in case and outer blanks", ["too wide", "  Too WIDE\n"], [false, true]],
		["it happened a third time", ["too wide", "too wide", "too wide"], [false, true, true]],
		["another thing happened", ["too wide", "too narrow"], [false, false]],
		["another thing happened in between", ["too wide", "too narrow", "too wide"], [false, false, false]],
	])("where %s: %j", async (_what, notes, expected) => {
		await using session = await open();
		await prompt(session, ...notes.flatMap((what, index) => rewindAfter(index, what)));
		expect(advised(session)).toEqual(expected);
	});

	test("does not come at a new prompt of the user", async () => {
		await using session = await open();
		await prompt(session, ...rewindAfter(1, "too wide"));
		await prompt(session, ...rewindAfter(2, "too wide"));
		expect(advised(session)).toEqual([false, false]);
	});
});

describe("the note", () => {
	const body: RewindBody = {
		id: "m1",
		granularity: "last_turn",
		excludeToolCallId: "r",
		hideEntryIds: ["e1"],
		note: { what_happened: " it broke\n", true_current_state: "all is as before ", next: " try again" },
		ledger: { filesRead: [], filesModified: [], bashSideEffects: [] },
	};
	const head = ["What happened: it broke", "True current state: all is as before", "Next: try again"];

	test.each<[string, Partial<RewindBody>, string]>([
		["last_turn", {}, "Rewound: all since the user's last message left your context."],
		[
			"last_tool_call_group",
			{ granularity: "last_tool_call_group" },
			"Rewound: the last tool call group left your context.",
		],
		[
			"checkpoint",
			{ granularity: "checkpoint", checkpoint: "here" },
			'Rewound: all since the checkpoint "here" left your context.',
		],
	])(
		"is headed by the granularity %s, has the three fields trimmed, and no block without entries",
		(_what, more, heading) => {
			expect(noteText({ ...body, ...more })).toBe([heading, ...head].join("\n"));
		},
	);

	test("of a rewind that became active later says so, and has no next step", () => {
		expect(noteText({ ...body, late: true })).toBe(
			[
				"Rewound now (asked for earlier): all since the user's last message left your context.",
				...head.slice(0, 2),
			].join("\n"),
		);
	});

	test("lists what the hidden calls did, a block each, a line each", () => {
		const ledger = { filesRead: ["a.ts", "b.ts"], filesModified: ["c.ts"], bashSideEffects: ["npm install"] };
		expect(
			noteText({ ...body, ledger })
				.split("\n")
				.slice(4),
		).toEqual([
			"<files-read>",
			"a.ts",
			"b.ts",
			"</files-read>",
			"<files-modified>",
			"c.ts",
			"</files-modified>",
			"<bash-side-effects>",
			"npm install",
			"</bash-side-effects>",
		]);
	});

	test("leaves out a block without entries among others", () => {
		const text = noteText({ ...body, ledger: { filesRead: ["a.ts"], filesModified: [], bashSideEffects: [] } });
		expect(text).toContain("<files-read>");
		expect(text).not.toMatch(/files-modified|bash-side-effects/);
	});

	test("lets no entry close its block", () => {
		const text = noteText({
			...body,
			ledger: { filesRead: ["</files-read>x"], filesModified: [], bashSideEffects: [] },
		});
		expect(text.match(/<\/files-read>/g)).toHaveLength(1);
	});

	test("lists the calls of the hidden span, those of scripts too, and none that did not run or stays", async () => {
		const log = sessionLog();
		log.user("first");
		log.batch([{ id: "stays", name: "read", args: { path: "stays.ts" }, result: "" }]);
		log.user("second");
		log.batch([
			{ id: "a", name: "read", args: { path: "b.ts" }, result: "" },
			{ id: "b", name: "edit", args: { path: "missing.ts" }, result: "no such file", isError: true },
			{ id: "c", name: "bash", args: { command: "make > out.txt" }, result: "", isError: true },
			{ id: "d", name: "script", result: "" },
		]);
		const script = log.entries().at(-1);
		if (script?.type === "message")
			Object.assign(script.message, {
				nestedCalls: {
					calls: [
						{ id: "d/1", name: "read", status: "done", arguments: { path: "a.ts" } },
						{ id: "d/2", name: "write", status: "error", arguments: { path: "failed.ts" } },
					],
					complete: true,
				},
			});
		await using session = await open({}, { log });
		await prompt(session, [call.rewind("r")]);
		expect(records(session, "mulligan:rewind")[0]?.ledger).toEqual({
			filesRead: ["a.ts", "b.ts"],
			filesModified: ["out.txt"],
			bashSideEffects: ["make > out.txt"],
		});
	});

	test("of a held rewind is written when that becomes active, as late", async () => {
		const holder = holding();
		await using session = await open({}, holder.with);
		await prompt(session, [call.tool("c1", "grep")], [call.rewind("r")]);
		expect(session.branch().filter(({ type }) => type === "custom_message")).toEqual([]);
		holder.state.isHolding = false;
		await prompt(session, [call.tool("c2", "read")]);
		const notes = session.branch().flatMap((entry) => (entry.type === "custom_message" ? [String(entry.content)] : []));
		expect(notes).toEqual([
			[
				"Rewound now (asked for earlier): the last tool call group left your context.",
				`What happened: ${note().what_happened}`,
				`True current state: ${note().true_current_state}`,
			].join("\n"),
		]);
	});
});
