import { isOpOf, type Op, type PluginApi, type RewindBody } from "../../src/plugin.ts";
import { MARKER } from "./tool.ts";

type Api = Pick<PluginApi, "journal" | "session">;

/** A checkpoint is the human's consent to one rewind: it is gone once a rewind to it is active. */
export function consumeCheckpoint({ journal, session }: Api, { checkpoint }: Pick<RewindBody, "checkpoint">): void {
	if (checkpoint === undefined) return;
	for (const id of session.checkpoint(checkpoint)?.labelledIds ?? []) journal.label(id, undefined);
}

/**
 * Why a waiting rewind must not become active: the human has taken the consent back, or given it for a later place, by
 * editing labels in /tree. Undefined while the consent stands, and for every other op.
 */
export function lostConsent({ session }: Pick<Api, "session">, op: Op): string | undefined {
	if (!isOpOf(op, MARKER) || op.body.checkpoint === undefined) return undefined;
	const { checkpoint: name, hideEntryIds } = op.body;
	const found = session.checkpoint(name);
	if (!found) return `the user has cleared the label of the checkpoint "${name}"`;
	const { placeId } = found;
	const isOutside = (id: string) => id === placeId || (placeId !== undefined && session.isBefore(id, placeId));
	return hideEntryIds.some(isOutside) ? `the user has moved the checkpoint "${name}"` : undefined;
}
