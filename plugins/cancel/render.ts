import type { CancelBody, PluginApi, QueuedBody } from "../../src/plugin.ts";

type Journal = Pick<PluginApi["journal"], "read">;

/** How the human sees a cancel in the transcript. */
export function cancelLines({ targetId }: CancelBody, journal: Journal): readonly string[] {
	return [
		`Mulligan: ${kindOf(targetId, journal)} is taken back: the agent sees the originals again, as far as they are in its context.`,
	];
}

function kindOf(markerId: string, journal: Journal): string {
	if (journal.read("mulligan:rewind").some(({ id }) => id === markerId)) return "a rewind";
	return journal.read("mulligan:shrink").some(({ id }) => id === markerId) ? "a shrink" : "a rewind or shrink";
}

/**
 * How the human sees what became of a waiting op; undefined for one that became active, which has a record of its own in
 * the transcript.
 */
export function queuedLines({ id, status, op, reason }: QueuedBody, journal: Journal): readonly string[] | undefined {
	const shed = Math.max(0, op?.shedTokens ?? 0);
	const what = op?.describe ?? queuedAs(id, journal) ?? "change of the agent's view";
	switch (status) {
		case "queued":
			return [`Mulligan: queued: ${what} (~${shed} tokens). Nothing has left the agent's view yet.`];
		case "dropped":
			return [`Mulligan: the queued ${what} is dropped${reason ? `: ${reason}` : ""}.`];
		case "cancelled":
			return [`Mulligan: the queued ${what} is taken back before it had any effect.`];
		case "activated":
			return undefined;
	}
}

function queuedAs(opId: string, journal: Journal): string | undefined {
	return journal.read("mulligan:queued").find(({ id, op }) => id === opId && op !== undefined)?.op?.describe;
}
