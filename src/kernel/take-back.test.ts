import { describe, expect, test } from "vitest";
import { KernelSession } from "../../test/support/kernel-session.ts";
import { AT_ONCE } from "../../test/support/screen.ts";
import { piVersions } from "../testing/index.ts";
import type { Standing } from "./take-back.ts";

const [newest] = piVersions().slice(-1);
if (!newest) throw new Error("no Pi is installed");
const pi = newest;
const note = { what_happened: "w", true_current_state: "t", next: "n" };
const rewind = { note, granularity: "last_tool_call_group" };
const shrink = { target: { by_tool_name: "grep", occurrence: "last" }, replacement: "short" };
const queueing = { maxMoments: 1, flushShedTokens: 1e9, safetyValveTokens: 1e9 };

/** A session with a prompt, a grep of 400 characters and a read. */
async function started(rules = AT_ONCE) {
	const session = await KernelSession.open(pi, { rules });
	session.user("go");
	session.batch(["grep"], 400);
	session.batch(["read"], 200);
	return session;
}

const kinds = (all: readonly Standing[]) => all.map(({ kind }) => kind);
const cancels = (session: KernelSession) =>
	session.branch().filter((entry) => entry.type === "custom" && entry.customType === "mulligan:cancel").length;

describe("what can be taken back", () => {
	test("is nothing in a session without ops", async () => {
		const session = await started();
		expect(session.kernel.standing()).toEqual([]);
	});

	test("is listed newest first", async () => {
		const session = await started();
		await session.op("mulligan_shrink", shrink);
		await session.op("mulligan_rewind", rewind);
		session.enter();
		expect(kinds(session.kernel.standing())).toEqual(["rewind", "shrink"]);
	});
});

describe("taking back", () => {
	test("a rewind gives its messages back, byte for byte, and names them", async () => {
		const session = await started();
		const before = session.request();
		await session.op("mulligan_rewind", rewind);
		session.enter();
		const [newestOp] = session.kernel.standing();
		const { returned } = session.kernel.takeBack([newestOp as Standing], "by the user");
		expect(returned.map(({ message }) => message.role)).toEqual(["assistant", "toolResult"]);
		expect(session.request().slice(0, before.length)).toEqual(before);
		expect(session.kernel.standing()).toEqual([]);
	});

	test("everything at once leaves the view as if nothing had been", async () => {
		const session = await started();
		await session.op("mulligan_shrink", shrink);
		await session.op("mulligan_rewind", rewind);
		session.enter();
		const { returned } = session.kernel.takeBack(session.kernel.standing(), "by the user");
		// The rewind took the shrink's own call and result with it.
		expect(returned).toHaveLength(5);
		expect(session.kernel.durable().hidden.size).toBe(1);
		expect(session.kernel.durable().replaced.size).toBe(0);
		expect(cancels(session)).toBe(2);
	});

	test("one of two that hide the same message does not name it: it stays hidden", async () => {
		const session = await started();
		await session.op("mulligan_shrink", shrink);
		await session.op("mulligan_rewind", { note, granularity: "last_turn" });
		session.enter();
		const shrinkOp = session.kernel.standing().find(({ kind }) => kind === "shrink") as Standing;
		expect(session.kernel.takeBack([shrinkOp], "by the user")).toEqual({ returned: [], activated: [] });
		expect(session.kernel.standing()).toHaveLength(1);
	});
});

describe("an op that waits", () => {
	test("is the newest, and is dropped without a change of the view", async () => {
		const session = await started(queueing);
		await session.op("mulligan_shrink", shrink);
		session.enter();
		const all = session.kernel.standing();
		expect(kinds(all)).toEqual(["waiting"]);
		expect(session.kernel.takeBack(all, "by the user")).toEqual({ returned: [], activated: [] });
		expect(session.kernel.standing()).toEqual([]);
		expect(session.kernel.durable().replaced.size).toBe(0);
	});

	test("becomes active with a cancel that changes the view", async () => {
		const session = await started({ maxMoments: 1, flushShedTokens: 0, safetyValveTokens: 1e9 });
		await session.op("mulligan_shrink", shrink);
		session.batch(["grep"], 400);
		await session.op("mulligan_shrink", shrink);
		session.enter();
		const [waiting, active] = session.kernel.standing();
		expect(kinds(session.kernel.standing())).toEqual(["waiting", "shrink"]);
		const { activated } = session.kernel.takeBack([active as Standing], "by the user");
		expect(activated.map(({ id }) => id)).toEqual([waiting?.id]);
		expect(kinds(session.kernel.standing())).toEqual(["shrink"]);
	});
});
