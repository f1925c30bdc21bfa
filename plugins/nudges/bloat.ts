import {
	contentTokens,
	type FinishedCall,
	type FreshResult,
	OWN_TOOL,
	type PluginApi,
	textOf,
} from "../../src/plugin.ts";
import type { NudgesOptions } from "./options.ts";
import { bloatLine, type WayOut } from "./prompt.ts";

/** A tool result of at least its threshold. */
export interface BloatHit {
	readonly toolCallId: string;
	readonly toolName: string;
	/** Of its text, in UTF-8. */
	readonly bytes: number;
	/** Plain estimate of its text. */
	readonly tokens: number;
}

/** The hit that a result is; undefined for a small one, for one of our tools, and for a script's data. */
export function bloatOf(result: FreshResult, call: FinishedCall, options: NudgesOptions): BloatHit | undefined {
	const { toolCallId, toolName, parentToolCallId } = call;
	if (parentToolCallId !== undefined || OWN_TOOL.test(toolName)) return undefined;
	const text = textOf(result.content);
	const bytes = Buffer.byteLength(text);
	if (bytes < thresholdBytes(toolName, options)) return undefined;
	return { toolCallId, toolName, bytes, tokens: contentTokens(text) };
}

function thresholdBytes(toolName: string, options: NudgesOptions): number {
	const own = Object.hasOwn(options.bloatThresholdBytesByTool, toolName);
	return (own ? options.bloatThresholdBytesByTool[toolName] : undefined) ?? options.bloatThresholdBytes;
}

/** Puts one line under each large result that something can be done about. */
export function remindOfBloat(api: PluginApi<NudgesOptions>): void {
	api.hooks.onToolResult.tap("nudges:bloat", (result, call) => {
		const hit = bloatOf(result, call, api.options);
		const tools = hit ? waysOut(api) : [];
		if (!hit || tools.length === 0) return result;
		return { ...result, content: [...result.content, { type: "text", text: bloatLine(hit.bytes, tools) }] };
	});
}

/** The tools that would take a result back if the model called them now. */
function waysOut({ session, settings, moments }: PluginApi<NudgesOptions>): readonly WayOut[] {
	if (moments.maxMoments === 0) return [];
	const active = session.activeTools();
	const tools = { mulligan_shrink: settings.shrink, mulligan_rewind: settings.rewind };
	return (Object.keys(tools) as WayOut[]).filter((tool) => active.includes(tool) && !isDisabled(tools[tool]));
}

function isDisabled(section: unknown): boolean {
	return (section as { readonly enabled?: unknown } | undefined)?.enabled === false;
}
