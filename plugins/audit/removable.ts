import { isOpOf, OWN_TOOL, type PluginApi, type RewindBody, type ViewedEntry } from "../../src/plugin.ts";

type Api = Pick<PluginApi, "journal" | "moments" | "session" | "settings">;

/** What could leave the view by one call that its tool would take now. Tokens are plain estimates. */
export type Removable =
	| {
			readonly by: "shrink";
			readonly toolName: string;
			readonly toolCallId: string;
			readonly tokens: number;
	  }
	| { readonly by: "rewind"; readonly toolNames: readonly string[]; readonly tokens: number };

/** Below this a change is not worth the call that makes it. */
const WORTH_TOKENS = 100;

/** The results that a shrink in a later message would take, each with the call id that names it. */
export function shrinkable(api: Api, view: readonly ViewedEntry[]): ReadonlyMap<string, string> {
	if (!isOffered(api, "shrink")) return new Map();
	const byCall = new Map<string, string>();
	for (const { entry } of view) {
		const { id, message } = entry;
		if (message.role !== "toolResult" || OWN_TOOL.test(message.toolName) || !isOfThisPrompt(api, id)) continue;
		byCall.set(message.toolCallId, id);
	}
	return new Map([...byCall].map(([callId, id]) => [id, callId]));
}

/** The largest contributor that could go: a result of this prompt, else the newest call with its results. */
export function largestRemovable(
	api: Api,
	view: readonly ViewedEntry[],
	{ ids, toolCallId }: { readonly ids: ReadonlyMap<string, string>; readonly toolCallId: string | undefined },
): Removable | undefined {
	const waiting = new Set(api.moments.waiting().flatMap(({ entryIds }) => entryIds));
	const free = view.filter(({ entry }) => ids.has(entry.id) && !waiting.has(entry.id));
	const largest = free.reduce<ViewedEntry | undefined>(
		(most, one) => (most && most.tokens >= one.tokens ? most : one),
		undefined,
	);
	const found = largest ? shrinkOf(largest) : newestGroup(api, view, { toolCallId, waiting });
	return found && found.tokens >= WORTH_TOKENS ? found : undefined;
}

function shrinkOf({ entry: { message }, tokens }: ViewedEntry): Removable | undefined {
	if (message.role !== "toolResult") return undefined;
	return { by: "shrink", toolName: message.toolName, toolCallId: message.toolCallId, tokens };
}

/**
 * The group that a rewind of `last_tool_call_group` would hide now, with the groups of only mulligan calls after it;
 * undefined where a rewind would be refused, where it would meet siblings of the audit whose results are not known yet,
 * and where a change of the group waits already.
 */
function newestGroup(
	api: Api,
	view: readonly ViewedEntry[],
	{ toolCallId, waiting }: { readonly toolCallId: string | undefined; readonly waiting: ReadonlySet<string> },
): Removable | undefined {
	if (!takesRewind(api)) return undefined;
	const { session } = api;
	const own = toolCallId === undefined ? undefined : session.groupOfCall(toolCallId);
	const tokens = new Map(view.map(({ entry, tokens }) => [entry.id, tokens]));
	const rewinds = waitingRewinds(api);
	const rewindCalls = new Set(
		[...api.journal.active(REWIND), ...rewinds].map(({ excludeToolCallId }) => excludeToolCallId),
	);
	let sum = 0;
	for (const { entry } of [...view].reverse()) {
		const group = session.groupOf(entry.id);
		if (group?.assistantId !== entry.id) continue;
		if (group.calls.some(({ id, name }) => name === "mulligan_rewind" && rewindCalls.has(id))) return undefined;
		sum += [group.assistantId, ...group.resultIds].reduce((total, id) => total + (tokens.get(id) ?? 0), 0);
		const toolNames = [...new Set(group.calls.map(({ name }) => name).filter((name) => !OWN_TOOL.test(name)))];
		if (toolNames.length === 0) continue;
		const isTaken = group === own || [group.assistantId, ...group.resultIds].some((id) => waiting.has(id));
		return isTaken ? undefined : { by: "rewind", toolNames, tokens: sum };
	}
	return undefined;
}

const REWIND = "mulligan:rewind";

/** What the tools' own sections say that bears on whether they take a call. */
interface Section {
	readonly enabled?: boolean;
	readonly maxDepth?: number;
	readonly maxRetriesPerPrompt?: number;
	readonly abortContextFraction?: number;
}

function sectionOf({ settings }: Api, plugin: "rewind" | "shrink"): Section {
	return (settings[plugin] ?? {}) as Section;
}

/** Whether the model can call the tool and it takes ops at all. */
function isOffered(api: Api, plugin: "rewind" | "shrink"): boolean {
	if (api.moments.maxMoments === 0 || sectionOf(api, plugin).enabled === false) return false;
	return api.session.activeTools().includes(`mulligan_${plugin}`);
}

/** Whether a rewind would pass all that is checked before its target. */
function takesRewind(api: Api): boolean {
	const { maxDepth, maxRetriesPerPrompt, abortContextFraction } = sectionOf(api, "rewind");
	const { journal, session } = api;
	const waiting = waitingRewinds(api);
	const landed = [
		...journal.read(REWIND).filter(({ entryId }) => isOfThisPrompt(api, entryId)),
		...waiting.filter(({ excludeToolCallId }) => isCallOfThisPrompt(api, excludeToolCallId)),
	];
	return (
		isOffered(api, "rewind") &&
		journal.active(REWIND).length + waiting.length < (maxDepth ?? Number.POSITIVE_INFINITY) &&
		landed.length + refusedAtThisPrompt(api) < (maxRetriesPerPrompt ?? Number.POSITIVE_INFINITY) &&
		(session.share ?? 0) < (abortContextFraction ?? Number.POSITIVE_INFINITY)
	);
}

function waitingRewinds({ moments }: Api): readonly RewindBody[] {
	return moments.waiting().flatMap((op) => (isOpOf(op, REWIND) ? [op.body] : []));
}

/** Refusals for want of something to rewind count as rewinds that landed at the prompt. */
function refusedAtThisPrompt({ session }: Api): number {
	const user = session.latestUser();
	const span = user ? session.after(user.id) : session.context();
	return span.filter(({ message }) => {
		const details =
			message.role === "toolResult"
				? (message.details as { readonly refused?: unknown } | null | undefined)
				: undefined;
		return details?.refused === "nothing-to-rewind";
	}).length;
}

function isOfThisPrompt({ session }: Api, entryId: string): boolean {
	const user = session.latestUser();
	return user === undefined || session.isBefore(user.id, entryId);
}

function isCallOfThisPrompt(api: Api, toolCallId: string): boolean {
	const assistantId = api.session.groupOfCall(toolCallId)?.assistantId;
	return assistantId !== undefined && isOfThisPrompt(api, assistantId);
}
