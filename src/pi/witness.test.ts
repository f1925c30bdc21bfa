import { describe, expect, test } from "vitest";
import type { Branch, ContextEntry } from "../kernel/branch.ts";
import type { Message } from "../kernel/messages.ts";
import { messageTokens } from "../kernel/tokens.ts";
import { difference, Witness } from "./witness.ts";

const user = (text: string, timestamp: number): Message => ({ role: "user", content: text, timestamp });
const result = (toolCallId: string, text: string): Message => ({
	...{ role: "toolResult", toolCallId, toolName: "grep", timestamp: 9 },
	content: [{ type: "text", text }],
});
const entry = (message: Message, at: number): ContextEntry => ({
	id: `e${at}`,
	message,
	tokens: messageTokens(message),
});

const session = [user("go", 1), result("c1", "long text"), result("c2", "other")];
const context = session.map(entry);
const system: Message = { role: "system", timestamp: 1 };

describe("a request's list differs from the session by", () => {
	test.each<[string, readonly Message[], object]>([
		["nothing", session, { messages: 3, added: 0, missing: 0, changed: 0 }],
		["nothing, Pi's system messages aside", [system, ...session], { messages: 3, added: 0, missing: 0, changed: 0 }],
		["what was added", [...session, user("remember", 5)], { messages: 4, added: 1, missing: 0, changed: 0 }],
		["what is missing", session.slice(1), { messages: 2, added: 0, missing: 1, changed: 0 }],
		[
			"what was changed",
			[session[0] as Message, result("c1", "x"), session[2] as Message],
			{ messages: 3, added: 0, missing: 0, changed: 1 },
		],
		["all of it", [user("summary", 7)], { messages: 1, added: 1, missing: 3, changed: 0 }],
	])("%s", (_what, messages, expected) => {
		expect(difference(messages, context)).toEqual(expected);
	});

	test("none of two messages that answer to one key", () => {
		const twins = [user("a", 1), user("b", 1)];
		expect(difference(twins, twins.map(entry))).toEqual({ messages: 2, added: 0, missing: 0, changed: 0 });
	});
});

describe("a witness", () => {
	const branch = { context: () => context } as unknown as Branch;

	test("looks at the next request only, and only if asked", () => {
		const witness = new Witness();
		witness.look(session.slice(1), branch);
		expect(witness.seen).toBeUndefined();
		witness.watch();
		witness.look(session.slice(1), branch);
		witness.look(session, branch);
		expect(witness.seen).toEqual({ messages: 2, added: 0, missing: 1, changed: 0 });
	});
});
