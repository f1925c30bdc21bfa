import { definePlugin, type PluginApi, problemOf, type Standing, type ToolAnswer } from "../../src/plugin.ts";
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
function find(api: PluginApi, { markerId, target }: CancelParams): Standing | undefined {
	const all = api.moments.standing();
	if (markerId) return all.find((op) => op.id === markerId || ("record" in op && op.record.entryId === markerId));
	const entry = target && api.session.resolve(target, "context");
	return entry && all.find(({ covers }) => covers.includes(entry.id));
}

function takeBack(api: PluginApi, found: Standing): ToolAnswer {
	const details = { cancelled: true, markerId: found.id };
	if (found.kind === "waiting") {
		api.moments.cancel(found.id);
		return { text: `Mulligan: the queued ${found.op.describe} is dropped; nothing had changed.`, details };
	}
	const covering = shrinksOf(api, found);
	const isInForce = found.kind === "rewind" || covering[0]?.id === found.id;
	api.journal.retire(found.id, "cancelled by the model");
	const what = isInForce ? backOf(api, found) : "a later summary of the same result still stands";
	return { text: `Mulligan: the ${found.kind} is cancelled: ${what}. Files are as they are.`, details };
}

/** What the model sees again, now that the op is retired: other changes of the same messages keep their effect. */
function backOf(api: PluginApi, op: Standing): string {
	const seen = new Set(api.session.viewed().map(({ entry }) => entry.id));
	const isStillHidden = op.covers.some((id) => api.session.inContext(id) && !seen.has(id));
	if (op.kind === "rewind") {
		const back = isStillHidden ? "what no other rewind hides is back" : "what was hidden is back";
		return `from the next request ${back}, its note is gone`;
	}
	if (isStillHidden) return "a rewind hides the result, so that nothing else changes";
	const back = shrinksOf(api, op).length > 0 ? "your earlier summary of the result" : "the full result";
	return `from the next request ${back} is back`;
}

/** The active shrinks of what an op covers, newest first. */
function shrinksOf({ moments }: PluginApi, { covers }: Standing): readonly Standing[] {
	return moments.standing().filter((op) => op.kind === "shrink" && op.covers.some((id) => covers.includes(id)));
}
