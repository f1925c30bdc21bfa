import {
	contentChars,
	contentTokens,
	type Fate,
	type PluginApi,
	problemOf,
	type ResultEntry,
	type ShrinkBody,
	type ToolAnswer,
	type ToolCall,
} from "../../src/plugin.ts";
import type { ShrinkOptions } from "./options.ts";
import type { ShrinkParams } from "./prompt.ts";
import { replacementByEntry, stamped } from "./replace.ts";

type Api = PluginApi<ShrinkOptions>;

export const MARKER = "mulligan:shrink";

/** Checks the call, pins the result it names and hands the op in. Nothing is persisted by a refusal. */
export function runShrink(api: Api, { toolCallId, params }: ToolCall<ShrinkParams>): ToolAnswer {
	const { options, moments, session } = api;
	if (!options.enabled) return api.refuse("shrink is disabled.", "disabled");
	if (moments.maxMoments === 0)
		return api.refuse("this session allows no change of earlier context (rewrites.maxMoments is 0).", "no-moments");
	if (!params.replacement.trim()) return api.refuse("replacement must not be empty.", "replacement");
	const problem = problemOf(params.target);
	if (problem) return api.refuse(problem, "target");
	const entry = session.resolve(params.target, { span: toolCallId });
	if (!entry)
		return api.refuse("that result is from a previous turn; only this turn's tool calls can be shrunk.", "no-match");
	const earlier = standingFor(api, entry);
	const before = earlier === undefined ? contentChars(entry.message.content) : earlier.length;
	const after = stamped(params.replacement).length;
	if (after >= before) {
		const what = earlier === undefined ? "the result" : "the summary that stands in its place";
		return api.refuse(
			`the replacement is not smaller than ${what}: ${after} characters for ${before}. Leave it as it is.`,
			"not-smaller",
		);
	}
	const body: ShrinkBody = {
		id: api.newId(),
		target: params.target,
		replacement: params.replacement,
		...(params.reason ? { reason: params.reason } : {}),
		pinnedEntryId: entry.id,
	};
	api.moments.submit(
		{
			id: body.id,
			describe: `shrink of ${entry.message.toolName} ${entry.message.toolCallId}`,
			effect: "replace",
			type: MARKER,
			body,
			entryIds: [entry.id],
			shedTokens: shedBy(api, entry, params.replacement),
			toolCallId,
		},
		(fate) => (fate.status === "active" ? activeText(api, body) : tell(fate, stillOf(api, entry))),
	);
	return { text: "Mulligan: shrink recorded. Matched: yes.", details: { markerId: body.id } };
}

/** Tokens that leave the view, net of what comes in: against what stands there now. */
function shedBy(api: Api, entry: ResultEntry, replacement: string): number {
	const now = contentTokens(standingFor(api, entry) ?? entry.message.content);
	return now - contentTokens(stamped(replacement));
}

/** The summary that the view shows of a result already; undefined where it shows the result. */
function standingFor({ journal }: Api, { id }: ResultEntry): string | undefined {
	const standing = replacementByEntry(journal.active(MARKER)).get(id);
	return standing === undefined ? undefined : stamped(standing);
}

/** What the view shows of a result while a shrink of it is not active. */
function stillOf(api: Api, entry: ResultEntry): string {
	return standingFor(api, entry) === undefined ? "the result is still whole" : "the earlier summary still stands";
}

/** What an active shrink has changed: nothing where others of its turn have undone, hidden or replaced it. */
function activeText({ journal, options, session }: Api, { id, pinnedEntryId }: ShrinkBody): string {
	const active = journal.active(MARKER);
	if (!active.some((shrink) => shrink.id === id))
		return `Taken back at once: no more than ${options.maxActive} shrinks are active (shrink.maxActive), and later ones count.`;
	if (active.findLast((shrink) => shrink.pinnedEntryId === pinnedEntryId)?.id !== id)
		return "Active, but a later shrink of the same result stands in its place.";
	return session.isVisible(pinnedEntryId)
		? "Active from the next request."
		: "Active, but without effect: a rewind hides the result.";
}

/** What the result says of an op that is not active; `still` is what the view shows. */
function tell(fate: Exclude<Fate, { readonly status: "active" }>, still: string): string {
	const sentence = `${still.charAt(0).toUpperCase()}${still.slice(1)}.`;
	switch (fate.status) {
		case "queued":
			return `Queued (~${fate.volumeTokens} tokens wait): ${still}. It becomes active when ${fate.until}.`;
		case "held":
			return `Queued, held by ${fate.by} (~${fate.volumeTokens} tokens wait): ${still}.`;
		case "dropped":
			return `Dropped: ${fate.reason}. ${sentence}`;
		case "failed":
			return `Not done: the session log could not be written (${fate.reason}). ${sentence}`;
	}
}
