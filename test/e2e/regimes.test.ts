import { describe, expect, test } from "vitest";
import { containsText, orphans, piVersions, shape, textOf } from "../../src/testing/index.ts";
import { bulk, call, openAtOnce, records, wire } from "../support/mulligan.ts";

const tools = {
	grep: ({ pattern }: Record<string, unknown>) => bulk(`GREP-${pattern}`),
	log: () => bulk("LOG"),
};

describe.each(piVersions())("with Pi $version", (pi) => {
	test("a rewound group leaves every later request, and its note stands directly after the rewind's result", async () => {
		await using session = await openAtOnce({ pi, tools });
		session.script(
			{ calls: [call.tool("c1", "grep", { pattern: "wide" })] },
			{ calls: [call.rewind("c2")] },
			{ calls: [call.tool("c3", "grep", { pattern: "narrow" })] },
			"done",
			"again",
		);
		await session.prompt("find it");
		await session.prompt("and more");

		const [, , afterRewind, atTheEnd, nextPrompt] = session.requests;
		expect(shape(afterRewind?.messages ?? [], 24)).toEqual([
			"user: find it",
			"assistant → mulligan_rewind#c2",
			expect.stringMatching(/^result mulligan_rewind#c2: Mulligan: rewind/),
			"user: Rewound: the last tool …",
		]);
		for (const request of [afterRewind, atTheEnd, nextPrompt]) {
			expect(containsText(request?.messages, "GREP-wide")).toBe(false);
			expect(orphans(request?.messages ?? [])).toEqual({ calls: [], results: [] });
		}
		expect(shape(nextPrompt?.messages ?? [], 24).slice(3, 5)).toEqual([
			"user: Rewound: the last tool …",
			"assistant → grep#c3",
		]);
		expect(containsText(session.lines(), "GREP-wide")).toBe(true);
		expect(records(session, "mulligan:rewind")).toHaveLength(1);
		expect(session.errors).toEqual([]);
	});

	test("the view is the same on every request between two ops", async () => {
		await using session = await openAtOnce({ pi, tools });
		session.script(
			{ calls: [call.tool("c1", "grep", { pattern: "wide" })] },
			{ calls: [call.rewind("c2")] },
			{ calls: [call.tool("c3", "log")] },
			{ calls: [call.shrink("c4", { by_tool_name: "log" })] },
			{ calls: [call.tool("c5", "grep", { pattern: "x" })] },
			"done",
			"more",
		);
		await session.prompt("go");
		await session.prompt("on");
		const [, , third, fourth, fifth, sixth, seventh] = session.requests.map(({ messages }) => wire(messages));
		expect(fourth?.slice(0, third?.length)).toEqual(third);
		expect(sixth?.slice(0, fifth?.length)).toEqual(fifth);
		expect(seventh?.slice(0, sixth?.length)).toEqual(sixth);
	});

	test("a shrunk result keeps its place and its call, and a cancel brings it back byte for byte", async () => {
		await using session = await openAtOnce({ pi, tools });
		session.script(
			{ calls: [call.tool("c1", "log")] },
			{ calls: [call.shrink("c2", { by_tool_call_id: "c1" }, "all green")] },
			{ calls: [call.cancel("c3", { target: { by_tool_call_id: "c1" } })] },
			"done",
		);
		await session.prompt("test it");
		const [, before, shrunk, after] = session.requests.map(({ messages }) => messages);
		expect(shrunk?.map((message) => message.role).slice(0, 3)).toEqual(["user", "assistant", "toolResult"]);
		expect(textOf(shrunk?.[2] as never)).toBe("<context-shrunk>\nall green\n</context-shrunk>");
		expect(wire(after ?? []).slice(0, 3)).toEqual(wire(before ?? []));
		expect(textOf(shrunk?.[4] as never).split("\n")[0]).toBe("Mulligan: shrink recorded. Matched: yes.");
		expect(
			textOf(shrunk?.[4] as never)
				.split("\n")
				.at(-1),
		).toMatch(
			/^Context updated: 1 result\(s\) summarized \(~\d+ tokens shed\)\. Continue exactly where you left off — no re-verification or re-reading is needed\.$/,
		);
	});

	test.each([0, 1, 2])(
		"with %i steering messages queued the note comes first and no request is added",
		async (queued) => {
			const run = async (withMulligan: boolean) => {
				const session = await openAtOnce({
					pi,
					...(withMulligan ? {} : { extensionPaths: [] }),
					tools: {
						...tools,
						...(withMulligan ? {} : { mulligan_rewind: () => "fine" }),
						slow: async () => {
							for (let i = 0; i < queued; i++) await session.steer(`STEER-${i}`);
							return "slow";
						},
					},
				});
				session.otherwise("done");
				session.script(
					{ calls: [call.tool("c1", "grep", { pattern: "wide" })] },
					{ calls: [call.rewind("c2"), call.tool("c3", "slow")] },
				);
				await session.prompt("go");
				return session;
			};
			await using ours = await run(true);
			await using plain = await run(false);
			expect(ours.requests.length).toBe(plain.requests.length);
			const next = shape(ours.requests[2]?.messages ?? [], 12);
			expect(next.slice(0, 5)).toEqual([
				"user: go",
				"assistant → mulligan_rewind#c2, slow#c3",
				expect.stringMatching(/^result mulligan_rewind#c2/),
				"result slow#c3: slow",
				"user: Rewound: th…",
			]);
			if (queued > 0) expect(next[5]).toBe("user: STEER-0");
			expect(containsText(ours.lastRequest.messages, "GREP-wide")).toBe(false);
		},
	);

	test("after a resume the view is as it was", async () => {
		await using session = await openAtOnce({ pi, tools });
		session.script(
			{ calls: [call.tool("c1", "grep", { pattern: "wide" })] },
			{ calls: [call.rewind("c2")] },
			{ calls: [call.tool("c3", "log")] },
			{ calls: [call.shrink("c4", { by_tool_name: "log" })] },
			"done",
		);
		await session.prompt("go");
		const before = wire(session.lastRequest.messages);
		await using resumed = await session.reopen();
		resumed.script("more");
		await resumed.prompt("on");
		expect(wire(resumed.lastRequest.messages).slice(0, before.length)).toEqual(before);
	});

	test("the summariser sees the view: nothing hidden, what was shrunk as its replacement", async () => {
		await using session = await openAtOnce({ pi, tools, settings: { compaction: { keepRecentTokens: 10 } } });
		session.script(
			{ calls: [call.tool("c1", "grep", { pattern: "wide" })] },
			{ calls: [call.rewind("c2")] },
			{ calls: [call.tool("c3", "log")] },
			{ calls: [call.shrink("c4", { by_tool_name: "log" }, "ALL-GREEN")] },
			"done",
		);
		await session.prompt("go");
		const original = JSON.stringify(session.entries());
		session.otherwise("SUMMARY");
		await session.compact();
		const asked = session.requests.slice(5);
		expect(asked.length).toBeGreaterThan(0);
		expect(containsText(asked, "GREP-wide")).toBe(false);
		expect(containsText(asked, "0123456789abcdef")).toBe(false);
		expect(containsText(asked, "ALL-GREEN")).toBe(true);
		expect(JSON.stringify(session.entries().slice(0, JSON.parse(original).length))).toBe(original);
	});

	test("without an op every request is what it is without the extension, but for the four declarations", async () => {
		const run = async (extensionPaths?: string[]) => {
			const session = await openAtOnce({ pi, tools, ...(extensionPaths ? { extensionPaths } : {}) });
			session.script({ calls: [call.tool("c1", "log")] }, "done", "more");
			await session.prompt("go");
			await session.prompt("on");
			return session;
		};
		await using ours = await run();
		await using plain = await run([]);
		expect(ours.requests.map(({ messages }) => wire(messages))).toEqual(
			plain.requests.map(({ messages }) => wire(messages)),
		);
		const names = (session: typeof ours) => session.requests[0]?.tools.map(({ name }) => name) ?? [];
		expect(names(ours).filter((name) => !names(plain).includes(name))).toEqual([
			"mulligan_rewind",
			"mulligan_shrink",
			"mulligan_cancel",
			"mulligan_audit",
		]);
	});
});
