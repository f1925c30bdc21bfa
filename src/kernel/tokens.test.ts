import { findPackageJSON } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, test } from "vitest";
import { onePixel, type PiVersion, piVersions } from "../testing/index.ts";
import { type Block, type Content, type Message, shownText } from "./messages.ts";
import { Calibration, contentChars, contentTokens, messageTokens, textTokens } from "./tokens.ts";

const call = (args: unknown): Block => ({
	type: "toolCall",
	id: "long-id-that-is-not-counted",
	name: "read",
	arguments: args,
});

describe("the plain estimate", () => {
	test.each([
		["", 0],
		["a", 1],
		["abcd", 1],
		["abcde", 2],
		["x".repeat(400), 100],
	])("of the text %j is %i", (text, tokens) => {
		expect(textTokens(text)).toBe(tokens);
	});

	test.each<[string, Content | undefined, number]>([
		["nothing", undefined, 0],
		["an empty list", [], 0],
		["a string", "abcdefgh", 8],
		[
			"text blocks, together",
			[
				{ type: "text", text: "abc" },
				{ type: "text", text: "de" },
			],
			5,
		],
		["thinking", [{ type: "thinking", thinking: "abcd" }], 4],
		[
			"a call, by its name and its arguments as JSON",
			[call({ path: "a.ts" })],
			"read".length + '{"path":"a.ts"}'.length,
		],
		["a call without arguments, by its name", [call(undefined)], "read".length],
		["an image, as 1,200 tokens whatever its bytes", [onePixel as Block], 4800],
		["a block of an unknown type", [{ type: "video", url: "x" } as unknown as Block], 0],
		["a text block without a text", [{ type: "text" } as unknown as Block], 0],
		["what is no content", 7 as unknown as Content, 0],
	])("counts the characters of %s", (_what, content, chars) => {
		expect(contentChars(content)).toBe(chars);
		expect(contentTokens(content)).toBe(Math.ceil(chars / 4));
	});

	test("rounds once for a content, not once a block", () => {
		const block: Block = { type: "text", text: "a" };
		expect(contentTokens([block, block, block, block])).toBe(1);
	});

	const timestamp = 1;
	test.each<[Message, number]>([
		[{ role: "user", content: "x".repeat(40), timestamp }, 10],
		[{ role: "assistant", content: [{ type: "text", text: "x".repeat(40) }], timestamp }, 10],
		[
			{
				role: "toolResult",
				toolCallId: "c",
				toolName: "bash",
				content: "x".repeat(40),
				details: "x".repeat(40),
				timestamp,
			},
			10,
		],
		[{ role: "custom", customType: "c", content: "x".repeat(40), display: true, timestamp }, 10],
		[{ role: "bashExecution", command: "x".repeat(8), output: "x".repeat(32), timestamp }, 10],
		[{ role: "branchSummary", summary: "x".repeat(40), timestamp }, 10],
		[{ role: "compactionSummary", summary: "x".repeat(40), timestamp }, 10],
		[{ role: "system", timestamp }, 0],
	])("of a message counts what it says to the model: $role", (message, tokens) => {
		expect(messageTokens(message)).toBe(tokens);
	});

	test.each(["error", "aborted"])("of a response that broke off (%s) is nothing: Pi leaves it out", (stopReason) => {
		const content: Content = [{ type: "text", text: "x".repeat(40) }, call({ path: "a.ts" })];
		expect(messageTokens({ role: "assistant", content, stopReason, timestamp })).toBe(0);
		expect(messageTokens({ role: "assistant", content, stopReason, timestamp }, "x".repeat(40))).toBe(0);
	});

	test("of a message with another content counts that", () => {
		const message: Message = { role: "user", content: "x".repeat(400), timestamp };
		expect(messageTokens(message, "x".repeat(40))).toBe(10);
	});

	test("of a command that the human kept from the model is nothing", () => {
		const message = {
			role: "bashExecution",
			command: "x".repeat(40),
			output: "x".repeat(40),
			excludeFromContext: true,
			timestamp,
		};
		expect(messageTokens(message as unknown as Message)).toBe(0);
	});
});

describe.each(piVersions())("what Pi $version sends", (pi) => {
	test("counts, and what it leaves out does not, however a response ended", async () => {
		const { transformMessages } = await providerSide(pi);
		const ends = ["stop", "length", "toolUse", "error", "aborted"];
		const responses = ends.map((stopReason): Message => {
			const content = [{ type: "text", text: stopReason } as const];
			return { role: "assistant", content, stopReason, provider: "p", model: "m", timestamp: 1 };
		});
		const sent = transformMessages(responses, { provider: "p", id: "m", input: ["text"] });
		const counted = responses.filter((message) => messageTokens(message) > 0);
		expect(counted.map(shownText)).toEqual(sent.map(shownText));
		expect(sent.map(shownText)).toEqual(["stop", "length", "toolUse"]);
	});
});

/** The last thing that Pi does to a list before a provider's API gets it. */
async function providerSide(pi: PiVersion) {
	const manifest = findPackageJSON("@earendil-works/pi-ai", pathToFileURL(join(pi.root, "dist/index.js")));
	const file = join(dirname(manifest ?? ""), "dist/api/transform-messages.js");
	return (await import(pathToFileURL(file).href)) as {
		transformMessages(messages: readonly Message[], model: object): readonly Message[];
	};
}

describe("the calibration", () => {
	const usage = (input: number, cacheRead = 0, cacheWrite = 0) => ({ input, output: 999, cacheRead, cacheWrite });
	/** What is learned of 1,000 plain tokens a request from these figures. */
	const learned = (...reported: readonly number[]) => {
		const calibration = new Calibration();
		for (const input of reported) calibration.observe("m", 1000, usage(input));
		return calibration.factor("m");
	};

	test.each<[string, readonly number[], number | undefined]>([
		["nothing from nothing", [], undefined],
		["nothing from two responses", [1300, 1300], undefined],
		["the mean of three that agree", [1300, 1330, 1360], 1.33],
		["three that lie exactly 10 % apart", [1000, 1050, 1100], 1.05],
		["nothing from three that lie further apart", [1000, 1050, 1101], undefined],
		["nothing from figures that never agree in a row", [1000, 1300, 1000, 1300, 1000], undefined],
		["three that agree after others", [3000, 200, 1500, 1500, 1500], 1.5],
		["nothing new from a figure that disagrees: the last factor stands", [1500, 1500, 1500, 2500], 1.5],
		["the newest three", [1500, 1500, 1500, 1530, 1560, 1560], 1.55],
		["at least a half", [100, 100, 100], 0.5],
		["at most three", [9000, 9000, 9000], 3],
	])("learns %s", (_what, reported, factor) => {
		expect(learned(...reported)).toEqual(factor === undefined ? undefined : expect.closeTo(factor, 10));
	});

	test("takes all that was sent: fresh, read from the cache and written to it", () => {
		const calibration = new Calibration();
		for (let times = 0; times < 3; times++) calibration.observe("m", 1000, usage(100, 1000, 400));
		expect(calibration.factor("m")).toBe(1.5);
	});

	test.each([
		["without usage", 1000, undefined],
		["with a usage of nothing", 1000, usage(0)],
		["to a request of nothing", 0, usage(1000)],
	])("takes no notice of a response %s", (_what, plain, given) => {
		const calibration = new Calibration();
		calibration.observe("m", 1000, usage(1500));
		calibration.observe("m", 1000, usage(1500));
		calibration.observe("m", plain, given);
		expect(calibration.factor("m")).toBeUndefined();
		calibration.observe("m", 1000, usage(1500));
		expect(calibration.factor("m")).toBe(1.5);
	});

	test("is kept by model", () => {
		const calibration = new Calibration();
		for (const model of ["a", "b", "a", "b", "a"]) calibration.observe(model, 1000, usage(model === "a" ? 1500 : 2000));
		expect([calibration.factor("a"), calibration.factor("b")]).toEqual([1.5, undefined]);
		calibration.observe("b", 1000, usage(2000));
		expect([calibration.factor("a"), calibration.factor("b")]).toEqual([1.5, 2]);
	});

	test("turns plain tokens into the provider's, whole ones, and leaves them alone while it has learned nothing", () => {
		const calibration = new Calibration();
		expect(calibration.apply("m", 333)).toBe(333);
		for (let times = 0; times < 3; times++) calibration.observe("m", 1000, usage(1300));
		expect(calibration.apply("m", 333)).toBe(433);
		expect(calibration.apply("other", 333)).toBe(333);
	});
});
