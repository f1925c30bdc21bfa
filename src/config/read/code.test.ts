import { expect, test } from "vitest";
import { type Gate, NotApproved } from "../trust/gate.ts";
import { readCode } from "./code.ts";

const gateThat = (load: Gate["load"]): Gate => ({
	load,
	prepare: async () => {},
	pending: [],
	approve: async () => ({ files: [], isKept: true }),
});

test("a file that never ends is given up, so that the session starts", async () => {
	const gate = gateThat(() => new Promise(() => {}));
	expect(await readCode("config.ts", { gate, saidBy: "user", patienceMs: 5 })).toEqual({
		problem: "it was still loading after 0.005 s",
	});
});

test("a file that fails after it was given up disturbs nobody", async () => {
	let fail: (error: Error) => void = () => {};
	const late = new Promise((_resolve, reject) => {
		fail = reject;
	});
	await readCode("config.ts", { gate: gateThat(() => late), saidBy: "user", patienceMs: 1 });
	fail(new Error("too late"));
	await new Promise((resolve) => setImmediate(resolve));
});

test("a file that nobody approved is told from one that fails", async () => {
	const refusing = (error: Error) => ({ gate: gateThat(() => Promise.reject(error)), saidBy: "project" }) as const;
	expect(await readCode("a.ts", refusing(new NotApproved("ask")))).toEqual({ problem: "ask", notRun: "unapproved" });
	expect(await readCode("a.ts", refusing(new Error("broken")))).toEqual({ problem: "broken" });
});

test("what it exports is a copy, the plugins in it are the very objects", async () => {
	const plugin = { name: "mine", setup: () => {} };
	const section = { list: [{ a: 1 }] };
	const exported = { mine: section, plugins: [plugin], replace: { shrink: plugin } };
	const read = await readCode("config.ts", { gate: gateThat(async () => exported), saidBy: "user" });
	const { mine, plugins, replace } = (read as { value: typeof exported }).value;
	expect(mine).toEqual(section);
	expect(mine.list[0]).not.toBe(section.list[0]);
	expect([plugins[0], replace.shrink]).toEqual([plugin, plugin]);
	expect(plugins[0]).toBe(plugin);
});
