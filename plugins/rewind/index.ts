import { definePlugin, isActivationOf, type PluginApi } from "../../src/plugin.ts";
import { consumeCheckpoint, lostConsent } from "./consent.ts";
import { noteText } from "./note.ts";
import { RewindOptions } from "./options.ts";
import { type RewindParams, rewindTool } from "./prompt.ts";
import { noteLines, rewindLines } from "./render.ts";
import { NOTE_TYPE } from "./span.ts";
import { MARKER, runRewind } from "./tool.ts";

/** `mulligan_rewind`: hide a mistake, and leave a note in its place. */
export const rewind = definePlugin({
	name: "rewind",
	options: RewindOptions,
	tools: [rewindTool],
	setup(api) {
		const { hooks, journal, moments, screen, session } = api;
		api.tool<RewindParams>(rewindTool, (call) => runRewind(api, call));
		screen.renderRecord(MARKER, rewindLines);
		screen.renderMessage(NOTE_TYPE, noteLines);

		moments.dropWhen((op) => lostConsent(api, op));

		hooks.beforeFilter.tap("rewind", (plan) => {
			const noteIds = noteIdsByRewind(session);
			for (const { id, entryId, ts, hideEntryIds, ...body } of journal.active(MARKER)) {
				for (const hidden of hideEntryIds) plan.hide(hidden);
				const noteId = noteIds.get(id);
				noteIds.delete(id);
				plan.note({
					recordEntryId: entryId,
					customType: NOTE_TYPE,
					content: noteText({ ...body, id, hideEntryIds }),
					details: noteDetails(id),
					timestamp: ts,
					...(noteId === undefined ? {} : { entryId: noteId }),
				});
			}
			// What is left are the notes of cancelled rewinds: they leave the view with them.
			for (const noteId of noteIds.values()) plan.hide(noteId);
		});

		// A drop that a command asked for is told by the command.
		hooks.onOp.tap("rewind:dropped", (event) => {
			if (event.status !== "dropped" || event.reason !== lostConsent(api, event.op)) return;
			api.notify(`Mulligan: the queued ${event.op.describe} is dropped: ${event.reason}.`);
		});

		hooks.onOp.tap("rewind", (event) => {
			if (!isActivationOf(event, MARKER)) return;
			const { record } = event;
			journal.note({ customType: NOTE_TYPE, content: noteText(record), details: noteDetails(record.id) });
			consumeCheckpoint(api, record);
		});
	},
});

function noteDetails(rewindId: string): object {
	return { schema: "pi-mulligan", v: 1, kind: "note", rewindId };
}

/** The newest stored note of each rewind on the branch. */
function noteIdsByRewind(session: PluginApi["session"]): Map<string, string> {
	return new Map(
		session.notes(NOTE_TYPE).flatMap(({ id, message }) => {
			const details =
				message.role === "custom" ? (message.details as { rewindId?: unknown } | null | undefined) : undefined;
			return typeof details?.rewindId === "string" ? [[details.rewindId, id] as const] : [];
		}),
	);
}
