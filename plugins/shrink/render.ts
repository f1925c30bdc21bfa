import { parseRecord, type ShrinkBody } from "../../src/plugin.ts";
import { MARKER } from "./tool.ts";

/** Characters of the replacement in the transcript: one line of a usual terminal. */
const MOST_CHARS = 100;

/** How the human sees a shrink in the transcript; undefined where its record is malformed. */
export function shrinkLines(data: unknown): readonly string[] | undefined {
	const parsed = parseRecord(MARKER, data, () => "named by content");
	if ("wrong" in parsed) return undefined;
	const { target, replacement } = parsed.body as ShrinkBody & typeof parsed.body;
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
