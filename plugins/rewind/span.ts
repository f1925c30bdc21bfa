import { type ContextEntry, keptForOrder, OWN_TOOL, type SessionReader, type ToolGroup } from "../../src/plugin.ts";

/** Custom type of the note that stands where something was rewound. */
export const NOTE_TYPE = "mulligan:note";

/** The tool's name: some providers give calls of different turns the same id, so an id alone tells no rewind. */
const TOOL = "mulligan_rewind";

interface Around {
	readonly session: SessionReader;
	/** The rewind's own call. */
	readonly toolCallId: string;
}

/**
 * The newest tool group before the rewind's own that did more than call mulligan, with the groups of only mulligan
 * calls after it. Empty where the search meets the group of an earlier rewind first.
 */
export function lastToolCallGroup({
	session,
	toolCallId,
	rewindCalls,
	queued,
}: Around & {
	/** The calls of earlier rewinds that stand. */
	readonly rewindCalls: ReadonlySet<string>;
	/** Entries that a waiting rewind hides. */
	readonly queued: ReadonlySet<string>;
}): readonly string[] {
	const own = session.groupOfCall(toolCallId);
	const ids: string[] = [];
	for (const group of groupsNewestFirst(session)) {
		if (group === own || queued.has(group.assistantId) || !session.isVisible(group.assistantId)) continue;
		if (own && !session.isBefore(group.assistantId, own.assistantId)) continue;
		if (group.calls.some(({ id, name }) => name === TOOL && rewindCalls.has(id))) return [];
		ids.unshift(group.assistantId, ...group.resultIds);
		if (group.calls.some(({ name }) => !OWN_TOOL.test(name))) return ids;
	}
	return [];
}

/** All assistant and tool-result messages after the latest user message, the rewind's own group left out. */
export function lastTurn({ session, toolCallId }: Around): readonly string[] {
	const own = session.groupOfCall(toolCallId);
	const user = session.latestUser();
	return (user ? session.after(user.id) : session.context())
		.filter(({ message }) => message.role === "assistant" || message.role === "toolResult")
		.filter(({ id }) => own === undefined || session.groupOf(id) !== own)
		.map(({ id }) => id);
}

/**
 * Everything after the checkpointed entry but the protected prompts, summaries, notes, the rewind's own group, and a prompt
 * where two responses would meet without one.
 */
export function afterCheckpoint({
	session,
	toolCallId,
	placeId,
	protectLatestUser,
}: Around & { readonly placeId: string; readonly protectLatestUser: boolean }): readonly string[] {
	const own = session.groupOfCall(toolCallId);
	const kept = new Set([session.firstUser()?.id, protectLatestUser ? session.latestUser()?.id : undefined]);
	const isHalfOfEarlierGroup = ({ id }: ContextEntry) => {
		const group = session.groupOf(id);
		return group !== undefined && !session.isBefore(placeId, group.assistantId);
	};
	const left = session
		.after(placeId)
		.filter((entry) => !kept.has(entry.id) && !isKeptKind(entry) && !isHalfOfEarlierGroup(entry))
		.filter(({ id }) => own === undefined || session.groupOf(id) !== own)
		.map(({ id }) => id);
	const leaving = new Set(left);
	const parting = keptForOrder(session.context(), (id) => leaving.has(id) || !session.isVisible(id));
	return left.filter((id) => !parting.has(id));
}

function isKeptKind({ message }: ContextEntry): boolean {
	if (message.role === "branchSummary" || message.role === "compactionSummary") return true;
	return message.role === "custom" && message.customType === NOTE_TYPE;
}

function* groupsNewestFirst(session: SessionReader): Generator<ToolGroup> {
	for (const { id } of [...session.context()].reverse()) {
		const group = session.groupOf(id);
		if (group?.assistantId === id) yield group;
	}
}
