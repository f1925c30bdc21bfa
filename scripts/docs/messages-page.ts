import { LINES as AUDIT } from "../../plugins/audit/prompt.ts";
import { LINES as CANCEL } from "../../plugins/cancel/prompt.ts";
import { LINES as REWIND } from "../../plugins/rewind/prompt.ts";
import { LINES as SHRINK } from "../../plugins/shrink/prompt.ts";
import { DEFAULT_PLUGINS } from "../../src/default-set.ts";
import { CHARS_PER_TOKEN, textTokens } from "../../src/kernel/tokens.ts";
import type { ToolDeclaration } from "../../src/plugin.ts";
import { HUMAN_SCENES, MODEL_SCENES, playScene, type Scene } from "./scenes.ts";

const REASONS: Readonly<Record<string, readonly (readonly [line: string, reason: string])[]>> = {
	mulligan_rewind: REWIND,
	mulligan_shrink: SHRINK,
	mulligan_cancel: CANCEL,
	mulligan_audit: AUDIT,
};

const INTRODUCTION = `# Messages

Every text of ours that the model reads, and what you read. \`npm run docs\` writes this page: the declarations come from the plugins, all
others from real sessions of Pi with a scripted model, and a test fails when one has changed. A size is in characters and, as the plain
estimate of ${CHARS_PER_TOKEN} characters to a token, in tokens; \`<id>\` and \`<n>\` stand for what differs from run to run.

## What this page can't show

A scripted model calls the tools because the script says so. So neither this page nor any test here knows:

- whether a real model calls a tool at all, at the right moment, and with a good note or summary;
- whether the orientation line keeps it from reading again what it has just summarised, or a note from trying the same again;
- whether a nudge changes what it does, or is only read;
- whether it waits for the queue, or asks for an audit to hurry it along.

What the tools do once they are called, and what it costs, is measured: \`npm run demo\`, \`npm run bench:twins\`.`;

/** spec/messages.md, whole. Plays every scene on the newest Pi. */
export async function messagesPage(): Promise<string> {
	const tools = DEFAULT_PLUGINS.flatMap(({ tools: declared }) => declared ?? []);
	const sections = [INTRODUCTION, standingCost(tools)];
	for (const [name, scenes] of Object.entries(MODEL_SCENES)) {
		const declared = tools.find((tool) => tool.name === name);
		sections.push([`## ${name}`, ...(declared ? [declaration(declared)] : []), ...(await played(scenes))].join("\n\n"));
	}
	sections.push("## What you read");
	for (const [name, scenes] of Object.entries(HUMAN_SCENES))
		sections.push([`### ${name}`, ...(await played(scenes))].join("\n\n"));
	return `${sections.join("\n\n")}\n`;
}

async function played(scenes: readonly Scene[]): Promise<readonly string[]> {
	const blocks: string[] = [];
	for (const scene of scenes) {
		const text = await playScene(scene);
		blocks.push(`${capital(scene.when)} (${size(text)}):\n\n\`\`\`\n${text}\n\`\`\``);
	}
	return blocks;
}

function standingCost(tools: readonly ToolDeclaration[]): string {
	const rows = tools.map((tool) => `| \`${tool.name}\` | ${declared(tool).length} | ${textTokens(declared(tool))} |`);
	const total = tools.reduce((sum, tool) => sum + declared(tool).length, 0);
	return [
		"## What every request carries",
		"The declarations of the tools: name, description and parameters, as JSON. Nothing else stands in the prompt.",
		[
			"| tool | characters | tokens |",
			"|---|---|---|",
			...rows,
			`| all | ${total} | ${Math.ceil(total / CHARS_PER_TOKEN)} |`,
		].join("\n"),
	].join("\n\n");
}

function declaration(tool: ToolDeclaration): string {
	const lines = (REASONS[tool.name] ?? []).map(([line, reason]) => `| ${line} | ${reason} |`);
	const table = ["| line of the description | why it is there |", "|---|---|", ...lines].join("\n");
	return `${table}\n\nParameters:\n\n\`\`\`json\n${JSON.stringify(tool.parameters, null, "\t")}\n\`\`\``;
}

function declared({ name, description, parameters }: ToolDeclaration): string {
	return JSON.stringify({ name, description, parameters });
}

function size(text: string): string {
	return `${text.length} characters, ~${textTokens(text)} tokens`;
}

function capital(text: string): string {
	return text.charAt(0).toUpperCase() + text.slice(1);
}
