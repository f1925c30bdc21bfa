import type { InlineExtension } from "@earendil-works/pi-coding-agent";
import { describe, expect, test } from "vitest";
import { DEFAULT_PLUGINS } from "../../src/default-set.ts";
import { mulliganWith } from "../../src/extension.ts";
import { type ModelRequest, openSession, piVersions, type TestSession } from "../../src/testing/index.ts";
import { call, wire } from "../../test/support/mulligan.ts";
import { annotated } from "../../test/support/nudges.ts";

const tools = { dump: ({ bytes }: Record<string, unknown>) => "x".repeat(Number(bytes)) };
const nudges = { driftThresholdTokens: 100, driftWindowTurns: 1, bloatReminder: false, highWaterFraction: 0.05 };
let calls = 0;
const turns = (count: number) =>
	Array.from({ length: count }, () => ({ calls: [call.tool(`c${++calls}`, "dump", { bytes: 4000 })] }));

/** Gives the model one more tool in the middle of a session: from Pi 0.86 on that is a system message among the others. */
const late: InlineExtension = (pi) =>
	pi.registerCommand("late", {
		description: "",
		handler: async () =>
			pi.registerTool({
				name: "late",
				label: "late",
				description: "A late tool.",
				parameters: { type: "object", properties: {} } as never,
				execute: async () => ({ content: [{ type: "text", text: "ok" }], details: undefined }),
			}),
	});

/** A session of thirteen requests with lines in several of them; its tools change in the middle where `isMixed`. */
async function run(pi: TestSession["pi"], isMixed: boolean): Promise<TestSession> {
	const extensions: InlineExtension[] = [(api) => mulliganWith(DEFAULT_PLUGINS, api), late];
	const session = await openSession({ pi, tools, extensionPaths: [], extensions, settings: { mulligan: { nudges } } });
	session.script(...turns(3), "half");
	await session.prompt("go");
	if (isMixed) await session.prompt("/late");
	session.script("ok", ...turns(7), "done");
	await session.prompt("on");
	await session.prompt("and on");
	return session;
}

/** All that a request carries, in the order in which a provider caches it. */
const parts = ({ raw }: ModelRequest) => [raw.tools ?? [], raw.systemPrompt ?? "", ...wire(raw.messages)];
/** The same without the lines that are for this request only. */
const lasting = (request: ModelRequest) =>
	annotated(request).length > 0 ? parts(request).slice(0, -1) : parts(request);
const tokens = (value: unknown) => JSON.stringify(value).length / 4;

describe.each(piVersions())("lines for one request only, with Pi $version", (pi) => {
	test.each([
		["its prompt at the head", false],
		["tools that changed in the middle", true],
	])("leave the prompt cache whole in a session with %s", async (_what, isMixed) => {
		await using session = await run(pi, isMixed);
		const { requests, usage } = session;
		expect(usage).toHaveLength(requests.length);
		const changed = requests.findIndex((request) => request.tools.some(({ name }) => name === "late"));
		const hasSystemMessages = requests.some(({ raw }) => raw.messages.some(({ role }) => role === "system"));
		expect(changed).toBe(isMixed ? 4 : -1);
		if (isMixed && hasSystemMessages)
			expect(requests[changed]?.raw.messages.findLastIndex(({ role }) => role === "system")).toBeGreaterThan(2);

		const withLine = requests.flatMap((request, index) => (annotated(request).length > 0 ? [index] : []));
		expect(withLine.filter((index) => index > 4).length).toBeGreaterThan(2);
		for (const index of withLine.flatMap((line) => [line, line + 1])) {
			const [before, now] = requests.slice(index - 1, index + 1);
			if (!before || !now || index === changed) continue;
			const prefix = lasting(before);
			expect(parts(now).slice(0, prefix.length)).toEqual(prefix);
			const sent = (usage[index - 1]?.cacheRead ?? 0) + (usage[index - 1]?.cacheWrite ?? 0);
			const line = annotated(before).length > 0 ? tokens(before.raw.messages.at(-1)) : 0;
			expect(usage[index]?.cacheRead).toBeGreaterThanOrEqual(Math.floor(sent - line) - 1);
		}
	});
});
