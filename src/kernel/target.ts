import Type, { type Static } from "typebox";
import type { Branch, ContextEntry } from "./branch.ts";
import type { ToolResultMessage } from "./messages.ts";

/** How the model names a tool result: by its call, or as the first or last of a tool. Shared by the tools that take one. */
export const Target = Type.Object({
	by_tool_call_id: Type.Optional(Type.String()),
	by_tool_name: Type.Optional(Type.String()),
	occurrence: Type.Optional(Type.Unsafe<"first" | "last">({ type: "string", enum: ["last", "first"] })),
});
export type Target = Static<typeof Target>;

/** A context entry that is a tool result. */
export type ResultEntry = ContextEntry & { readonly message: ToolResultMessage };

function isResult(entry: ContextEntry): entry is ResultEntry {
	return entry.message.role === "toolResult";
}

/** The tools whose names begin so are ours. */
export const OWN_TOOL = /^mulligan_/;

/** What is wrong with a target as such; undefined: nothing. */
export function problemOf(target: Target | undefined): string | undefined {
	if (target?.by_tool_call_id || target?.by_tool_name) return undefined;
	return 'target needs by_tool_call_id, or by_tool_name with occurrence "last" or "first".';
}

/** The tool result that a target names among some entries, oldest first; undefined where none matches. */
export function findTarget(target: Target, among: readonly ContextEntry[]): ResultEntry | undefined {
	const results = among.filter(isResult);
	if (target.by_tool_call_id) return results.findLast(({ message }) => message.toolCallId === target.by_tool_call_id);
	const named = results.filter(({ message }) => message.toolName === target.by_tool_name);
	return target.occurrence === "first" ? named[0] : named.at(-1);
}

/**
 * The results that a tool call may change: those of the current prompt span, in the view, stored before the call's own
 * assistant message, and not of a tool of ours.
 */
export function resultsOfSpan(
	branch: Branch,
	toolCallId: string,
	isVisible: (id: string) => boolean,
): readonly ResultEntry[] {
	const latest = branch.users.at(-1);
	const span = latest ? branch.after(latest.id) : branch.context();
	const own = branch.groupOfCall(toolCallId);
	return span
		.filter(isResult)
		.filter(({ id, message }) => !OWN_TOOL.test(message.toolName) && branch.groupOf(id) !== own && isVisible(id));
}
