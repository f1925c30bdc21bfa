import { describe, expect, test } from "vitest";
import { definePlugin } from "../../src/plugin.ts";
import { faultsOfForm } from "../../src/testing/conformance/form.ts";
import { containsText, openSession, piVersions, shape, type TestSession } from "../../src/testing/index.ts";
import { atOnce, bulk, call } from "../support/mulligan.ts";

const tools = { grep: () => bulk("SECRET") };
const search = (id: string) => ({
	thinking: `thought ${id}`,
	text: `look ${id}`,
	calls: [{ id, name: "grep", args: {} }],
});

async function threePrompts(session: TestSession): Promise<void> {
	for (const prompt of ["one", "two", "three"]) {
		session.script(search(prompt), `answer ${prompt}`);
		await session.prompt(prompt);
	}
}

describe.each(piVersions())("with Pi $version, a request", (pi) => {
	test("has a prompt between two responses also where a rewind may hide the latest prompt", async () => {
		const settings = { mulligan: { ...atOnce, rewind: { protectedRoles: [] } } };
		await using session = await openSession({ pi, tools, settings });
		session.script("hello");
		await session.prompt("start");
		await session.prompt("/mulligan_checkpoint here");
		await threePrompts(session);
		session.script({ calls: [call.rewind("r1", { granularity: "checkpoint", checkpoint: "here" })] }, "back");
		await session.prompt("four");
		expect(shape(session.lastRequest.messages).slice(0, 4)).toEqual([
			"user: start",
			"assistant: hello",
			"user: four",
			expect.stringMatching(/^assistant.* → mulligan_rewind#r1$/),
		]);
		expect(faultsOfForm(session.lastRequest.messages)).toEqual([]);
		expect(containsText(session.lastRequest.messages, "SECRET")).toBe(false);
	});

	test.each<[string, (id: string, role: string, index: number) => boolean]>([
		["every prompt", (_id, role) => role === "user"],
		["every result", (_id, role) => role === "toolResult"],
		["every response", (_id, role) => role === "assistant"],
		["all there is", () => true],
		["every second message", (_id, _role, index) => index % 2 === 1],
		["every third message", (_id, _role, index) => index % 3 === 2],
	])("is one that providers take where a plugin hides %s", async (_what, hides) => {
		const greedy = definePlugin({
			name: "greedy",
			setup: ({ hooks, session }) =>
				hooks.beforeFilter.tap("greedy", (plan) => {
					const entries = session.context();
					for (const [index, { id, message }] of entries.entries()) if (hides(id, message.role, index)) plan.hide(id);
				}),
		});
		await using first = await openSession({ pi, tools, config: { plugins: ["...", greedy] } });
		await threePrompts(first);
		// The durable view is made anew after a resume: what was appended since the last time is hidden from then on.
		await using session = await first.reopen();
		await threePrompts(session);
		expect(session.requests.map(({ messages }) => faultsOfForm(messages))).toEqual(session.requests.map(() => []));
		expect(session.errors).toEqual([]);
	});

	test.each<[string, (content: readonly object[]) => unknown]>([
		["empties", () => []],
		["blanks", () => " "],
		["drops the calls and the thinking of", (content) => content.filter((block) => "text" in block)],
		["turns into a string", () => "words"],
	])("keeps what a provider checks where a plugin %s each message", async (_what, change) => {
		const careless = definePlugin({
			name: "careless",
			setup: ({ hooks }) =>
				hooks.transformMessage.tap("careless", (message) =>
					"content" in message && Array.isArray(message.content)
						? ({ ...message, content: change(message.content) } as typeof message)
						: message,
				),
		});
		await using session = await openSession({ pi, tools, config: { plugins: ["...", careless] } });
		await threePrompts(session);
		for (const { messages } of session.requests) expect(faultsOfForm(messages)).toEqual([]);
		expect(containsText(session.lastRequest.messages, "thought three")).toBe(true);
	});
});
