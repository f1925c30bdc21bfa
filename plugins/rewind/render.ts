import type { RewindBody } from "../../src/plugin.ts";
import { whereOf } from "./note.ts";

/** How the human sees a rewind in the transcript. */
export function rewindLines(rewind: RewindBody): readonly string[] {
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
