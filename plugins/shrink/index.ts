import { definePlugin, isActivationOf } from "../../src/plugin.ts";
import { ShrinkOptions } from "./options.ts";
import { type ShrinkParams, shrinkTool } from "./prompt.ts";
import { shrinkLines } from "./render.ts";
import { replacementByEntry, shrunk } from "./replace.ts";
import { MARKER, runShrink } from "./tool.ts";

/** `mulligan_shrink`: swap a bloated result for a summary. */
export const shrink = definePlugin({
	name: "shrink",
	options: ShrinkOptions,
	tools: [shrinkTool],
	setup(api) {
		const { hooks, journal, options, session } = api;
		const replacements = journal.memo(() => replacementByEntry(journal.active(MARKER)));
		const missedRequests = new Map<string, number>();
		api.tool<ShrinkParams>(shrinkTool, (call) => runShrink(api, call));
		api.screen.renderRecord(MARKER, shrinkLines);

		hooks.transformMessage.tap("shrink", (message, entry) => {
			const replacement = replacements().get(entry.id);
			return replacement === undefined || message.role !== "toolResult" ? message : shrunk(message, replacement);
		});

		hooks.onOp.tap("shrink", (event) => {
			if (!isActivationOf(event, MARKER)) return;
			api.notify(notification(event.op.describe, event.record.replacement, options.notifyMaxChars));
			for (const { id } of journal.active(MARKER).slice(0, -options.maxActive))
				journal.retire(id, `more than ${options.maxActive} shrinks are active`);
		});

		hooks.onView.tap("shrink", () => {
			for (const { id, pinnedEntryId } of journal.active(MARKER)) {
				if (session.inContext(pinnedEntryId)) missedRequests.delete(id);
				else missedRequests.set(id, (missedRequests.get(id) ?? 0) + 1);
			}
		});

		hooks.onTurnEnd.tap("shrink", () => {
			for (const [id, missed] of missedRequests) {
				if (missed < options.staleAfterFires) continue;
				missedRequests.delete(id);
				journal.retire(id, `its result was out of the context for ${missed} requests`);
			}
		});
	},
});

/** What the human is shown of a shrink: the replacement, cut, with its full length named. */
function notification(what: string, replacement: string, maxChars: number): string {
	const head = `Mulligan: ${what}, now:\n`;
	if (replacement.length <= maxChars) return head + replacement;
	return `${head}${replacement.slice(0, maxChars)}… (${replacement.length} characters in all)`;
}
