import { describe, expect, test } from "vitest";
import { type AnyMessage, containsText, onePixel, orphans, sessionLog, shape, textOf } from "./index.ts";

/** The messages of a log that `build` wrote. */
function messagesOf(build: (log: ReturnType<typeof sessionLog>) => void): AnyMessage[] {
	const log = sessionLog();
	build(log);
	return log.entries().flatMap((entry) => (entry.type === "message" ? [entry.message] : []));
}

const call = (id: string) => ({ id, name: "read", args: { path: `${id}.ts` } });

describe("shape and textOf", () => {
	test("each kind of message has its line", () => {
		const messages = messagesOf((log) => {
			log.user("two\n  lines");
			log.assistant({ thinking: "hm", text: "looking", calls: [call("c1"), call("c2")] });
			log.result("c1", [{ type: "text", text: "a" }, onePixel]);
			log.result("c2", "no such file", { isError: true });
			log.assistant({ calls: [call("c3")] });
			log.bash("ls", "files");
			log.system({ content: "be kind" });
		});
		expect(shape(messages)).toEqual([
			"user: two lines",
			"assistant: looking → read#c1, read#c2",
			"result read#c1: a [image]",
			"failed read#c2: no such file",
			"assistant → read#c3",
			"bash: $ ls files",
			"system",
		]);
	});

	test("messages that only a session has are read too", () => {
		const messages: AnyMessage[] = [
			{ role: "custom", customType: "note", content: "noted", display: true, timestamp: 0 },
			{ role: "branchSummary", summary: "left", fromId: null, timestamp: 0 },
			{ role: "compactionSummary", summary: "before", tokensBefore: 1, timestamp: 0 },
		];
		expect(shape(messages)).toEqual(["custom note: noted", "summary: left", "summary: before"]);
	});

	test("long texts are cut to the width", () => {
		expect(
			shape(
				messagesOf((log) => log.user("abcdefghij")),
				5,
			),
		).toEqual(["user: abcd…"]);
	});

	test("the text of a message keeps its lines", () => {
		const [user] = messagesOf((log) => log.user([{ type: "text", text: "a\nb" }, onePixel]));
		expect(user && textOf(user)).toBe("a\nb\n[image]");
	});
});

describe("orphans", () => {
	const table: [string, (log: ReturnType<typeof sessionLog>) => void, { calls: string[]; results: string[] }][] = [
		[
			"whole groups",
			(log) =>
				log.batch([
					{ name: "a", result: "1" },
					{ name: "b", result: "2" },
				]),
			{ calls: [], results: [] },
		],
		[
			"a call without a result at the end",
			(log) => log.assistant({ calls: [call("c1")] }),
			{ calls: ["c1"], results: [] },
		],
		[
			"a result that comes after the next answer",
			(log) => {
				log.assistant({ calls: [call("c1"), call("c2")] });
				log.result("c2", "in time");
				log.assistant("next");
				log.result("c1", "late");
			},
			{ calls: ["c1"], results: ["c1"] },
		],
		[
			"a second result of one call",
			(log) => {
				log.assistant({ calls: [call("c1")] });
				log.result("c1", "1");
				log.result("c1", "2");
			},
			{ calls: [], results: ["c1"] },
		],
		[
			"an aborted answer",
			(log) => log.assistant({ calls: [call("c1")], stopReason: "aborted" }),
			{ calls: [], results: [] },
		],
	];
	test.each(table)("%s", (_name, build, expected) => {
		expect(orphans(messagesOf(build))).toEqual(expected);
	});

	test("a result whose call was taken out", () => {
		const messages = messagesOf((log) => log.batch([{ name: "a", result: "1" }]));
		expect(orphans(messages.slice(1))).toEqual({ calls: [], results: ["c1"] });
	});
});

test("containsText finds a needle in any string inside, as it is and not as JSON writes it", () => {
	const value = { a: [{ b: 'say "x"\nnow' }], n: 42, none: null };
	expect(containsText(value, 'say "x"\nnow')).toBe(true);
	expect(containsText(value, "42")).toBe(false);
	expect(containsText(value, "b")).toBe(false);
});
