import type { Message, ShrinkBody } from "../../src/plugin.ts";

/** A replacement as the model sees it. */
export function stamped(replacement: string): string {
	return `<context-shrunk>\n${replacement}\n</context-shrunk>`;
}

/** The message with a replacement for its content; everything else is kept. */
export function shrunk<M extends Message>(message: M, replacement: string): M {
	return { ...message, content: [{ type: "text", text: stamped(replacement) }] };
}

/** The replacement of each shrunk entry: of two shrinks of one result the later wins. */
export function replacementByEntry(
	shrinks: readonly Pick<ShrinkBody, "pinnedEntryId" | "replacement">[],
): ReadonlyMap<string, string> {
	return new Map(shrinks.map(({ pinnedEntryId, replacement }) => [pinnedEntryId, replacement]));
}
