import type { SessionEntry } from "@earendil-works/pi-coding-agent";
import { type AnyMessage, type ModelRequest, orphans } from "../../src/testing/index.ts";

/** A branch as its session has it, read without any code of ours but the names of the records. */
export interface Known {
	readonly branch: readonly SessionEntry[];
	/** Entries that active rewinds cover, with the results of the calls among them. */
	readonly rewound: ReadonlySet<string>;
	/** The summary of each result that an active shrink covers; of two the later. */
	readonly shrunk: ReadonlyMap<string, string>;
	/** Entries that some marker of the branch covers or covered. */
	readonly touched: ReadonlySet<string>;
	/** What the notes of active rewinds say, and of those that were taken back. */
	readonly notes: readonly string[];
	readonly retiredNotes: readonly string[];
	/** Ids of the ops that wait. */
	readonly waiting: readonly string[];
	/** Changes with each entry that may change what was sent before. */
	readonly changes: string;
}

interface Data {
	readonly id?: string;
	readonly targetId?: string;
	readonly hideEntryIds?: readonly string[];
	readonly pinnedEntryId?: string;
	readonly replacement?: string;
	readonly status?: string;
	readonly note?: { readonly what_happened: string };
}

export function knownOf(branch: readonly SessionEntry[]): Known {
	const data = (type: string) =>
		branch.flatMap((entry) => (entry.type === "custom" && entry.customType === type ? [entry.data as Data] : []));
	const [rewinds, shrinks, cancels] = ["rewind", "shrink", "cancel"].map((kind) => data(`mulligan:${kind}`)) as [
		Data[],
		Data[],
		Data[],
	];
	const retired = new Set(cancels.map(({ targetId }) => targetId));
	const isActive = ({ id }: Data) => !retired.has(id);
	const covered = (of: readonly Data[]) =>
		withResults(
			of.flatMap(({ hideEntryIds = [] }) => hideEntryIds),
			branch,
		);
	const status = new Map<string, string>();
	for (const { id = "", status: now = "" } of data("mulligan:queued")) status.set(id, now);
	const changing = branch.filter((entry) => entry.type === "compaction" || entry.type === "branch_summary").length;
	return {
		branch,
		rewound: covered(rewinds.filter(isActive)),
		shrunk: new Map(
			shrinks.filter(isActive).map(({ pinnedEntryId = "", replacement = "" }) => [pinnedEntryId, replacement]),
		),
		touched: new Set([...covered(rewinds), ...shrinks.map(({ pinnedEntryId = "" }) => pinnedEntryId)]),
		notes: rewinds.filter(isActive).map(({ note }) => note?.what_happened ?? ""),
		retiredNotes: rewinds.filter((rewind) => !isActive(rewind)).map(({ note }) => note?.what_happened ?? ""),
		waiting: [...status].flatMap(([id, now]) => (now === "queued" ? [id] : [])),
		changes: [rewinds.length, shrinks.length, cancels.length, changing].join(),
	};
}

function withResults(ids: readonly string[], branch: readonly SessionEntry[]): ReadonlySet<string> {
	const all = new Set(ids);
	let open: ReadonlySet<string> = new Set();
	for (const entry of branch) {
		if (entry.type !== "message") continue;
		const { message } = entry;
		if (message.role === "assistant")
			open = all.has(entry.id)
				? new Set(message.content.flatMap((block) => (block.type === "toolCall" ? [block.id] : [])))
				: new Set();
		if (message.role === "toolResult" && open.has(message.toolCallId)) all.add(entry.id);
	}
	return all;
}

/** What is wrong with a request, given what its session held when it was made. */
export function faultsOf(
	request: ModelRequest,
	known: Known,
	{ isOff }: { readonly isOff: boolean },
): readonly string[] {
	const { messages } = request;
	return [...faultsOfForm(messages, known), ...faultsOfContent(messages, known, isOff)];
}

/** Pairs, order and emptiness; what the session itself has unpaired, after a break-off, is Pi's own to mend. */
function faultsOfForm(messages: readonly AnyMessage[], { branch }: Known): readonly string[] {
	const stored = new Set(
		branch.flatMap((entry) =>
			entry.type === "message" && entry.message.role === "toolResult" ? [entry.message.toolCallId] : [],
		),
	);
	const { calls, results } = orphans(messages);
	const found = calls.filter((id) => stored.has(id)).map((id) => `the call ${id} has lost its result`);
	found.push(...results.map((id) => `the result ${id} has lost its call`));
	const sent = messages.filter(
		(message) => message.role !== "assistant" || (message.stopReason !== "error" && message.stopReason !== "aborted"),
	);
	if (sent[0]?.role === "assistant" || sent[0]?.role === "toolResult")
		found.push(`the first message is of role ${sent[0].role}`);
	for (const [at, { role }] of sent.entries())
		if (role === "assistant" && sent[at + 1]?.role === "assistant") found.push(`two responses in a row at ${at}`);
	return found;
}

/** Each text of a fuzzed session carries a mark of its own: a result, a response, a prompt. */
const MARK = /\b[RWU]\d+-/g;
export const marksIn = (value: unknown): readonly string[] => JSON.stringify(value)?.match(MARK) ?? [];

/** Those that a message carries itself, not what it quotes of others. */
export function ownMarks(message: AnyMessage): readonly string[] {
	const kinds: Readonly<Record<string, string>> = { toolResult: "R", assistant: "W", user: "U" };
	const kind = kinds[message.role];
	return kind === undefined || !("content" in message)
		? []
		: marksIn(message.content).filter((mark) => mark.startsWith(kind));
}

function faultsOfContent(messages: readonly AnyMessage[], known: Known, isOff: boolean): readonly string[] {
	const { branch, rewound, shrunk, touched } = known;
	const sent = new Set(marksIn(messages.map((message) => ("content" in message ? message.content : ""))));
	const found: string[] = [];
	const from = keptFrom(branch);
	for (const [at, entry] of branch.entries()) {
		if (entry.type !== "message" || at < from) continue;
		const { message } = entry;
		if (message.role === "system" || message.role === "bashExecution") continue;
		if (message.role === "assistant" && (message.stopReason === "error" || message.stopReason === "aborted")) continue;
		const marks = ownMarks(message);
		const isHidden = rewound.has(entry.id);
		const isShrunk = shrunk.has(entry.id);
		for (const mark of marks) {
			const isSent = sent.has(mark);
			if (isOff) {
				if (!touched.has(entry.id) && !isSent) found.push(`${mark} is missing`);
			} else if (isHidden || isShrunk) {
				// Between two responses a prompt stays.
				if (isSent && message.role !== "user")
					found.push(`${mark} is sent although it is ${isHidden ? "rewound" : "shrunk"}`);
			} else if (!isSent) found.push(`${mark} is missing`);
		}
		const summary = shrunk.get(entry.id);
		if (
			summary !== undefined &&
			!isHidden &&
			!isOff &&
			!JSON.stringify(messages).includes(JSON.stringify(summary).slice(1, -1))
		)
			found.push(`the summary ${summary} is missing`);
	}
	return [...found, ...(isOff ? [] : [...faultsOfNotes(messages, known), ...faultsOfTellings(branch)])];
}

/** Index of the first entry that a compaction left in the context. */
function keptFrom(branch: readonly SessionEntry[]): number {
	const compaction = branch.findLast((entry) => entry.type === "compaction");
	const kept = compaction?.type === "compaction" ? branch.findIndex(({ id }) => id === compaction.firstKeptEntryId) : 0;
	return kept < 0 ? branch.indexOf(compaction as SessionEntry) : kept;
}

function faultsOfNotes(messages: readonly AnyMessage[], { branch, notes, retiredNotes }: Known): readonly string[] {
	const texts = messages.flatMap((message) => (message.role === "user" ? [JSON.stringify(message.content)] : []));
	const count = (note: string) => texts.filter((text) => text.includes(`What happened: ${note}`)).length;
	const isCompacted = branch.some(({ type }) => type === "compaction");
	return [
		...notes
			.filter((note) => count(note) !== 1 && !(isCompacted && count(note) === 0))
			.map((note) => `the note ${note} is there ${count(note)} times`),
		...retiredNotes.filter((note) => count(note) > 0).map((note) => `the note ${note} of what was taken back is sent`),
	];
}

/** What a stored result tells of its op is on record: that it waits, or that it became active. */
function faultsOfTellings(branch: readonly SessionEntry[]): readonly string[] {
	const queued = new Set<unknown>();
	const asked = new Set<unknown>();
	for (const entry of branch) {
		if (entry.type !== "custom") continue;
		const { op, excludeToolCallId } = (entry.data ?? {}) as {
			op?: { toolCallId?: string };
			excludeToolCallId?: string;
		};
		if (entry.customType === "mulligan:queued" && op) queued.add(op.toolCallId);
		if (entry.customType === "mulligan:rewind") asked.add(excludeToolCallId);
	}
	return branch.flatMap((entry) => {
		if (entry.type !== "message" || entry.message.role !== "toolResult") return [];
		const { toolName, toolCallId, content } = entry.message;
		const text = JSON.stringify(content);
		if (/^mulligan_(rewind|shrink)$/.test(toolName) && /\\nQueued \(/.test(text) && !queued.has(toolCallId))
			return [`${toolCallId} was told to wait, and no record says so`];
		if (toolName === "mulligan_rewind" && /\\nActive from the next request/.test(text) && !asked.has(toolCallId))
			return [`${toolCallId} was told to be active, and no record says so`];
		return [];
	});
}
