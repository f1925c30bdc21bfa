import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import type { TSchema } from "typebox";
import type { ResultLines, ToolAnswer, ToolCall, ToolDeclaration } from "../kernel/plugin.ts";
import { resultComponent } from "./screen.ts";

/** Registers one tool of ours. `model-only`: a script tool must not call it, its id is no entry's. */
export function registerTool(
	pi: ExtensionAPI,
	declaration: ToolDeclaration,
	run: (call: ToolCall<never>, context: ExtensionContext) => Promise<ToolAnswer> | ToolAnswer,
	render?: ResultLines,
): void {
	pi.registerTool({
		...declaration,
		exposure: "model-only",
		...(render === undefined
			? {}
			: {
					renderResult: (result: unknown, { expanded }: { readonly expanded: boolean }) =>
						resultComponent(render, result, expanded),
				}),
		prepareArguments: (args: unknown) => parseObjectStrings(args, declaration.parameters),
		async execute(toolCallId, params, _signal, _onUpdate, context) {
			const { text, details } = await run({ toolCallId, params: params as never }, context);
			return { content: [{ type: "text", text }], details };
		},
	} as Parameters<ExtensionAPI["registerTool"]>[0]);
}

/**
 * Arguments whose object parameters arrived as JSON strings, parsed. All else is left as it came for Pi's own
 * validation to judge: malformed JSON, arrays, scalars.
 */
function parseObjectStrings(args: unknown, schema: TSchema): never {
	const properties = (schema as { readonly properties?: Record<string, { readonly type?: string }> }).properties ?? {};
	if (typeof args !== "object" || args === null) return args as never;
	const parsed = Object.entries(args).flatMap(([key, value]) => {
		const object = properties[key]?.type === "object" && typeof value === "string" ? objectFrom(value) : undefined;
		return object === undefined ? [] : [[key, object] as const];
	});
	return (parsed.length === 0 ? args : { ...args, ...Object.fromEntries(parsed) }) as never;
}

function objectFrom(text: string): object | undefined {
	try {
		const value: unknown = JSON.parse(text);
		return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
	} catch {
		return undefined;
	}
}
