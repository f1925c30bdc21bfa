import {
	checkPlugin,
	containsText,
	onePixel,
	openSession,
	piVersions,
	pluginTable,
	type Step,
} from "pi-mulligan/testing";
import { describe, expect, test } from "vitest";
import redactSecrets from "./redact-secrets.ts";
import shrinkByRule from "./shrink-by-rule.ts";
import tooManyGreps from "./too-many-greps.ts";

const KEY = "sk-abcdefghij0123456789ABCDEF";
const PRIVATE = "-----BEGIN RSA PRIVATE KEY-----\nMIIE\nowIB\n-----END RSA PRIVATE KEY-----";
const LONG = Array.from({ length: 1000 }, (_, line) => `line ${line} of the log`).join("\n");

const tools = {
	grep: () => "a.ts: total",
	log: () => LONG,
	read: () => LONG,
	env: () => `OPENAI_API_KEY=${KEY}\nHOME=/home/me\n${PRIVATE}`,
	picture: () => [onePixel, { type: "text" as const, text: LONG }],
	detailed: () => ({
		content: [{ type: "text" as const, text: "fine" }],
		details: { output: [`key ${KEY}`], exitCode: 0 },
	}),
};
const call = (id: string, name: string, args: Record<string, unknown> = {}): Step => ({ calls: [{ id, name, args }] });
const greps = (count: number): readonly Step[] => Array.from({ length: count }, (_, at) => call(`g${at}`, "grep"));

describe.each(piVersions())("with Pi $version", (pi) => {
	test.each(
		pluginTable(tooManyGreps, {
			valid: [
				{ name: "five greps", tools, prompts: [["find it", ...greps(5), "done"]] },
				{
					name: "three greps each for two prompts",
					tools,
					prompts: [
						["a", ...greps(3), "done"],
						["b", ...greps(3), "done"],
					],
				},
			],
			fires: [
				{
					name: "six greps",
					tools,
					prompts: [["find it", ...greps(6), "done"]],
					says: "6 greps for this prompt so far",
				},
				{
					name: "two, where one is allowed",
					tools,
					options: { most: 1 },
					prompts: [["a", ...greps(2), "b"]],
					says: "2 greps",
				},
			],
		}),
	)("too-many-greps, $name", ({ run }) => run(pi));

	test.each(
		pluginTable(shrinkByRule, {
			replaces: "shrink",
			valid: [
				{ name: "a short result", tools, prompts: [["go", call("a", "grep"), "done"]] },
				{ name: "what is read", tools, prompts: [["go", call("a", "read"), "done"]] },
			],
			fires: [
				{
					name: "a long result",
					tools,
					prompts: [["go", call("a", "log"), "done"]],
					hides: "line 500 of",
					says: /\d{3} lines left out/,
				},
				{
					name: "a long text beside an image",
					tools,
					prompts: [["go", call("a", "picture"), "done"]],
					hides: "line 500 of",
				},
			],
		}),
	)("shrink-by-rule, $name", ({ run }) => run(pi));

	test.each(
		pluginTable(redactSecrets, {
			valid: [{ name: "a result without a secret", tools, prompts: [["go", call("a", "log"), "done"]] }],
			fires: [
				{
					name: "a key",
					tools,
					prompts: [["go", call("a", "env"), "done"]],
					hides: KEY,
					says: "OPENAI_API_KEY=[redacted]",
				},
				{ name: "a private key over lines", tools, prompts: [["go", call("a", "env"), "done"]], hides: "owIB" },
				{
					name: "a pattern of one's own",
					tools,
					options: { patterns: ["total"] },
					prompts: [["go", call("a", "grep"), "done"]],
					hides: "total",
				},
			],
		}),
	)("redact-secrets, $name", ({ run }) => run(pi));

	test("shrink-by-rule keeps the whole result in the session file, an image in the view, and summaries from before", async () => {
		const config = { rewrites: { maxMoments: 9, flushShedTokens: 0 } };
		await using before = await openSession({ pi, tools, config });
		before.script(
			call("a", "log"),
			call("b", "mulligan_shrink", { target: { by_tool_call_id: "a" }, replacement: "OK" }),
			"done",
		);
		await before.prompt("go");
		await using session = await before.reopen({ config: { ...config, replace: { shrink: shrinkByRule } } });
		session.script(call("c", "picture"), "done");
		await session.prompt("look");
		expect(containsText(session.lastRequest.messages, "<context-shrunk>\nOK\n</context-shrunk>")).toBe(true);
		expect(containsText(session.lastRequest.messages, "line 500 of")).toBe(false);
		expect(containsText(session.lastRequest.messages, onePixel.data)).toBe(true);
		expect(JSON.stringify(session.entries()).split("line 500 of").length - 1).toBe(2);
		expect(session.lastRequest.tools.map(({ name }) => name)).not.toContain("mulligan_shrink");
	});

	test("redact-secrets leaves no secret in the session file, in details neither, and changes nothing else", async () => {
		await using session = await openSession({ pi, tools, config: { plugins: ["...", redactSecrets] } });
		session.script(call("a", "env"), call("b", "detailed"), call("c", "picture"), "done");
		await session.prompt("go");
		expect(containsText(session.lines(), KEY)).toBe(false);
		expect(containsText(session.lines(), "owIB")).toBe(false);
		expect(containsText(session.lines(), "key [redacted]")).toBe(true);
		expect(containsText(session.lastRequest.messages, "HOME=/home/me")).toBe(true);
		expect(containsText(session.lastRequest.messages, onePixel.data)).toBe(true);
	});

	test("redact-secrets is left out, and named, where a pattern is none", async () => {
		await using session = await openSession({
			...{ pi, tools },
			config: { plugins: ["...", [redactSecrets, { patterns: ["("] }]] },
		});
		expect(session.ui.notifications.map(({ message }) => message)).toEqual([
			expect.stringMatching(/"redact-secrets" is left out: its set-up failed: Invalid regular expression/),
		]);
	});
});

test.each([
	["too-many-greps", tooManyGreps, undefined],
	["shrink-by-rule", shrinkByRule, "shrink"],
	["redact-secrets", redactSecrets, undefined],
] as const)("%s keeps to the rules of plugins", (_name, plugin, replaces) =>
	checkPlugin(plugin as never, replaces === undefined ? {} : { replaces }),
);
