import { describe, expect, test } from "vitest";
import { complaintAboutChange } from "./fidelity.ts";
import type { Block, Message } from "./messages.ts";

const thinking = { type: "thinking", thinking: "hm", thinkingSignature: "s1" } as Block;
const words: Block = { type: "text", text: "words" };
const called: Block = { type: "toolCall", id: "c1", name: "read", arguments: { path: "a" } };
const response: Message = { role: "assistant", content: [thinking, words, called], timestamp: 1 };
const result: Message = { role: "toolResult", toolCallId: "c1", toolName: "read", content: [words], timestamp: 1 };
const image: Block = { type: "image", data: "AAAA", mimeType: "image/png" };

const as = (message: Message, content: unknown) => ({ ...message, content });

describe("a changed message", () => {
	test.each<[string, unknown, Message]>([
		["the message itself", response, response],
		["other words", as(response, [thinking, { type: "text", text: "x" }, called]), response],
		["no words", as(response, [thinking, called]), response],
		["other arguments of a call", as(response, [thinking, { ...called, arguments: {} }]), response],
		["a string as a result", as(result, "short"), result],
		["an image as a result", as(result, [image]), result],
		["blank for what was blank", as(as(result, " ") as Message, ""), as(result, " ") as Message],
	])("may stand: %s", (_what, changed, original) => {
		expect(complaintAboutChange(changed, original)).toBeUndefined();
	});

	test.each<[string, unknown, Message, string]>([
		["nothing", undefined, result, "returned undefined; return the message itself"],
		["null", null, result, "returned null; return the message itself"],
		["another role", { ...result, role: "user" }, result, "returned role user for toolResult"],
		["no content", { role: "toolResult" }, result, "returned a toolResult message without content"],
		["no block", as(result, []), result, "with empty content, which providers refuse"],
		["an empty string", as(result, ""), result, "with empty content, which providers refuse"],
		["only blank text", as(result, [{ type: "text", text: " \n" }]), result, "with empty content"],
		["no thinking", as(response, [words, called]), response, "with other thinking"],
		["another signature", as(response, [{ ...thinking, thinkingSignature: "s2" }, called]), response, "other thinking"],
		["no call", as(response, [thinking, words]), response, "with other tool calls"],
		["another id", as(response, [thinking, { ...called, id: "c2" }]), response, "with other tool calls"],
		["a call more", as(response, [thinking, called, { ...called, id: "c2" }]), response, "with other tool calls"],
		["a string for a response with a call", as(response, "words"), response, "other thinking"],
	])("is refused: %s", (_what, changed, original, complaint) => {
		expect(complaintAboutChange(changed, original)).toContain(complaint);
	});
});
