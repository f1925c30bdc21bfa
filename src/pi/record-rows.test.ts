import type { SessionEntry } from "@earendil-works/pi-coding-agent";
import { describe, expect, test } from "vitest";
import { openSession, piVersions, sessionLog, type TestSession } from "../testing/index.ts";

const edges = piVersions().filter(({ name }) => name === "oldest" || name === "newest");

const header = { schema: "pi-mulligan", v: 1, kind: "x", seq: 1, ts: 1 };
const op = {
	plugin: "shrink",
	describe: "shrink of bash",
	effect: "replace",
	type: "mulligan:shrink",
	body: { id: "s1", target: {}, replacement: "short", pinnedEntryId: "e" },
	entryIds: ["e"],
	shedTokens: 7,
	toolCallId: "c",
};
const ofEarlierVersion = { ...header, id: "s1", target: { by_content_includes: "needle" }, replacement: "short" };

/** Records, and the first line that the human sees of each. */
const SHOWN: readonly [type: string, data: object, line: string][] = [
	["mulligan:rewind", { ...header, id: "r1", hideEntryIds: ["a", "b"] }, "the last tool call group: 2 messages left"],
	["mulligan:shrink", ofEarlierVersion, "a summary in place of a result"],
	["mulligan:cancel", { ...header, targetId: "r1" }, "a rewind is taken back"],
	["mulligan:queued", { ...header, id: "s1", status: "queued", op }, "queued: shrink of bash (~7 tokens)"],
	["mulligan:checkpoint", { ...header, name: "start" }, 'you set the checkpoint "start" here'],
];

describe.each(edges)("the transcript of Pi $version", (pi) => {
	/** What Pi's renderer of an entry's type makes of it, as lines; undefined where it shows nothing. */
	function linesOf(session: TestSession, entry: SessionEntry): readonly string[] | undefined {
		if (entry.type !== "custom") throw new Error(`${entry.type} is no record`);
		const render = session.session.extensionRunner.getEntryRenderer(entry.customType);
		if (!render) throw new Error(`nothing shows ${entry.customType}`);
		return render(entry, { expanded: false } as never, undefined as never)?.render(200);
	}

	test.each(SHOWN)("shows %s", async (type, data, line) => {
		const log = sessionLog();
		log.user("go");
		log.custom("mulligan:rewind", { ...header, id: "r1", hideEntryIds: [] });
		const id = log.custom(type, data);
		await using session = await openSession({ pi, log });
		const shown = session.branch().flatMap((entry) => (entry.id === id ? linesOf(session, entry) : []));
		expect(shown?.[0]).toContain(line);
	});

	test("shows no record that is malformed or from the future", async () => {
		const log = sessionLog();
		log.user("go");
		for (const [type, data] of SHOWN) {
			for (const wrong of [undefined, null, "x", [], {}, header, { ...data, v: 2 }]) log.custom(type, wrong);
		}
		await using session = await openSession({ pi, log });
		const entries = session.branch().filter(({ type }) => type === "custom");
		expect(entries).toHaveLength(7 * SHOWN.length);
		for (const entry of entries) expect(linesOf(session, entry)).toBeUndefined();
	});
});
