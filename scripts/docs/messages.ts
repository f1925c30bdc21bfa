import { readFileSync } from "node:fs";
import { LINES as auditLines, auditTool } from "../../plugins/audit/prompt.ts";
import { LINES as cancelLines, cancelTool } from "../../plugins/cancel/prompt.ts";
import { LINES as nudgeLines, WAYS } from "../../plugins/nudges/prompt.ts";
import { LINES as rewindLines, rewindTool } from "../../plugins/rewind/prompt.ts";
import { LINES as shrinkLines, shrinkTool } from "../../plugins/shrink/prompt.ts";
import { DEFAULT_PLUGINS } from "../../src/default-set.ts";
import { CHARS_PER_TOKEN, textTokens } from "../../src/kernel/tokens.ts";
import type { ToolDeclaration } from "../../src/plugin.ts";
import { newestPi } from "../../src/testing/index.ts";
import type { Told } from "./stage.ts";
import { audits, earlierVersions } from "./told/audits.ts";
import { checkpoints } from "./told/checkpoints.ts";
import { disabled, faulty, refusals, settings } from "./told/faults.ts";
import { nudges } from "./told/nudges.ts";
import { consents, queue } from "./told/queue.ts";
import { refusedRewinds, rewinds } from "./told/rewinds.ts";
import { shrinks } from "./told/shrinks.ts";

const SCENES = [
	...[rewinds, refusedRewinds, shrinks, checkpoints, queue, consents, audits, nudges],
	...[earlierVersions, disabled, faulty, refusals, settings],
];

/** What was told in real sessions, by section of the page. */
export type Collected = ReadonlyMap<string, readonly Told[]>;

/** Runs the sessions in which every text is read at least once. */
export async function collect(): Promise<Collected> {
	const collected = new Map<string, Told[]>();
	for (const scene of SCENES)
		await scene((section, told) => collected.set(section, [...(collected.get(section) ?? []), told]));
	return collected;
}

type Pairs = readonly (readonly [line: string, reason: string])[];

/** The declarations of the default set, each with the lines of its description and why they are there. */
const DECLARED: readonly (readonly [ToolDeclaration, Pairs])[] = [
	[rewindTool, rewindLines],
	[shrinkTool, shrinkLines],
	[cancelTool, cancelLines],
	[auditTool, auditLines],
];

/** Sections of collected texts: its key, its heading, and what a reader must know of all its texts. */
const FOR_THE_MODEL: readonly (readonly [key: string, heading: string, about: string])[] = [
	[
		"rewind",
		"Results of mulligan_rewind",
		"The first line is the call's own; the last tells what became of it once the turn is decided.",
	],
	[
		"rewind refused",
		"Refusals of mulligan_rewind",
		"In the order of the checks. A refusal changes and records nothing.",
	],
	["note", "Notes", "Stand where something was rewound, from the next request on."],
	["shrink", "Results of mulligan_shrink", "The replacement is never echoed."],
	["shrink refused", "Refusals of mulligan_shrink", "In the order of the checks."],
	["shrunk", "A shrunk result", ""],
	["cancel", "Results of mulligan_cancel", ""],
	[
		"audit",
		"The report of mulligan_audit",
		"Grows by a line for each message that is listed; 8 unless the call says otherwise.",
	],
	["any tool", "Any of the tools", ""],
];

const FOR_THE_HUMAN: typeof FOR_THE_MODEL = [
	["banner", "Above the editor", "While a checkpoint is active; `ui.activeCheckpointBanner` false: never."],
	[
		"status",
		"In the footer",
		"While an op waits or something has left the view; brought up to date at the end of each turn.",
	],
	[
		"transcript",
		"In the transcript",
		"Records in the place where they were written, notes, and the tool row of an audit. Activated ops show their own record.",
	],
	[
		"notification",
		"Notifications",
		"Without a user interface only warnings arrive, on standard error: a shrink is no warning.",
	],
	[
		"checkpoint",
		"Answers of /mulligan_checkpoint and /mulligan_checkpoint_revoke",
		"Without a user interface they arrive on standard error.",
	],
	["audit command", "Answers of /mulligan_audit", "The report that the agent gets, for the human alone."],
	["warning", "Settings", "At the start of a session and after `/reload`."],
];

/** The nudges, with the reasons for their lines. */
const NUDGES: readonly (readonly [key: string, heading: string, ...reasons: readonly string[]])[] = [
	[
		"bloat",
		"Bloat reminder",
		nudgeLines.bloat[1],
		bulleted(Object.entries(WAYS).map(([tool, [way, why]]) => `${tool} ${way}: ${why}`)),
	],
	["drift", "Drift", nudgeLines.drift[1]],
	["high water", "High water", nudgeLines.highWater[1]],
];

/** spec/messages.md. Throws where a section has no text. */
export function messagesPage(collected: Collected): string {
	const texts: Texts = (key, sizeOf) => {
		const told = collected.get(key);
		if (!told) throw new Error(`No session told anything of "${key}".`);
		return inOrderOfChecks(told).flatMap((one) => shown(one, sizeOf));
	};
	const paragraphs = [...opening(), ...UNSHOWN, ...standingCost(), ...forTheModel(texts), ...forTheHuman(texts)];
	return `${paragraphs.filter(Boolean).join("\n\n")}\n`;
}

/** The texts of a section, each below its occasion and size. */
type Texts = (key: string, sizeOf: SizeOf) => readonly string[];

function forTheModel(texts: Texts): readonly string[] {
	return [
		"## What the model reads",
		...DECLARED.flatMap(declaration),
		...sections(FOR_THE_MODEL, (key) => texts(key, sizeForModel)),
		"### Nudges",
		"Drift and high water share one message at the end of one request, which is not stored.",
		...NUDGES.flatMap(([key, heading, ...reasons]) => [`#### ${heading}`, ...reasons, ...texts(key, sizeForModel)]),
	];
}

function forTheHuman(texts: Texts): readonly string[] {
	const commands = DEFAULT_PLUGINS.flatMap((plugin) => Object.entries(plugin.commands ?? {}));
	return [
		"## What the human reads",
		"On the screen alone, so it is measured in characters. Where a note or a report is shown, what the model reads of it stands above.",
		"### Commands",
		bulleted(commands.map(([name, what]) => `\`/${name}\`: ${what}`)),
		...sections(FOR_THE_HUMAN, (key) => texts(key, sizeForHuman)),
		"### On a Pi that is too old",
		"On standard error, and nothing is registered. Taken from the source: no session on such a Pi can be run here.",
		fenced(tooOld()),
	];
}

function sections(of: typeof FOR_THE_MODEL, texts: (key: string) => readonly string[]): readonly string[] {
	return of.flatMap(([key, heading, about]) => [`### ${heading}`, about, ...texts(key)]);
}

function opening(): readonly string[] {
	return [
		"# Messages",
		`Every text that the model or the human reads of mulligan. \`npm run docs\` writes this page and \`test/messages.test.ts\` fails where it is stale: declarations and their reasons are imported, all else was read in sessions on Pi ${newestPi().version} with a scripted model.`,
		"A token is the plain estimate: four characters, rounded up. What depends on a session (names, paths, figures) makes a text longer or shorter. Random ids in reports read `1a2b3c4d` here.",
	];
}

function standingCost(): readonly string[] {
	const sizes = DECLARED.map(([{ name, description, parameters }]) => ({
		name,
		description: description.length,
		parameters: JSON.stringify(parameters).length,
		all: JSON.stringify({ name, description, parameters }).length,
	}));
	const all = sizes.reduce((sum, size) => sum + size.all, 0);
	return [
		`## Standing cost: ${count(all)} characters, ~${count(Math.ceil(all / CHARS_PER_TOKEN))} tokens`,
		"The four declarations, as JSON of name, description and parameters. They are part of every request, used or not: written to the prompt cache once, then read from it. A session without an op carries nothing else of mulligan but the nudges.",
		[
			"| tool | description | parameters | as JSON | tokens |",
			"|---|---|---|---|---|",
			...sizes.map(
				({ name, description, parameters, all: json }) =>
					`| \`${name}\` | ${count(description)} | ${count(parameters)} | ${count(json)} | ~${count(Math.ceil(json / CHARS_PER_TOKEN))} |`,
			),
		].join("\n"),
	];
}

function declaration([{ name, description, parameters }, pairs]: (typeof DECLARED)[number]): readonly string[] {
	if (pairs.map(([line]) => line).join(" ") !== description)
		throw new Error(`The description of ${name} is not made of its lines.`);
	return [
		`### Declaration of ${name}`,
		[
			"| line | size | why it is there |",
			"|---|---|---|",
			...pairs.map(([line, reason]) => `| ${line} | ${sizeForModel(line)} | ${reason} |`),
		].join("\n"),
		`Parameters — ${sizeForModel(JSON.stringify(parameters))}`,
		fenced(JSON.stringify(parameters, null, 2), "json"),
	];
}

/** What a call is checked for, in this order, by the code of the refusal. */
const CHECKS = [
	...["disabled", "no-moments"],
	...["note", "checkpoint", "max-depth", "max-retries", "too-full", "nothing-to-rewind"],
	...["replacement", "target", "no-match", "not-smaller"],
];

function inOrderOfChecks(told: readonly Told[]): readonly Told[] {
	const place = ({ code }: Told) => (code === undefined ? -1 : CHECKS.indexOf(code));
	return [...told].sort((a, b) => place(a) - place(b));
}

type SizeOf = (text: string) => string;

const sizeForModel: SizeOf = (text) => `${count(text.length)} characters, ~${count(textTokens(text))} tokens`;
const sizeForHuman: SizeOf = (text) => `${count(text.length)} characters`;

function shown({ when, text, code }: Told, size: SizeOf): readonly string[] {
	return [`**${when}**${code === undefined ? "" : ` (\`${code}\`)`} — ${size(text)}`, fenced(text)];
}

function fenced(text: string, language = ""): string {
	return `\`\`\`${language}\n${text}\n\`\`\``;
}

function bulleted(items: readonly string[]): string {
	return items.map((item) => `- ${item}`).join("\n");
}

function count(figure: number): string {
	return figure.toLocaleString("en-US");
}

/** The sentence of src/extension.ts, as it stands in the source. */
function tooOld(): string {
	const source = readFileSync(new URL("../../src/extension.ts", import.meta.url), "utf8");
	const [, sentence] = /`(Mulligan needs Pi [^`]*?)(?:\\n)?`/.exec(source) ?? [];
	if (!sentence) throw new Error("src/extension.ts has no sentence for a Pi that is too old.");
	return sentence;
}

/** What no session with a scripted model can tell. */
const UNSHOWN = [
	"## What a scripted model can't show",
	"The scripted model calls the tools because its script says so. That the texts are there, true and of this size is tested; what a real model makes of them is not:",
	bulleted([
		"whether it calls the tools at all, early enough, and in the right place;",
		"whether its notes and replacements say what it needs later: they become its only memory of what is gone;",
		"whether the orientation line, the notes and “from the next request” spare it a second look at what it knows;",
		"whether the nudges make it keep outputs short or shrink a result, or are only read, or echoed in its answers;",
		"whether it understands a queued op as queued, and goes on instead of asking again;",
		"whether four declarations more make it choose its other tools worse;",
		"how many tokens a provider counts for these texts: the estimate knows characters, not tokenizers.",
	]),
	"What the tools do once they are called, and what that costs, is measured: `npm run demo`, `npm run bench:twins`.",
];
