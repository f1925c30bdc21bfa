import * as pi from "@earendil-works/pi-coding-agent";
import { describe, expect, it } from "vitest";
import { readBranch, responsesOf, storedResults } from "../../scripts/demo/session.ts";

const timestamp = "2026-01-01T00:00:00.000Z";
const text = (value: string) => [{ type: "text", text: value }];
const call = { type: "toolCall", id: "c1", name: "bash", arguments: {} };
const result = { role: "toolResult", toolCallId: "c1", toolName: "bash", isError: false };

/** A session in which a result was edited and a note added, with a branch that was left. */
const file = [
	{ type: "session", version: 3, id: "s", timestamp, cwd: "/" },
	{ type: "message", id: "1", parentId: null, message: { role: "user", content: "go", timestamp: 1 } },
	{ type: "message", id: "2", parentId: "1", message: { role: "assistant", content: [call], timestamp: 2 } },
	{ type: "message", id: "left", parentId: "2", message: { ...result, content: text("left"), timestamp: 3 } },
	{ type: "message", id: "3", parentId: "2", message: { ...result, content: text("original"), timestamp: 3 } },
	{ type: "custom", id: "4", parentId: "3", customType: "mulligan:shrink", data: {} },
	{ type: "context_edit", id: "5", parentId: "4", targetId: "3", replacement: { content: "shrunk" } },
	{ type: "custom_message", id: "6", parentId: "5", customType: "mulligan:note", content: "a note", display: true },
	{ type: "custom_message", id: "7", parentId: "6", customType: "other", content: "kept", display: true },
	{ type: "message", id: "8", parentId: "7", message: { role: "assistant", content: text("done"), timestamp: 4 } },
]
	.map((entry) => JSON.stringify({ timestamp, ...entry }))
	.join("\n");

const branch = readBranch(pi, file);

describe("the session file of a run", () => {
	it("is read along the branch that it ends on", () => {
		expect(branch.map((entry) => entry.id)).toEqual(["1", "2", "3", "4", "5", "6", "7", "8"]);
	});

	it("tells what each response called", () => {
		expect(responsesOf(pi, branch).map((response) => response.toolCallId)).toEqual(["c1", undefined]);
	});

	it("gives the originals of each response, without edits and without mulligan's notes", () => {
		const originals = responsesOf(pi, branch).map((response) => response.originals.map((message) => message.content));
		expect(originals).toEqual([["go"], ["go", [call], text("original"), text("kept")]]);
	});

	it("holds the text of each tool result", () => {
		expect(storedResults(branch)).toEqual(new Map([["c1", "original"]]));
	});
});
