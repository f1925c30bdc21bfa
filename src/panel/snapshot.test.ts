import { describe, expect, test } from "vitest";
import { KernelSession } from "../../test/support/kernel-session.ts";
import { newestPi } from "../testing/pi-versions.ts";
import { pluginStates, runState } from "./snapshot.ts";

const builtIns = ["rewind", "shrink", "tool-repair"];
const note = { what_happened: "w", true_current_state: "t", next: "n" };

describe("plugins", () => {
	test("are those of the list with what became of them, then those that are off", () => {
		const running = [
			{ name: "mine", off: "its set-up failed: no disk" },
			{ name: "rewind", off: undefined },
			{ name: "shrink", off: "threw in onView 3 times in a row" },
		];
		expect(pluginStates({ listed: ["mine", "rewind", "shrink"], running, builtIns })).toEqual([
			{ name: "mine", state: "left out", why: "its set-up failed: no disk", isBuiltIn: false },
			{ name: "rewind", state: "on", isBuiltIn: true },
			{ name: "shrink", state: "switched off", why: "threw in onView 3 times in a row", isBuiltIn: true },
			{ name: "tool-repair", state: "off", isBuiltIn: true },
		]);
	});
});

describe("the kernel's state", () => {
	test("names what stands by kind and size, never by what it says", async () => {
		const session = await KernelSession.open(newestPi());
		session.user("SECRET prompt");
		session.batch(["grep"], 400);
		await session.op("mulligan_shrink", { target: { by_tool_name: "grep" }, replacement: "SECRET" });
		session.batch(["read", "read"], 200);
		await session.op("mulligan_rewind", { note, granularity: "last_tool_call_group" });
		session.enter();
		const { standing, figures, moments, checkpoints, labelOf } = runState(session.kernel);
		expect(standing).toMatchObject([
			{ kind: "rewind", what: expect.stringMatching(/^last tool call group, 3 messages hidden, ~\d+ tokens$/) },
			{ kind: "shrink", what: expect.stringMatching(/^grep call-1: \d+ → \d+ tokens$/) },
		]);
		expect(figures).toMatchObject({ hidden: 3, changed: 1, messages: session.kernel.branch.context().length });
		expect(moments).toMatchObject({ spent: 2, queuedTokens: 0, last: { trigger: "volume" } });
		expect(checkpoints).toEqual([]);
		const labels = session.kernel.branch.context().map(({ id }) => labelOf(id));
		expect(labels.slice(0, 3)).toEqual(["a prompt", "a call of grep", "grep call-1"]);
		expect(labelOf("nowhere")).toBe("entry nowhere");
		expect(JSON.stringify([standing, labels])).not.toContain("SECRET");
	});

	test("says of a shrink of what was shrunk again that the later one is in force", async () => {
		const session = await KernelSession.open(newestPi());
		session.user("go");
		session.batch(["grep"], 400);
		const target = { by_tool_name: "grep" };
		await session.op("mulligan_shrink", { target, replacement: "the first" });
		await session.op("mulligan_shrink", { target, replacement: "second" });
		session.enter();
		expect(runState(session.kernel).standing.map(({ what }) => what)).toEqual([
			expect.stringMatching(/^grep call-1: \d+ → \d+ tokens$/),
			"grep call-1, a later shrink of it is in force",
		]);
	});

	test("says of a shrink of what was hidden later that it is not in force", async () => {
		const session = await KernelSession.open(newestPi());
		session.user("go");
		session.batch(["grep"], 400);
		await session.op("mulligan_shrink", { target: { by_tool_name: "grep" }, replacement: "short" });
		await session.op("mulligan_rewind", { note, granularity: "last_turn" });
		session.enter();
		const shrink = runState(session.kernel).standing.find(({ kind }) => kind === "shrink");
		expect(shrink?.what).toBe("grep call-1, not in force in the context");
	});
});
