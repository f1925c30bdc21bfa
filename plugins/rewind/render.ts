import { parseRecord, type RewindBody } from "../../src/plugin.ts";
import { whereOf } from "./note.ts";
import { MARKER } from "./tool.ts";

/** How the human sees a rewind in the transcript; undefined where its record is malformed. */
export function rewindLines(data: unknown): readonly string[] | undefined {
	const parsed = parseRecord(MARKER, data, () => undefined);
	if ("wrong" in parsed) return undefined;
	const rewind = parsed.body as RewindBody & typeof parsed.body;
	const count = rewind.hideEntryIds.length;
	return [
		`Mulligan: the agent rewound ${whereOf(rewind)}: ${count} message${count === 1 ? "" : "s"} left its view.`,
		"You still see them, and the session file keeps them. Effects on disk persist.",
	];
}

/** How the human sees a note, which speaks to the agent: its heading and what happened, or all of it. */
export function noteLines({
	content,
	isExpanded,
}: {
	readonly content: string;
	readonly isExpanded: boolean;
}): readonly string[] {
	const lines = `Note to the agent: ${content}`.split("\n");
	if (isExpanded) return lines;
	const state = lines.findIndex((line) => line.startsWith("True current state:"));
	return lines.slice(0, state === -1 ? 2 : state);
}
