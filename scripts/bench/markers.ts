import type { RewindBody, ShrinkBody } from "../../src/kernel/records.ts";
import type { SessionLog } from "../../src/testing/index.ts";

interface Numbered {
	/** How many markers stand before this one. */
	readonly number: number;
}

/** What a rewind leaves in a session: the call, the marker before its result, the note. Returns the number of messages. */
export function rewind(
	log: SessionLog,
	{ number, hides, checkpoint }: Numbered & { readonly hides: readonly string[]; readonly checkpoint?: string },
): number {
	const granularity = checkpoint === undefined ? "last_tool_call_group" : "checkpoint";
	const note = {
		what_happened: `Attempt ${number} patched the wrong file.`,
		true_current_state: "The tests fail as before.",
		next: "Read the caller first.",
	};
	const id = markerId(number);
	const excludeToolCallId = `rewind-${number}`;
	log.assistant({
		text: "That was a mistake.",
		calls: [{ id: excludeToolCallId, name: "mulligan_rewind", args: { granularity, note } }],
	});
	const body: RewindBody = {
		id,
		granularity,
		...(checkpoint === undefined ? {} : { checkpoint }),
		excludeToolCallId,
		hideEntryIds: hides,
		note,
		ledger: { filesRead: ["src/file.ts"], filesModified: [], bashSideEffects: [] },
	};
	log.custom("mulligan:rewind", { ...header("rewind", number), ...body });
	log.result(excludeToolCallId, "Mulligan: rewound.", { details: { markerId: id } });
	log.customMessage("mulligan:note", `Rewound (${number}).\nWhat happened: ${note.what_happened}`, {
		details: { schema: "pi-mulligan", v: 1, kind: "note", rewindId: id },
	});
	return 3;
}

/** What a shrink leaves in a session: the call, the marker before its result. Returns the number of messages. */
export function shrink(log: SessionLog, { number, result }: Numbered & { readonly result: string }): number {
	const call = `shrink-${number}`;
	const target = { by_tool_name: "look", occurrence: "last" } as const;
	const replacement = "Nothing of interest in this file.";
	log.assistant({ calls: [{ id: call, name: "mulligan_shrink", args: { target, replacement } }] });
	const body: ShrinkBody = { id: markerId(number), target, replacement, pinnedEntryId: result };
	log.custom("mulligan:shrink", { ...header("shrink", number), ...body });
	log.result(call, "Mulligan: shrink recorded. Matched: yes.", { details: { markerId: body.id } });
	return 2;
}

function header(kind: string, number: number) {
	return { schema: "pi-mulligan", v: 1, kind, seq: number + 1, ts: Date.UTC(2026, 0, 5, 9, number) };
}

function markerId(number: number): string {
	return `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`;
}
