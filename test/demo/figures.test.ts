import { describe, expect, it } from "vitest";
import { billOf, headTokens, messagesTokens, simulateCache, sizeOf } from "../../scripts/demo/figures.ts";
import type { Block, SentMessage, SentRequest } from "../../scripts/demo/request.ts";

const user = (text: string): SentMessage => ({ role: "user", content: text });
const of = (...blocks: Block[]): SentMessage => ({ role: "assistant", content: blocks });

describe("the plain estimate", () => {
	it.each<[what: string, message: SentMessage, tokens: number]>([
		["text", user("12345678"), 2],
		["a started token as a whole one", user("123456789"), 3],
		["thinking", of({ type: "thinking", thinking: "1234" }), 1],
		["an image as 1,200", of({ type: "image", mimeType: "image/png", data: "x".repeat(9_999) }), 1_200],
		["a tool's name and arguments", of({ type: "toolCall", id: "long-id", name: "bash", arguments: { a: 1 } }), 3],
	])("counts %s", (_, message, tokens) => {
		expect(messagesTokens([message])).toBe(tokens);
	});

	it("counts prompt and tools alike in both shapes of a request", () => {
		const tool = { name: "bash" };
		const before086: SentRequest = { systemPrompt: "You are …", tools: [tool], messages: [user("go")] };
		const since086: SentRequest = {
			messages: [{ role: "system", content: "You are …", toolsAdded: [tool] }, user("go")],
		};
		expect(headTokens(before086)).toBe(Math.ceil(("You are …".length + JSON.stringify(tool).length) / 4));
		expect(sizeOf(since086)).toEqual(sizeOf(before086));
		expect(simulateCache([since086])).toEqual(simulateCache([before086]));
	});

	it("leaves the system prompt out of the number of messages", () => {
		const system: SentMessage = { role: "system", content: "You are …", sections: { skills: "none", gone: null } };
		expect(sizeOf({ messages: [system, user("go")] })).toEqual({ messages: 1, tokens: 5 });
	});
});

describe("simulateCache", () => {
	const long = "x".repeat(400);

	it("writes the whole first request", () => {
		expect(simulateCache([{ messages: [user(long)] }])).toEqual([{ read: 0, written: 102 }]);
	});

	it("reads all of the request before when messages are only added", () => {
		const uses = simulateCache([{ messages: [user(long)] }, { messages: [user(long), user("more")] }]);
		expect(uses[1]).toEqual({ read: 102, written: 2 });
	});

	it("reads nothing behind the first difference", () => {
		const uses = simulateCache([
			{ messages: [user("a"), user(long), user(long)] },
			{ messages: [user("a"), user(`!${long}`), user(long)] },
		]);
		expect(uses[1]?.read).toBe(Math.ceil("user:a\n\nuser:".length / 4));
	});

	it("tells a changed tool argument from an unchanged one", () => {
		const call = (command: string) => of({ type: "toolCall", id: "1", name: "bash", arguments: { command } });
		const [, same] = simulateCache([{ messages: [call("ls")] }, { messages: [call("ls")] }]);
		const [, other] = simulateCache([{ messages: [call("ls")] }, { messages: [call("rm")] }]);
		expect(same?.written).toBe(0);
		expect(other?.written).toBeGreaterThan(0);
	});
});

describe("billOf", () => {
	it("weighs what was read and what was written", () => {
		const messages = [user("x".repeat(395))];
		expect(billOf([{ messages }, { messages }])).toEqual({
			requests: 2,
			tokens: 198,
			read: 100,
			written: 100,
			weighted: 135,
		});
	});
});
