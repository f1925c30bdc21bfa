import type { Config, Plugin } from "../../plugin.ts";
import { firstDifference } from "../compare.ts";
import { shape } from "../messages.ts";
import type { PiVersion } from "../pi-versions.ts";
import {
	complaintsAbout,
	configWith,
	openWith,
	type Placing,
	type PluginSession,
	type Prompt,
	play,
} from "../plugin-session.ts";
import { faultsOfForm } from "./form.ts";
import { sabotaged } from "./saboteur.ts";
import { everything, tools } from "./script.ts";
import { opCounter, Watch } from "./watch.ts";

/** What a plugin is checked in. What is left out is a session with parallel calls, failures, images, ops and wrong calls. */
export interface Conformance extends Partial<PluginSession>, Placing {
	/** The newest installed unless given. */
	readonly pi?: PiVersion;
}

/**
 * Checks what every plugin has to keep to, over real sessions of Pi: each request has a form that providers take, with
 * every call beside its result; between two moments, and after a resume, a request begins as the one before did; the
 * plugin adds no request; it comes through its set-up; and when each of its taps throws, the session goes on as without it.
 * Rejects with a list of what it breaks, by request.
 */
export async function checkPlugin(plugin: Plugin<never>, conformance: Conformance = {}): Promise<void> {
	const { pi, replaces, ...given } = conformance;
	const session: PluginSession = { prompts: everything(plugin), ...given, tools: { ...tools, ...given.tools } };
	const placing = replaces === undefined ? {} : { replaces };
	const requests = await requestsWithout(session, pi);
	const faults = [
		...(await faultsOf(plugin, { session, placing, pi, requests })),
		...(await faultsWhereItThrows(plugin, { session, placing, pi, requests })),
	];
	if (faults.length > 0)
		throw new Error(
			`the plugin ${JSON.stringify(plugin.name)} breaks:\n${faults.map((fault) => `- ${fault}`).join("\n")}`,
		);
}

interface Check {
	readonly session: PluginSession;
	readonly placing: Placing;
	readonly pi: PiVersion | undefined;
	/** How many requests there are without the plugin. */
	readonly requests: number;
}

async function requestsWithout(session: PluginSession, pi: PiVersion | undefined): Promise<number> {
	await using without = await openWith(session.config ?? {}, session, pi);
	await play(without, session.prompts);
	return without.requests.length;
}

async function faultsOf(plugin: Plugin<never>, { session, placing, pi, requests }: Check): Promise<readonly string[]> {
	const ops = opCounter();
	const watch = new Watch(ops.count);
	const over = ([text, ...answers]: Prompt): Prompt => [text, ...answers.map((answer) => watch.over(answer))];
	const first = await openWith(withLast(configWith(plugin, session, placing), ops.plugin), session, pi);
	watch.enter(first);
	const notes: string[] = [];
	let resumed = first;
	try {
		first.otherwise(watch.over("on"));
		await play(first, session.prompts.map(over));
		if (first.requests.length !== requests)
			notes.push(`requests: there are ${first.requests.length}, and ${requests} without it`);
		notes.push(...complaintsAbout(plugin, first));
		resumed = await first.reopen();
		watch.enter(resumed);
		resumed.otherwise(watch.over("on"));
		await play(resumed, [over(["and after a resume?", "on"])]);
		notes.push(...complaintsAbout(plugin, resumed).map((complaint) => `after a resume: ${complaint}`));
	} finally {
		await resumed.dispose();
	}
	return [...notes, ...faultsByRequest(watch)];
}

function withLast(config: Config, plugin: Plugin<never>): Config {
	return { ...config, plugins: [...(config.plugins ?? ["..."]), plugin] };
}

function faultsByRequest(watch: Watch): readonly string[] {
	return watch.watched.flatMap((watched, at) => {
		const { messages } = watched.request;
		const found = faultsOfForm(messages).map((fault) => `request ${at + 1}: ${fault}`);
		const before = watch.watched[at - 1];
		if (!before || watched.mayChange) return found;
		const lasting = watch.lasting(before);
		const broken = Watch.brokenAt(lasting, messages);
		if (broken === undefined) return found;
		const [was] = shape(lasting.slice(broken, broken + 1));
		const [is = "nothing"] = shape(messages.slice(broken, broken + 1));
		return [
			...found,
			`request ${at + 1}: message ${broken + 1} was ${JSON.stringify(was)} in the request before and is ${JSON.stringify(is)}, although no op became active: the prompt cache breaks`,
		];
	});
}

/** A plugin whose taps throw leaves what is sent as it would be without it, unless it answers for tools of its own. */
async function faultsWhereItThrows(
	plugin: Plugin<never>,
	{ session, placing, pi, requests }: Check,
): Promise<readonly string[]> {
	const broken = sabotaged(plugin);
	await using without = await openWith(session.config ?? {}, session, pi);
	await play(without, session.prompts);
	await using throwing = await openWith(configWith(broken, session, placing), session, pi);
	throwing.otherwise("on");
	await play(throwing, session.prompts);
	const where = "where its taps throw";
	const found = throwing.errors.map(({ error }) => `${where}: Pi was given the error ${error}`);
	if (throwing.requests.length !== requests)
		found.push(`${where}: there are ${throwing.requests.length} requests, and ${requests} without it`);
	for (const [at, { messages }] of throwing.requests.entries())
		found.push(...faultsOfForm(messages).map((fault) => `${where}, request ${at + 1}: ${fault}`));
	if (placing.replaces !== undefined || (plugin.tools ?? []).length > 0) return found;
	const pairs = throwing.requests.map(({ messages }, at) => [messages, without.requests[at]?.messages ?? []] as const);
	const differing = pairs.findIndex(([ours, theirs]) => firstDifference(ours, theirs));
	const difference = firstDifference(...(pairs[differing] ?? [[], []]));
	if (difference)
		found.push(
			`${where}, request ${differing + 1}: message ${difference.index + 1} is ${JSON.stringify(difference.ours)} in the place of ${JSON.stringify(difference.theirs)}`,
		);
	return found;
}
