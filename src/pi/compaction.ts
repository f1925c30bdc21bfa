import { type Branch, keyOf } from "../kernel/branch.ts";
import { type EntryId, type Message, type NestedCall, toolCallsOf } from "../kernel/messages.ts";
import type { DurableView } from "../kernel/view.ts";
import { withContent } from "./align.ts";

/** Pi's plan of a compaction, as far as the view touches it. Its messages are the live ones of the session. */
export interface Preparation {
	messagesToSummarize: Message[];
	turnPrefixMessages: Message[];
	readonly fileOps: {
		readonly read: Set<string>;
		readonly written: Set<string>;
		readonly edited: Set<string>;
	};
}

/**
 * Apply the view to what Pi is about to summarise: hidden messages leave both lists, replaced ones are put in as
 * copies, and a file that only hidden calls touched leaves the file lists. `keptFiles` are those that an earlier
 * compaction already named.
 */
export function applyToPreparation(
	preparation: Preparation,
	{
		view,
		branch,
		keptFiles,
	}: { readonly view: DurableView; readonly branch: Branch; readonly keptFiles: ReadonlySet<string> },
): void {
	if (view.hidden.size === 0 && view.replaced.size === 0) return;
	const idOf = finder(view, branch);
	const gone: Message[] = [];
	const apply = (messages: readonly Message[]) =>
		messages.flatMap((message) => {
			const id = idOf(message);
			if (id === undefined) return [message];
			if (view.hidden.has(id)) {
				gone.push(message);
				return [];
			}
			const content = view.replaced.get(id);
			return [content === undefined ? message : withContent(message, content)];
		});
	preparation.messagesToSummarize = apply(preparation.messagesToSummarize);
	preparation.turnPrefixMessages = apply(preparation.turnPrefixMessages);
	dropFiles(preparation, gone, keptFiles);
}

/** Finds the edited entry that a message stands for: the entry's own object, or a copy that answers to its key. */
function finder(view: DurableView, branch: Branch): (message: Message) => EntryId | undefined {
	const byObject = new Map<Message, EntryId>();
	const byKey = new Map<string, EntryId>();
	for (const id of [...view.hidden, ...view.replaced.keys()]) {
		const message = branch.entry(id)?.message;
		if (!message) continue;
		byObject.set(message, id);
		if (!branch.isAmbiguous(id)) byKey.set(keyOf(message), id);
	}
	return (message) => byObject.get(message) ?? byKey.get(keyOf(message));
}

function dropFiles(preparation: Preparation, gone: readonly Message[], keptFiles: ReadonlySet<string>): void {
	const { fileOps, messagesToSummarize, turnPrefixMessages } = preparation;
	const lists = { read: fileOps.read, write: fileOps.written, edit: fileOps.edited };
	const staying = [...messagesToSummarize, ...turnPrefixMessages].flatMap(touches);
	const stays = new Set(staying.map(({ tool, path }) => `${tool} ${path}`));
	for (const { tool, path } of gone.flatMap(touches))
		if (!keptFiles.has(path) && !stays.has(`${tool} ${path}`)) lists[tool].delete(path);
}

interface Touch {
	readonly tool: "read" | "write" | "edit";
	readonly path: string;
}

/** The files that a message's calls name, with Pi's own idea of what counts: `path` of read, write and edit. */
function touches(message: Message): readonly Touch[] {
	const nested: readonly NestedCall[] = message.role === "toolResult" ? (message.nestedCalls?.calls ?? []) : [];
	return [...toolCallsOf(message), ...nested].flatMap(({ name, arguments: args }) => {
		const path = (args as { readonly path?: unknown } | null | undefined)?.path;
		if (typeof path !== "string" || (name !== "read" && name !== "write" && name !== "edit")) return [];
		return [{ tool: name, path }];
	});
}
