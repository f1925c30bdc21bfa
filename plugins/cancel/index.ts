import { definePlugin, type PluginApi, problemOf, type ToolAnswer } from "../../src/plugin.ts";
import { type Cancellable, cancellables } from "./marker.ts";
import { type CancelParams, cancelTool } from "./prompt.ts";
import { cancelLines, queuedLines } from "./render.ts";

/** `mulligan_cancel`: take a rewind or shrink back. */
export const cancel = definePlugin({
	name: "cancel",
	tools: [cancelTool],
	setup(api) {
		const { journal, screen } = api;
		api.tool<CancelParams>(cancelTool, ({ params }) => runCancel(api, params));
		screen.renderRecord("mulligan:cancel", (record) => cancelLines(record, journal));
		screen.renderRecord("mulligan:queued", (record) => queuedLines(record, journal));
	},
});

const NOTHING: ToolAnswer = {
	text: "Mulligan: nothing to cancel — no active or queued op matches.",
	details: { cancelled: false },
};

function runCancel(api: PluginApi, params: CancelParams): ToolAnswer {
	if (!params.markerId) {
		const problem = params.target ? problemOf(params.target) : "give target or markerId.";
		if (problem) return api.refuse(problem, "target");
	}
	const found = find(api, params);
	return found ? takeBack(api, found) : NOTHING;
}

/** The op that a marker's id or entry id names; else the newest one that covers the named result. */
function find(api: PluginApi, { markerId, target }: CancelParams): Cancellable | undefined {
	const all = cancellables(api);
	if (markerId) return all.find((op) => op.markerId === markerId || ("entryId" in op && op.entryId === markerId));
	const entry = target && api.session.resolve(target, "context");
	return entry && all.findLast(({ covers }) => covers.includes(entry.id));
}

function takeBack(api: PluginApi, found: Cancellable): ToolAnswer {
	const details = { cancelled: true, markerId: found.markerId };
	if (found.kind === "waiting") {
		api.moments.cancel(found.markerId);
		return { text: `Mulligan: the queued ${found.describe} is dropped; nothing had changed.`, details };
	}
	api.journal.retire(found.markerId, "cancelled by the model");
	const text = `Mulligan: the ${found.kind} is cancelled: from the next request ${backOf(api, found)}. Files are as they are.`;
	return { text, details };
}

/** What the model sees again. An earlier change of the same messages, if one stands, has its effect on them now. */
function backOf(api: PluginApi, { kind, covers }: Cancellable): string {
	if (kind === "rewind") return "what was hidden is back, its note is gone";
	const isStill = cancellables(api).some((op) => op.kind === "shrink" && op.covers.some((id) => covers.includes(id)));
	return isStill ? "your earlier summary of the result is back" : "the full result is back";
}
