import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import { MIRROR_RECORD } from "../kernel/branch.ts";
import type { Kernel } from "../kernel/kernel.ts";
import type { EntryId, Replacement } from "../kernel/messages.ts";

/** `auto`: what an op hides or replaces becomes Pi's own edits where Pi has them; `view`: it stays with the view. */
export type Persistence = "auto" | "view";

/** What a `turn_end` handler may have Pi append. */
type Draft =
	| { readonly type: "custom"; readonly customType: string; readonly data: unknown }
	| { readonly type: "context_edit"; readonly targetId: EntryId; readonly replacement: Replacement }
	| { readonly type: string };

/** The event of a turn's end, as Pi 0.87 and later give it. */
interface Boundary {
	readonly entries?: unknown;
}

/** Pi's session manager, as far as it edits: undocumented, and there on Pi 0.87 and later. */
interface Editor {
	appendContextEdit?(targetId: EntryId, replacement: Replacement): unknown;
}

/**
 * The proposals of a turn's end with the edits that are owed, after a record that tells that they are ours; undefined where
 * none is owed, or Pi has no edits. A target that another extension edits in the same proposals is left to it.
 */
export function withOwedEdits(
	kernel: Kernel,
	{ entries }: Boundary,
	persistence: Persistence,
): { entries: Draft[] } | undefined {
	if (!Array.isArray(entries)) return undefined;
	const proposed = entries as Draft[];
	const taken = new Set(proposed.flatMap((draft) => ("targetId" in draft ? [draft.targetId] : [])));
	const { changes, restores } = kernel.owedEdits();
	const edits = [...restores, ...(persistence === "auto" ? changes : [])].filter(
		({ targetId }) => !taken.has(targetId),
	);
	if (edits.length === 0) return undefined;
	const record = kernel.mirrorRecord(edits.map(({ targetId }) => targetId));
	return {
		entries: [
			...proposed,
			{ type: "custom", customType: MIRROR_RECORD, data: record },
			...edits.map((edit) => ({ type: "context_edit", ...edit })),
		],
	};
}

/**
 * Gives originals back at once that Pi leaves out although no marker holds them any more: between turns nothing else would,
 * and a view can't show what is not in the list. Where Pi can't be told so, the next turn's end does it.
 */
export function restoreNow(pi: ExtensionAPI, kernel: Kernel, context: ExtensionContext): void {
	const editor = context.sessionManager as unknown as Editor;
	if (typeof editor.appendContextEdit !== "function") return;
	const { restores } = kernel.owedEdits();
	if (restores.length === 0) return;
	pi.appendEntry(MIRROR_RECORD, kernel.mirrorRecord(restores.map(({ targetId }) => targetId)));
	for (const { targetId, replacement } of restores) editor.appendContextEdit(targetId, replacement);
	kernel.refresh();
}
