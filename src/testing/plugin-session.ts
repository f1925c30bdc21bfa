import type { Config, Plugin } from "../plugin.ts";
import { type OpenSessionOptions, openSession } from "./open-session.ts";
import { newestPi, type PiVersion } from "./pi-versions.ts";
import type { Step } from "./scripted-model.ts";
import type { TestSession } from "./test-session.ts";

/** What the human says, and then the model's answers to it, one for each request. */
export type Prompt = readonly [text: string, ...answers: Step[]];

/** A session to try a plugin in. */
export interface PluginSession extends Pick<OpenSessionOptions, "tools" | "models" | "settings"> {
	/** The plugin's own options. */
	readonly options?: object;
	/** More of a config; its `plugins` come before the plugin. The default set unless given. */
	readonly config?: Config;
	readonly prompts: readonly Prompt[];
}

/** How a plugin gets into a session. */
export interface Placing {
	/** The name of the plugin whose place it takes. Unless given it comes after all others. */
	readonly replaces?: string;
}

/** The config of a session with the plugin in its place. */
export function configWith(
	plugin: Plugin<never>,
	{ options = {}, config = {} }: Pick<PluginSession, "options" | "config">,
	{ replaces }: Placing,
): Config {
	const entry = [plugin, options] as const;
	if (replaces !== undefined) return { ...config, replace: { ...config.replace, [replaces]: entry } };
	return { ...config, plugins: [...(config.plugins ?? ["..."]), entry] };
}

/** Opens a session with a config; the rest is what the plugin's session says. */
export function openWith(
	config: Config,
	{ tools, models, settings }: PluginSession,
	pi: PiVersion = newestPi(),
): Promise<TestSession> {
	return openSession({
		pi,
		config,
		...(tools === undefined ? {} : { tools }),
		...(models === undefined ? {} : { models }),
		...(settings === undefined ? {} : { settings }),
	});
}

/** Plays the prompts of a session, one after the other. */
export async function play(session: TestSession, prompts: readonly Prompt[]): Promise<void> {
	for (const [text, ...answers] of prompts) {
		session.script(...answers);
		await session.prompt(text);
	}
}

/** What the human was told of the plugin that keeps it from working. */
export function complaintsAbout({ name }: Plugin<never>, session: TestSession): readonly string[] {
	const told = session.ui.notifications.flatMap(({ message, type }) =>
		type !== "info" && message.includes(name) ? [message] : [],
	);
	return [...told, ...session.errors.map(({ error }) => String(error))];
}
