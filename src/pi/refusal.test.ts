import { describe, expect, test } from "vitest";
import { atOnce, bulk, call, records } from "../../test/support/mulligan.ts";
import { containsText, openSession, orphans, piVersions } from "../testing/index.ts";
import { wrongForm } from "./refusal.ts";

const PAIR = "a tool call or its result stands alone";
const THINKING = "the thinking of a response was changed";
const REASONING = "a reasoning item stands alone";
const ORDER = "the roles are out of order";
const EMPTY = "a message is empty";

describe("what a provider's error says of the form of a request", () => {
	test.each([
		[PAIR, "messages.4.content.0: unexpected `tool_use_id` found in `tool_result` blocks: toolu_1."],
		[PAIR, "`tool_use` ids were found without `tool_result` blocks immediately after: toolu_1."],
		[
			PAIR,
			"400 Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
		],
		[
			PAIR,
			"400 An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.",
		],
		[PAIR, "No tool call found for function call output with call_id call_1."],
		[PAIR, "No tool output found for function call call_1."],
		[PAIR, "Expected toolResult blocks at messages.2.content for the following Ids: tooluse_1"],
		[
			PAIR,
			"Please ensure that function call turn comes immediately after a user turn or after a function response turn.",
		],
		[
			PAIR,
			"the number of function response parts is equal to the number of function call parts of the function call turn",
		],
		[PAIR, "Not the same number of function calls and responses"],
		[THINKING, "messages.1.content.0: Invalid `signature` in `thinking` block"],
		[THINKING, "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified."],
		[THINKING, "messages.3.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`."],
		[THINKING, "Function call is missing a thought_signature in functionCall parts."],
		[REASONING, "Item 'rs_1' of type 'reasoning' was provided without its required following item."],
		[REASONING, "Item 'fc_1' of type 'function_call' was provided without its required 'reasoning' item: 'rs_1'."],
		[
			ORDER,
			'messages: roles must alternate between "user" and "assistant", but found multiple "assistant" roles in a row',
		],
		[ORDER, 'messages: first message must use the "user" role'],
		[ORDER, "A conversation must start with a user message."],
		[ORDER, "This model does not support assistant message prefill. The conversation must end with a user message."],
		[EMPTY, "messages: text content blocks must be non-empty"],
		[EMPTY, "messages: text content blocks must contain non-whitespace text"],
		[EMPTY, "messages.2: all messages must have non-empty content except for the optional final assistant message"],
	])("%s: %s", (expected, error) => {
		expect(wrongForm(error)).toBe(expected);
		expect(
			wrongForm(`400 {"type":"error","error":{"type":"invalid_request_error","message":${JSON.stringify(error)}}}`),
		).toBe(expected);
	});

	test.each([
		"prompt is too long: 210000 tokens > 200000 maximum",
		"429 rate_limit_error: this request would exceed your tokens per minute",
		"529 overloaded_error",
		"401 invalid x-api-key",
		"fetch failed",
		"400 max_tokens: must be greater than thinking.budget_tokens",
		"This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.",
		"The tool call was blocked by a content filter",
		"500 Internal server error",
		"",
	])("says nothing of it: %s", (error) => {
		expect(wrongForm(error)).toBeUndefined();
	});
});

const REFUSED = "400 No tool output found for function call c1.";
const tools = { grep: () => bulk("SECRET") };
const searches = (id: string) => ({ calls: [{ id, name: "grep", args: {} }] });

describe.each(piVersions())("with Pi $version", (pi) => {
	const open = (settings = atOnce) => openSession({ pi, tools, settings: { mulligan: settings } });
	const told = (session: Awaited<ReturnType<typeof open>>) =>
		session.ui.notifications.map(({ message }) => message).filter((text) => text.includes("the provider refused"));

	test("a change that the provider refuses is taken back, once, and the next request has the originals", async () => {
		await using session = await open();
		session.script(
			searches("c1"),
			{ calls: [call.shrink("s1", { by_tool_call_id: "c1" }), call.rewind("r1")] },
			{ error: REFUSED },
		);
		await session.prompt("go");
		expect(containsText(session.lastRequest.messages, "SECRET")).toBe(false);
		const made = [...records(session, "mulligan:shrink"), ...records(session, "mulligan:rewind")];
		expect(made.length).toBeGreaterThan(0);
		expect(
			records(session, "mulligan:cancel")
				.map(({ targetId }) => targetId)
				.sort(),
		).toEqual(made.map(({ id }) => id).sort());
		expect(told(session)).toEqual([
			expect.stringMatching(
				/^Mulligan: the provider refused the request \(a tool call or its result stands alone: 400 No tool output found for function call c1\.\)\. The last change of earlier context, .*1 shrink.*, is taken back: the next request has the originals\. Send your message again\.$/,
			),
		]);

		session.script("fine");
		await session.prompt("again");
		expect(containsText(session.lastRequest.messages, "SECRET")).toBe(true);
		expect(orphans(session.lastRequest.messages)).toEqual({ calls: [], results: [] });

		session.script({ error: REFUSED });
		await session.prompt("once more");
		expect(told(session)).toHaveLength(1);
	});

	test("a change that was answered over stays, and is named once", async () => {
		await using session = await open();
		session.script(searches("c1"), { calls: [call.shrink("s1", { by_tool_call_id: "c1" })] }, "fine");
		await session.prompt("go");
		for (const prompt of ["again", "once more"]) {
			session.script({ error: REFUSED });
			await session.prompt(prompt);
			expect(containsText(session.lastRequest.messages, "SECRET")).toBe(false);
		}
		expect(records(session, "mulligan:cancel")).toEqual([]);
		expect(told(session)).toEqual([
			expect.stringContaining("Still in force: 1 shrink, over which it has answered before"),
		]);
	});

	test("what waits goes on waiting", async () => {
		await using session = await openSession({
			pi,
			tools,
			settings: { mulligan: { rewrites: { maxMoments: 1, flushShedTokens: 100 } } },
		});
		session.script(
			searches("c1"),
			{ calls: [call.shrink("s1", { by_tool_call_id: "c1" })] },
			searches("c2"),
			{ calls: [call.shrink("s2", { by_tool_call_id: "c2" })] },
			"fine",
		);
		await session.prompt("go");
		expect(records(session, "mulligan:shrink")).toHaveLength(1);
		session.script(searches("c3"), { calls: [call.shrink("s3", { by_tool_call_id: "c3" })] }, { error: REFUSED });
		await session.prompt("more");
		expect(records(session, "mulligan:cancel")).toEqual([]);
		expect(records(session, "mulligan:shrink")).toHaveLength(1);
		expect(records(session, "mulligan:queued").filter(({ status }) => status === "queued")).toHaveLength(2);
	});

	test("after a resume it is known from the session what no response was given over", async () => {
		await using first = await open();
		first.script(
			searches("c1"),
			{ calls: [call.shrink("s1", { by_tool_call_id: "c1" })] },
			{ error: "529 overloaded" },
		);
		await first.prompt("go");
		expect(records(first, "mulligan:cancel")).toEqual([]);
		await using session = await first.reopen();
		session.script({ error: REFUSED });
		await session.prompt("again");
		expect(records(session, "mulligan:cancel")).toHaveLength(1);
		session.script("fine");
		await session.prompt("and again");
		expect(containsText(session.lastRequest.messages, "SECRET")).toBe(true);
	});

	test("an error of another kind takes nothing back", async () => {
		await using session = await open();
		session.script(
			searches("c1"),
			{ calls: [call.shrink("s1", { by_tool_call_id: "c1" })] },
			{ error: "401 invalid x-api-key" },
		);
		await session.prompt("go");
		expect(records(session, "mulligan:cancel")).toEqual([]);
		expect(told(session)).toEqual([]);
	});
});
