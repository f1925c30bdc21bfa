import type { AgentToolResult, ExtensionContext, InlineExtension } from "@earendil-works/pi-coding-agent";
import type { Content } from "./messages.ts";

export interface ToolCallInfo {
	id: string;
	signal: AbortSignal | undefined;
	ctx: ExtensionContext;
}

/** A text, content blocks, or a whole result. A throw becomes a failed result. */
export type ToolAnswer = string | Content | AgentToolResult<unknown>;
export type ToolRun = (args: Record<string, unknown>, call: ToolCallInfo) => ToolAnswer | Promise<ToolAnswer>;

export interface ToolSpec {
	run: ToolRun;
	description?: string;
	/** JSON schema of the arguments; any object unless given. */
	parameters?: object;
	/** Run the calls of a batch one after another. */
	sequential?: boolean;
}

/** An extension that registers `tools` by name; one with the name of a Pi tool takes its place. */
export function toolsExtension(tools: Readonly<Record<string, ToolRun | ToolSpec>>): InlineExtension {
	return (pi) => {
		for (const [name, given] of Object.entries(tools)) {
			const spec = typeof given === "function" ? { run: given } : given;
			pi.registerTool({
				name,
				label: name,
				description: spec.description ?? `The tool ${name}.`,
				parameters: (spec.parameters ?? anyObject) as Parameters<typeof pi.registerTool>[0]["parameters"],
				...(spec.sequential ? { executionMode: "sequential" as const } : {}),
				execute: async (id, args, signal, _onUpdate, ctx) =>
					toResult(await spec.run(args as Record<string, unknown>, { id, signal, ctx })),
			});
		}
	};
}

const anyObject = { type: "object", properties: {}, additionalProperties: true };

function toResult(answer: ToolAnswer): AgentToolResult<unknown> {
	if (typeof answer === "string") return { content: [{ type: "text", text: answer }], details: undefined };
	return Array.isArray(answer) ? { content: answer, details: undefined } : answer;
}
