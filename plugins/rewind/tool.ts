import {
	contentTokens,
	type Fate,
	isOpOf,
	type NestedCall,
	type PluginApi,
	quoted,
	type RewindBody,
	type ToolAnswer,
	type ToolCall,
	toolCallsOf,
} from "../../src/plugin.ts";
import { type Ledger, type LedgerCall, ledgerOf } from "./ledger/index.ts";
import { noteText, whereOf } from "./note.ts";
import type { RewindOptions } from "./options.ts";
import type { RewindParams } from "./prompt.ts";
import { afterCheckpoint, lastToolCallGroup, lastTurn } from "./span.ts";

type Api = PluginApi<RewindOptions>;
type Call = ToolCall<RewindParams>;
interface Refusal {
	readonly code: string;
	readonly reason: string;
}
type Rewind = Pick<RewindBody, "hideEntryIds" | "excludeToolCallId" | "note">;

export const MARKER = "mulligan:rewind";
const CHECKPOINT_NAME = /^[a-z0-9_-]{1,40}$/;

/** Checks the call, pins what it hides and hands the op in. Nothing is persisted by a refusal. */
export function runRewind(api: Api, call: Call): ToolAnswer {
	const refusal = CHECKS.map((check) => check(api, call)).find((found) => found !== undefined);
	if (refusal) return api.refuse(refusal.reason, refusal.code);
	const hideEntryIds = pin(api, call);
	const leaving = new Set(hideEntryIds.filter((id) => isStillSeen(api, id)));
	if (leaving.size === 0)
		return api.refuse(`nothing to rewind. ${NOTHING[call.params.granularity]}`, "nothing-to-rewind");
	const body = bodyOf(api, call, hideEntryIds);
	const warnings = [...mutationWarning(api, body.ledger), ...repetitionAdvice(api, call)];
	api.moments.submit(
		{
			id: body.id,
			describe: `rewind of ${whereOf(body)}`,
			effect: "hide",
			type: MARKER,
			body,
			entryIds: hideEntryIds,
			shedTokens: viewTokens(api, leaving) - contentTokens(noteText(body)),
			toolCallId: call.toolCallId,
		},
		tell,
	);
	const first = `Mulligan: rewind recorded: ${whereOf(body)}; ${leaving.size} message(s) to leave the view.`;
	return { text: [first, ...warnings].join("\n"), details: { markerId: body.id } };
}

const NOTHING: Readonly<Record<RewindBody["granularity"], string>> = {
	last_tool_call_group: "No tool call since the last rewind is left in view before this one. Go on with the task.",
	last_turn: "Nothing after the user's last message is left in view. Go on with the task.",
	checkpoint: "Nothing after the checkpoint is left in view. Go on with the task.",
};

/** What the result says once the op's fate is known. */
function tell(fate: Fate): string {
	switch (fate.status) {
		case "active":
			return "Active from the next request: your note stands in their place.";
		case "queued":
			return `Queued (~${fate.volumeTokens} tokens wait): the messages are still in the view. It becomes active when ${fate.until}.`;
		case "held":
			return `Queued, held by ${fate.by} (~${fate.volumeTokens} tokens wait): the messages are still in the view.`;
		case "dropped":
			return `Dropped: ${fate.reason}. The messages stay in the view.`;
		case "failed":
			return `Not done: the session log could not be written (${fate.reason}). The messages stay in the view.`;
	}
}

type Check = (api: Api, call: Call) => Refusal | undefined;

/** The refusals, in the order in which they are given. */
const CHECKS: readonly Check[] = [
	({ options }) => (options.enabled ? undefined : { code: "disabled", reason: "rewind is disabled." }),
	({ moments }) =>
		moments.maxMoments > 0
			? undefined
			: { code: "no-moments", reason: "this session allows no change of earlier context (rewrites.maxMoments is 0)." },
	(_api, { params }) => {
		const empty = (["what_happened", "true_current_state", "next"] as const).filter(
			(field) => !params.note[field]?.trim(),
		);
		return empty.length === 0
			? undefined
			: { code: "note", reason: `note.${empty.join(", note.")} must not be empty.` };
	},
	checkCheckpoint,
	({ options, journal, moments }) => {
		const waiting = moments.waiting().filter(({ type }) => type === MARKER).length;
		const active = journal.active(MARKER).length + waiting;
		return active < options.maxDepth
			? undefined
			: {
					code: "max-depth",
					reason: `${active} rewinds are active on this branch, the most that rewind.maxDepth allows. Take one back with mulligan_cancel, or go on.`,
				};
	},
	(api) => {
		const landed = rewindsAtThisPrompt(api).length + refusedAtThisPrompt(api);
		return landed < api.options.maxRetriesPerPrompt
			? undefined
			: {
					code: "max-retries",
					reason: `${landed} rewinds have landed at this prompt, the most that rewind.maxRetriesPerPrompt allows. Go on with what you have, or ask the user.`,
				};
	},
	({ options, session }) => {
		const share = session.share ?? 0;
		return share < options.abortContextFraction
			? undefined
			: {
					code: "too-full",
					reason: `the context is at ${Math.round(share * 100)}% of the window, too full for another retry. See what is largest with mulligan_audit, and shrink that first.`,
				};
	},
];

function checkCheckpoint({ session }: Api, { params }: Call): Refusal | undefined {
	if (params.granularity !== "checkpoint") return undefined;
	const name = params.checkpoint ?? "";
	const code = "checkpoint";
	if (!CHECKPOINT_NAME.test(name))
		return { code, reason: `checkpoint needs a name of 1 to 40 of a-z, 0-9, _ and -; got ${quoted(name)}.` };
	const found = session.checkpoint(name);
	if (!found) return { code, reason: `no checkpoint "${name}" is set on this branch; only the user can set one.` };
	if (found.placeId === undefined)
		return { code, reason: `the place of checkpoint "${name}" has been compacted away. Use last_turn.` };
	return undefined;
}

/** The entries that the rewind hides, for good: what comes later is not among them. */
function pin(api: Api, { toolCallId, params }: Call): readonly string[] {
	const { session, options } = api;
	switch (params.granularity) {
		case "last_tool_call_group": {
			const rewindCalls = new Set(standingRewinds(api).map((rewind) => rewind.excludeToolCallId));
			return lastToolCallGroup({ session, toolCallId, rewindCalls, queued: queuedIds(api) });
		}
		case "last_turn":
			return lastTurn({ session, toolCallId });
		case "checkpoint": {
			const placeId = session.checkpoint(params.checkpoint ?? "")?.placeId;
			const protectLatestUser = options.protectedRoles.includes("latest:user");
			return placeId === undefined ? [] : afterCheckpoint({ session, toolCallId, placeId, protectLatestUser });
		}
	}
}

function bodyOf(api: Api, { toolCallId, params }: Call, hideEntryIds: readonly string[]): RewindBody {
	return {
		id: api.newId(),
		granularity: params.granularity,
		...(params.granularity === "checkpoint" && params.checkpoint ? { checkpoint: params.checkpoint } : {}),
		options: { protect: api.options.protectedRoles },
		excludeToolCallId: toolCallId,
		hideEntryIds,
		note: params.note,
		ledger: ledgerOf(callsOf(api, hideEntryIds), api.session.cwd),
	};
}

/** The tool calls among some entries, with what their results tell: whether they ran, and what they called in turn. */
function callsOf({ session }: Api, ids: readonly string[]): readonly LedgerCall[] {
	return ids.flatMap((id) => {
		const entry = session.entry(id);
		if (!entry) return [];
		const results = (session.groupOf(id)?.resultIds ?? []).flatMap((resultId) => {
			const message = session.entry(resultId)?.message;
			return message?.role === "toolResult" ? [message] : [];
		});
		return toolCallsOf(entry.message).map((call): LedgerCall => {
			const result = results.find(({ toolCallId }) => toolCallId === call.id);
			const nested = (result?.nestedCalls?.calls ?? []).map(ledgerCall);
			return {
				name: call.name,
				arguments: call.arguments,
				nested,
				executed: !failedWithoutEffect(call.name, result?.isError),
			};
		});
	});
}

function ledgerCall({ name, arguments: args, status }: NestedCall): LedgerCall {
	return { name, arguments: args, executed: !failedWithoutEffect(name, status === "error") };
}

/** A failed command may have done half its work; a failed read, edit or write has done nothing. */
function failedWithoutEffect(name: string, isError: boolean | undefined): boolean {
	return isError === true && name !== "bash" && name !== "powershell";
}

function mutationWarning(
	{ options }: Api,
	{ filesModified, bashSideEffects }: Ledger | RewindBody["ledger"],
): readonly string[] {
	if (!options.requireMutationWarning || filesModified.length + bashSideEffects.length === 0) return [];
	const what = [
		...(filesModified.length > 0 ? [`changed ${filesModified.join(", ")}`] : []),
		...(bashSideEffects.length > 0 ? [`ran ${bashSideEffects.length} command(s) with effects`] : []),
	].join(" and ");
	return [`⚠ What you hide ${what}. These effects persist on disk: check before you do any of it again.`];
}

function repetitionAdvice(api: Api, { params }: Call): readonly string[] {
	const plain = (text: string) => text.trim().toLowerCase();
	const last = rewindsAtThisPrompt(api).at(-1);
	if (!last || plain(last.note.what_happened) !== plain(params.note.what_happened)) return [];
	return ["⚠ The same thing happened before your last rewind at this prompt. Change the approach, or ask the user."];
}

function isStillSeen(api: Api, id: string): boolean {
	return api.session.isVisible(id) && !queuedIds(api).has(id);
}

/** Plain estimate of some entries as the view shows them now, in tokens: of a shrunk result what stands in its place. */
function viewTokens({ session }: Api, ids: ReadonlySet<string>): number {
	const seen = session.viewed().filter(({ entry }) => ids.has(entry.id));
	return seen.reduce((sum, { tokens }) => sum + tokens, 0);
}

function waitingRewinds({ moments }: Api): readonly RewindBody[] {
	return moments.waiting().flatMap((op) => (isOpOf(op, MARKER) ? [op.body] : []));
}

function queuedIds(api: Api): ReadonlySet<string> {
	return new Set(waitingRewinds(api).flatMap(({ hideEntryIds }) => hideEntryIds));
}

/** Rewinds that count: active ones and those that wait. */
function standingRewinds(api: Api): readonly Rewind[] {
	return [...api.journal.active(MARKER), ...waitingRewinds(api)];
}

/** The rewinds that landed or wait at the latest user message, cancelled ones included, oldest first. */
function rewindsAtThisPrompt(api: Api): readonly Rewind[] {
	const { session, journal } = api;
	const landed = journal.read(MARKER).filter(({ entryId }) => isOfThisPrompt(api, entryId));
	const waiting = waitingRewinds(api).filter(({ excludeToolCallId }) =>
		isOfThisPrompt(api, session.groupOfCall(excludeToolCallId)?.assistantId),
	);
	return [...landed, ...waiting];
}

function refusedAtThisPrompt(api: Api): number {
	const user = api.session.latestUser();
	const since = user ? api.session.after(user.id) : api.session.context();
	return since.filter(({ message }) => {
		const details =
			message.role === "toolResult" ? (message.details as { refused?: unknown } | null | undefined) : undefined;
		return details?.refused === "nothing-to-rewind";
	}).length;
}

function isOfThisPrompt({ session }: Api, entryId: string | undefined): boolean {
	const user = session.latestUser();
	return entryId !== undefined && (user === undefined || session.isBefore(user.id, entryId));
}
