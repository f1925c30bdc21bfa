import type { ShrinkBody } from "../../src/plugin.ts";

/** Characters of the replacement in the transcript: one line of a usual terminal. */
const MOST_CHARS = 100;

/** How the human sees a shrink in the transcript. */
export function shrinkLines({ target, replacement }: ShrinkBody): readonly string[] {
	return [
		`Mulligan: the agent now sees a summary in place of ${whichOf(target)}; you still see all of it.`,
		oneLine(replacement),
	];
}

function whichOf({ by_tool_call_id: callId, by_tool_name: toolName, occurrence }: ShrinkBody["target"]): string {
	if (callId) return `the result of call ${callId}`;
	return toolName ? `the ${occurrence ?? "last"} result of ${toolName}` : "a result";
}

function oneLine(text: string): string {
	const line = text.trim().replace(/\s+/g, " ");
	return line.length <= MOST_CHARS ? line : `${line.slice(0, MOST_CHARS - 1)}…`;
}
