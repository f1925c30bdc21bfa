import { describe, expect, test } from "vitest";
import { DEFAULT_PLUGINS } from "../../default-set.ts";
import { defineNudge, definePlugin, type Message } from "../../plugin.ts";
import { piVersions } from "../pi-versions.ts";
import { checkPlugin } from "./index.ts";

describe.each(piVersions())("with Pi $version", (pi) => {
	test.each(DEFAULT_PLUGINS.map((plugin) => [plugin.name, plugin] as const))(
		"the default plugin %s keeps to all of it",
		async (name, plugin) => {
			await checkPlugin(plugin as never, { pi, replaces: name });
		},
	);

	test("a nudge does, and one that reads each result", async () => {
		await checkPlugin(defineNudge({ name: "often", when: () => true, say: "Look.", restTurns: 0 }), { pi });
		await checkPlugin(
			definePlugin({
				name: "shout",
				setup: ({ hooks }) =>
					hooks.onToolResult.tap("shout", (result) => ({
						...result,
						content: [{ type: "text", text: "SHORT" }],
					})),
			}),
			{ pi },
		);
	});
});

const failure = async (plugin: Parameters<typeof checkPlugin>[0]) =>
	checkPlugin(plugin).then(
		() => "",
		(error: Error) => error.message,
	);

const text = (message: Message, words: string) => ({ ...message, content: [{ type: "text", text: words }] }) as Message;

describe("a plugin that breaks a rule is told which, and where", () => {
	test.each<[string, Parameters<typeof checkPlugin>[0], RegExp]>([
		[
			"a view that changes at each request",
			definePlugin({
				name: "restless",
				setup: ({ hooks, journal, session }) => {
					hooks.onTurnEnd.tap("restless", () => void journal.append("restless", {}));
					hooks.transformMessage.tap("restless", (message) => {
						journal.read("restless");
						return message.role === "user" ? text(message, `request ${session.requests}`) : message;
					});
				},
				records: ["restless"],
			}),
			/request \d+: message 1 was "user: request \d+" in the request before and is "user: request \d+", although no op became active: the prompt cache breaks/,
		],
		[
			"a view that a resume forgets",
			(() => {
				let calls = 0;
				return definePlugin({
					name: "forgetful",
					setup: ({ hooks }) => {
						const name = `start ${calls++}`;
						hooks.transformMessage.tap("forgetful", (message) =>
							message.role === "user" ? text(message, name) : message,
						);
					},
				});
			})(),
			/request \d+: message 1 was "user: start 0" in the request before and is "user: start 1"/,
		],
		[
			"a request more",
			definePlugin({
				name: "chatty",
				setup: ({ hooks, pi }) => {
					let isSaid = false;
					hooks.onSettled.tap("chatty", () => {
						if (isSaid) return;
						isSaid = true;
						(pi as { sendMessage(message: object, options: object): void }).sendMessage(
							{ customType: "chatty", content: "and?", display: true },
							{ triggerTurn: true },
						);
					});
				},
			}),
			/- requests: there are \d+, and 19 without it/,
		],
		[
			"a set-up that fails",
			definePlugin({ name: "unready", setup: () => Promise.reject(new Error("no disk")) }),
			/- Mulligan: the plugin "unready" is left out: its set-up failed: no disk/,
		],
		[
			"a tap that fails",
			definePlugin({
				name: "failing",
				setup: ({ hooks }) =>
					hooks.onView.tap("failing", () => {
						throw new Error("no table");
					}),
			}),
			/- Mulligan: the plugin "failing" is switched off for this session/,
		],
	])("%s", async (_what, plugin, expected) => {
		expect(await failure(plugin)).toMatch(expected);
	});
});
