import type { RewindBody } from "../../src/plugin.ts";

const WHERE: Readonly<Record<RewindBody["granularity"], (checkpoint: string) => string>> = {
	last_tool_call_group: () => "the last tool call group",
	last_turn: () => "all since the user's last message",
	checkpoint: (name) => `all since the checkpoint "${name}"`,
};

/** What a granularity takes back, in words. */
export function whereOf({ granularity, checkpoint }: Pick<RewindBody, "granularity" | "checkpoint">): string {
	return WHERE[granularity](checkpoint ?? "");
}

/** The note that stands where something was rewound. `late`: it was asked for in an earlier turn, whose `next` is past. */
export function noteText(rewind: RewindBody & { readonly late?: boolean }): string {
	const { note, ledger, late } = rewind;
	const heading = late ? "Rewound now (asked for earlier)" : "Rewound";
	return [
		`${heading}: ${whereOf(rewind)} left your context.`,
		`What happened: ${note.what_happened.trim()}`,
		`True current state: ${note.true_current_state.trim()}`,
		...(late ? [] : [`Next: ${note.next.trim()}`]),
		...block("files-read", ledger.filesRead),
		...block("files-modified", ledger.filesModified),
		...block("bash-side-effects", ledger.bashSideEffects),
	].join("\n");
}

/** A block of lines; one that would close the block itself is defused. */
function block(tag: string, lines: readonly string[]): readonly string[] {
	if (lines.length === 0) return [];
	return [`<${tag}>`, ...lines.map((line) => line.replaceAll(`</${tag}>`, `<\\/${tag}>`)), `</${tag}>`];
}
