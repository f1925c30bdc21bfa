import { describe, expect, test } from "vitest";
import { faultsOfForm } from "../../src/testing/conformance/form.ts";
import { containsText, openSession, piVersions, type SessionLog, sessionLog } from "../../src/testing/index.ts";
import { atOnce, bulk, call } from "../support/mulligan.ts";

const edges = piVersions().filter(({ name }) => name === "oldest" || name === "newest");
const settings = { mulligan: atOnce, compaction: { enabled: false } };
const tools = { grep: () => bulk("FRESH-RESULT") };
const models = [{ id: "model-a", contextWindow: 1_000_000_000 }];
const header = { schema: "pi-mulligan", v: 1, ts: 1 };

/** Rewound groups of one call each. */
function rewound(log: SessionLog, count: number): void {
	for (let seq = 1; seq <= count; seq++) {
		const { assistant, results } = log.batch([{ id: `c${seq}`, name: "grep", result: `HIDDEN-${seq}` }]);
		log.custom("mulligan:rewind", {
			...header,
			kind: "rewind",
			seq,
			id: `m${seq}`,
			hideEntryIds: [assistant, ...results],
		});
	}
}

describe.each(edges)("with Pi $version", (pi) => {
	test.each<[string, (log: SessionLog) => void]>([
		["10,000 markers", (log) => rewound(log, 10_000)],
		[
			"100,000 entries",
			(log) => {
				rewound(log, 5);
				for (let count = 0; count < 33_000; count++)
					log.batch([{ id: `e${count}`, name: "grep", result: `SEEN-${count}` }]);
				for (let count = 0; count < 34_000; count++) log.custom("other:note", { count });
			},
		],
		[
			"200 MB",
			(log) => {
				rewound(log, 5);
				const result = "x".repeat(1_000_000);
				for (let count = 0; count < 200; count++)
					log.batch([{ id: `e${count}`, name: "grep", result: `SEEN-${count} ${result}` }]);
			},
		],
	])("a session of %s resumes with all its edits, and can be worked in", { timeout: 400_000 }, async (what, fill) => {
		// Pi itself takes half a minute for it.
		if (what === "200 MB" && pi.name !== "newest") return;
		const log = sessionLog();
		log.user("go");
		fill(log);
		log.assistant("done");
		await using session = await openSession({ pi, settings, tools, models, log });
		session.script(
			{ calls: [{ id: "own-1", name: "grep", args: {} }] },
			{ calls: [call.shrink("own-2", { by_tool_call_id: "own-1" }, "SHORT")] },
			"done",
		);
		await session.prompt("and now?");
		const { messages } = session.lastRequest;
		expect(containsText(messages, "HIDDEN-")).toBe(false);
		expect(containsText(messages, "FRESH-RESULT")).toBe(false);
		expect(containsText(messages, "SHORT")).toBe(true);
		expect(faultsOfForm(messages)).toEqual([]);
		expect(session.errors).toEqual([]);
	});
});
