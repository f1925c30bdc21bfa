import type { Plugin } from "../plugin.ts";
import { allText, firstDifference } from "./compare.ts";
import type { PiVersion } from "./pi-versions.ts";
import { complaintsAbout, configWith, openWith, type Placing, type PluginSession, play } from "./plugin-session.ts";
import type { ModelRequest } from "./scripted-model.ts";

/** A session in which the plugin changes nothing that the model is sent. */
export interface ValidCase extends PluginSession {
	readonly name: string;
}

/** A session in which the plugin changes what the model is sent. At least one of the two says how. */
export interface FiringCase extends ValidCase {
	/** A text that the model is sent in some request, and is not sent without the plugin. */
	readonly says?: string | RegExp;
	/** A text that is not in the last request, and is in it without the plugin. */
	readonly hides?: string | RegExp;
}

export interface PluginTable extends Placing {
	readonly valid: readonly ValidCase[];
	readonly fires: readonly FiringCase[];
}

/** One row, ready to run. */
export interface TableTest {
	/** Its name in the table, after `valid: ` or `fires: `. */
	readonly name: string;
	/** Plays the session twice on a real Pi, with the plugin and without. Rejects, saying what differs from the row. */
	run(pi?: PiVersion): Promise<void>;
}

/**
 * A plugin's behaviour as a table: where it keeps still, and where it acts. Throws where the table is wrong.
 *
 *     test.each(pluginTable(nudge, { valid: [...], fires: [...] }))("$name", ({ run }) => run());
 */
export function pluginTable(plugin: Plugin<never>, table: PluginTable): readonly TableTest[] {
	refuseWrong(plugin, table);
	const { valid, fires, ...placing } = table;
	const test = (kind: string, row: ValidCase, judge: (played: Played) => readonly string[]): TableTest => ({
		name: `${kind}: ${row.name}`,
		run: async (pi) => {
			const played = await playTwice(plugin, row, placing, pi);
			const faults = played.complaints.length > 0 ? played.complaints : judge(played);
			if (faults.length > 0)
				throw new Error(`${plugin.name}, ${kind}: ${row.name}\n${faults.map((fault) => `- ${fault}`).join("\n")}`);
		},
	});
	return [
		...valid.map((row) => test("valid", row, changes)),
		...fires.map((row) => test("fires", row, (played) => missedBy(row, played))),
	];
}

/** What the model was sent with the plugin and without, and why the plugin did not run. */
interface Played {
	readonly ours: readonly ModelRequest[];
	readonly theirs: readonly ModelRequest[];
	readonly complaints: readonly string[];
}

async function playTwice(
	plugin: Plugin<never>,
	row: PluginSession,
	placing: Placing,
	pi: PiVersion | undefined,
): Promise<Played> {
	await using without = await openWith(row.config ?? {}, row, pi);
	await play(without, row.prompts);
	const theirs = without.requests;
	await without.dispose();
	await using session = await openWith(configWith(plugin, row, placing), row, pi);
	await play(session, row.prompts);
	return { ours: session.requests, theirs, complaints: complaintsAbout(plugin, session) };
}

function changes({ ours, theirs }: Played): readonly string[] {
	if (ours.length !== theirs.length)
		return [`expected ${theirs.length} requests, as without the plugin; there were ${ours.length}`];
	return ours.flatMap(({ messages }, at) => {
		const difference = firstDifference(messages, theirs[at]?.messages ?? []);
		if (!difference) return [];
		return [
			`request ${at + 1}, message ${difference.index + 1}: expected what is sent without the plugin, ${JSON.stringify(difference.theirs)}; sent was ${JSON.stringify(difference.ours)}`,
		];
	});
}

function missedBy({ says, hides }: FiringCase, { ours, theirs }: Played): readonly string[] {
	const faults: string[] = [];
	const said = (requests: readonly ModelRequest[], text: string | RegExp) =>
		requests.some(({ messages }) => isIn(allText(messages), text));
	if (says !== undefined && !said(ours, says))
		faults.push(`expected ${says} in a request; the last messages were ${JSON.stringify(tails(ours))}`);
	if (says !== undefined && said(theirs, says)) faults.push(`${says} is sent without the plugin as well`);
	if (hides !== undefined && !said(theirs.slice(-1), hides))
		faults.push(`${hides} is not in the last request without the plugin either`);
	if (hides !== undefined && said(ours.slice(-1), hides))
		faults.push(`expected no ${hides} in the last request; it is there`);
	return faults;
}

/** The last message of each request, as a line. */
function tails(requests: readonly ModelRequest[]): readonly string[] {
	return requests.map(({ messages }) => firstDifference(messages.slice(-1), [])?.ours ?? "nothing");
}

function isIn(text: string, wanted: string | RegExp): boolean {
	return typeof wanted === "string"
		? text.includes(wanted)
		: new RegExp(wanted.source, wanted.flags.replace("g", "")).test(text);
}

function refuseWrong({ name: plugin }: Plugin<never>, { valid, fires }: PluginTable): void {
	const refuse = (what: string) => {
		throw new TypeError(`pluginTable(${JSON.stringify(plugin)}): ${what}`);
	};
	if (!Array.isArray(valid) || valid.length === 0)
		refuse(`"valid" is ${JSON.stringify(valid)}; give at least one session in which it keeps still`);
	if (!Array.isArray(fires) || fires.length === 0)
		refuse(`"fires" is ${JSON.stringify(fires)}; give at least one session in which it acts`);
	const names = new Set<string>();
	for (const row of [...valid, ...fires]) {
		if (typeof row.name !== "string" || row.name === "") refuse("a row needs a name");
		if (names.has(row.name)) refuse(`two rows are named ${JSON.stringify(row.name)}`);
		names.add(row.name);
		if (!Array.isArray(row.prompts) || row.prompts.length === 0 || row.prompts.some((prompt) => prompt.length < 2))
			refuse(`${JSON.stringify(row.name)} needs prompts, each a text and the model's answers: [["go", "done"]]`);
	}
	for (const { name, says, hides } of fires)
		if (says === undefined && hides === undefined) refuse(`${JSON.stringify(name)} fires: give "says" or "hides"`);
}
