import { existsSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { faultsOfForm } from "../../src/testing/conformance/form.ts";
import { containsText, openSession, piVersions } from "../../src/testing/index.ts";
import { atOnce, bulk, call, records } from "../support/mulligan.ts";
import { openRpc } from "../support/rpc.ts";

const edges = piVersions().filter(({ name }) => name === "oldest" || name === "newest");
const FULL = "/dev/full";

describe.each(edges)("with Pi $version", (pi) => {
	test.skipIf(!existsSync(FULL))("a log on a full disk is one warning, and nothing else changes", async () => {
		await using session = await openSession({
			pi,
			settings: { mulligan: { ...atOnce, log: { file: FULL } } },
			tools: { grep: () => bulk("SECRET") },
		});
		for (const id of ["a", "b"]) {
			session.script({ calls: [call.tool(`${id}1`, "grep")] }, { calls: [call.rewind(`${id}2`)] }, "done");
			await session.prompt("go");
		}
		expect(containsText(session.lastRequest.messages, "SECRET")).toBe(false);
		expect(records(session, "mulligan:rewind")).toHaveLength(2);
		const told = session.ui.notifications.map(({ message }) => message).filter((message) => message.includes(FULL));
		expect(told).toEqual([expect.stringMatching(/no space left on device/i)]);
		expect(session.errors).toEqual([]);
	});

	test("two processes that work on one session file leave one whose branches can both be resumed", async () => {
		const settings = { mulligan: { rewrites: { maxMoments: 9, flushShedTokens: 0 } } };
		const script = (name: string) => [
			{ calls: [call.tool(`${name}1`, "bash", { command: `echo ${name}-SECRET; seq 1 300` })] },
			{ calls: [call.rewind(`${name}2`)] },
			`${name} done`,
		];
		await using first = openRpc({ pi, settings, script: ["begun", ...script("one")] });
		await first.prompt("begin");
		const { cwd, agentDir } = first;
		const file = first.sessionFile() as string;
		await using second = openRpc({ pi, settings, cwd, agentDir, args: ["--session", file], script: script("two") });
		await Promise.all([first.prompt("go on, one"), second.prompt("go on, two")]);
		await Promise.all([first.close(), second.close()]);

		await using session = await openSession({ pi, settings, cwd, agentDir, sessionFile: file });
		const ids = records(session, "mulligan:rewind").map(({ id }) => id);
		expect(new Set(ids).size).toBe(2);
		const ends = session
			.entries()
			.filter((entry) => containsText(entry, "one done") || containsText(entry, "two done"));
		expect(ends).toHaveLength(2);
		for (const { id } of ends) {
			await session.navigateTree(id);
			session.script("on");
			await session.prompt("and now?");
			const { messages } = session.lastRequest;
			expect(faultsOfForm(messages)).toEqual([]);
			expect(
				containsText(
					messages.filter(({ role }) => role === "toolResult"),
					"SECRET",
				),
			).toBe(false);
			expect(containsText(messages, "Rewound: the last tool call group")).toBe(true);
		}
	});
});
