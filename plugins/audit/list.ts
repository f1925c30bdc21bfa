import type { PluginApi, ViewedEntry } from "../../src/plugin.ts";
import { kindOf, labelOf, largest } from "./contributors.ts";
import { marksOn } from "./thresholds.ts";
import { MOST } from "./top.ts";

const number = new Intl.NumberFormat("en-US");

/** The largest messages, a row for each: size, what it is, the call id that a shrink takes, and its mark. */
export function largestLines(
	{ session, settings }: Pick<PluginApi, "session" | "settings">,
	sent: readonly ViewedEntry[],
	{
		top,
		ids,
		figure,
	}: {
		readonly top: number;
		/** Call ids by entry id, of the results that a shrink would take. */
		readonly ids: ReadonlyMap<string, string>;
		readonly figure: (plainTokens: number) => string;
	},
): readonly string[] {
	if (sent.length === 0) return ["No message yet."];
	const marks = marksOn(sent, settings);
	const listed = largest(sent, top);
	const lines = listed.map((viewed) => {
		const { entry, tokens } = viewed;
		const what = [kindOf(entry.message), labelOf(entry, session)].filter(Boolean).join(" ");
		const callId = ids.get(entry.id);
		const mark = marks.get(viewed);
		const marked = mark && `⚠ ${number.format(mark.bytes)} bytes, threshold ${number.format(mark.threshold)}`;
		return [figure(tokens), [what, callId && `[${callId}]`, marked].filter(Boolean).join("  ")] as const;
	});
	const unlisted = marks.size - listed.filter((viewed) => marks.has(viewed)).length;
	return [
		headingOf({ isCut: top === MOST && sent.length > MOST, hasIds: listed.some(({ entry }) => ids.has(entry.id)) }),
		...rows(lines),
		...(unlisted > 0 ? [`⚠ ${number.format(unlisted)} more at or above their threshold`] : []),
	];
}

function headingOf({ isCut, hasIds }: { readonly isCut: boolean; readonly hasIds: boolean }): string {
	const ids = hasIds ? ", with the by_tool_call_id that mulligan_shrink takes in brackets" : "";
	return `Largest${isCut ? `, no more than ${MOST}` : ""}${ids}:`;
}

/** Sizes one below the other, with what they are the size of. */
export function rows(pairs: readonly (readonly [size: string, what: string])[]): readonly string[] {
	const width = Math.max(...pairs.map(([size]) => size.length));
	return pairs.map(([size, what]) => `  ${size.padStart(width)}  ${what}`);
}
