import type { SessionEntry } from "@earendil-works/pi-coding-agent";
import { describe, expect, test } from "vitest";
import { drive } from "../../scripts/fuzz/drive.ts";
import { faultsOf, knownOf } from "../../scripts/fuzz/oracle.ts";
import { type FuzzScript, scriptOf } from "../../scripts/fuzz/script.ts";
import { smallest } from "../../scripts/fuzz/shrink.ts";
import { type ModelRequest, piVersions, sessionLog } from "../../src/testing/index.ts";

const edges = piVersions().filter(({ name }) => name === "oldest" || name === "newest");

test.each([11, 12, 13, 14, 15, 16])("random sessions keep what is promised: seed %i", async (seed) => {
	const { faults, requests } = await drive(scriptOf(seed), edges);
	expect(faults).toEqual([]);
	expect(requests).toBeGreaterThan(0);
});

test("a seed makes the same script each time, and another another", () => {
	expect(scriptOf(7)).toEqual(scriptOf(7));
	expect(scriptOf(7)).not.toEqual(scriptOf(8));
});

test("a failing script is made as small as it can be", async () => {
	const script: FuzzScript = {
		...scriptOf(3),
		steps: [{ do: "model" }, { do: "reload" }, { do: "compact" }, { do: "reload" }],
	};
	const small = await smallest(script, async ({ steps }) => steps.some((step) => step.do === "compact"), 100);
	expect(small.steps).toEqual([{ do: "compact" }]);
	const most = await smallest(script, async () => true, 1);
	expect(most.steps).toHaveLength(3);
});

describe("what the oracle finds", () => {
	/** A rewound group, a shrunk result, and what is left. */
	function session() {
		const log = sessionLog();
		log.user("U1- go");
		const gone = log.batch([{ id: "a", name: "grep", result: "R1- gone" }], { text: "W1- gone" });
		const kept = log.batch([{ id: "b", name: "grep", result: "R2- long" }], { text: "W2- kept" });
		const head = { schema: "pi-mulligan", v: 1, seq: 1, ts: 1 };
		const note = { what_happened: "N1-", true_current_state: "", next: "" };
		log.custom("mulligan:rewind", {
			...head,
			id: "m1",
			hideEntryIds: [gone.assistant, ...gone.results],
			note,
			excludeToolCallId: "r",
		});
		log.custom("mulligan:shrink", { ...head, id: "m2", pinnedEntryId: kept.results[0], replacement: "S1-" });
		return log.entries() as unknown as SessionEntry[];
	}
	type Message = ModelRequest["messages"][number];
	const user = (content: string) => ({ role: "user", content }) as Message;
	const response = (text: string, id?: string) =>
		({
			role: "assistant",
			stopReason: "stop",
			content: [{ type: "text", text }, ...(id ? [{ type: "toolCall", id, name: "grep", arguments: {} }] : [])],
		}) as unknown as Message;
	const result = (toolCallId: string, text: string) =>
		({ role: "toolResult", toolCallId, toolName: "grep", content: [{ type: "text", text }] }) as unknown as Message;
	const right = [user("U1- go"), response("W2- kept", "b"), result("b", "S1-"), user("Rewound\nWhat happened: N1-\nx")];
	const faults = (messages: readonly Message[]) =>
		faultsOf({ messages } as unknown as ModelRequest, knownOf(session()), { isOff: false });

	test("nothing in a request as it should be", () => {
		expect(faults(right)).toEqual([]);
	});

	test.each<[string, readonly Message[], string]>([
		["hidden text", [...right, user("x"), response("W1- gone")], "W1- is sent although it is rewound"],
		[
			"the whole of what was shrunk",
			right.map((message) => (message.role === "toolResult" ? result("b", "R2- long S1-") : message)),
			"R2- is sent although it is shrunk",
		],
		["a missing message", right.slice(0, 1).concat(right.slice(3)), "W2- is missing"],
		[
			"a missing summary",
			right.map((message) => (message.role === "toolResult" ? result("b", "?") : message)),
			"the summary S1- is missing",
		],
		["a missing note", right.slice(0, 3), "the note N1- is there 0 times"],
		["a note twice", [...right, right[3] as Message], "the note N1- is there 2 times"],
		["half of a pair", right.filter(({ role }) => role !== "toolResult"), "the call b has lost its result"],
		[
			"the other half",
			[right[0] as Message, result("b", "S1-"), response("W2- kept"), right[3] as Message],
			"the result b has lost its call",
		],
		["two responses in a row", [...right, response("x"), response("y")], "two responses in a row at 4"],
		["a response at the start", [response("x"), ...right], "the first message is of role assistant"],
	])("%s", (_what, messages, fault) => {
		expect(faults(messages)).toContain(fault);
	});
});
