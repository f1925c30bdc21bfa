import { describe, expect, test } from "vitest";
import { sessionLog } from "../testing/index.ts";
import { Branch } from "./branch.ts";
import type { SessionEntry } from "./messages.ts";
import { type MirrorEdit, portionOf } from "./mirror.ts";

/** A branch of so many groups of one call, and an edit that leaves out each of their entries. */
function groups(count: number): { branch: Branch; changes: readonly MirrorEdit[] } {
	const log = sessionLog();
	log.user("go");
	const ids = Array.from({ length: count }, (_, at) =>
		log.batch([{ id: `c${at}`, name: "grep", result: "x" }]),
	).flatMap(({ assistant, results }) => [assistant, ...results]);
	const entries = new Map(log.entries().map((entry) => [entry.id, entry as SessionEntry]));
	const branch = new Branch();
	branch.sync({ getLeafId: () => log.leaf, getEntry: (id) => entries.get(id), getLabel: () => undefined });
	return { branch, changes: ids.map((targetId) => ({ targetId, replacement: null })) };
}

describe("the edits of one turn's end", () => {
	test("are all that are owed in a session of usual size", () => {
		const { branch, changes } = groups(100);
		expect(portionOf(changes, branch)).toEqual(changes);
		expect(portionOf([], branch)).toEqual([]);
	});

	test("are a part of them in a long one, which cuts no group; all come in time", () => {
		const { branch, changes } = groups(3001);
		let left = changes;
		let turns = 0;
		while (left.length > 0) {
			const portion = portionOf(left, branch);
			expect(portion.length).toBeGreaterThan(0);
			expect(portion.length * branch.length).toBeLessThan(2_100_000);
			expect(portion.length % 2).toBe(0);
			left = left.slice(portion.length);
			turns++;
		}
		expect(turns).toBeGreaterThan(10);
	});
});
