import { type AnyMessage, shape, textOf } from "./messages.ts";

/** What differs from run to run, or no provider is sent. */
const OWN_TO_ONE_RUN = new Set(["timestamp", "usage", "responseId", "durationMs", "details"]);

/** A message as text, without its time and its bill and with all marker ids alike: equal for two that say the same. */
export function essence(message: AnyMessage): string {
	const text = JSON.stringify(message, (key, value) => (OWN_TO_ONE_RUN.has(key) ? undefined : value));
	return text.replaceAll(/\b[0-9a-f]{8}\b/g, "marker");
}

/** The first place at which two conversations differ, as a line for each side; undefined where they don't. */
export function firstDifference(
	ours: readonly AnyMessage[],
	theirs: readonly AnyMessage[],
): { readonly index: number; readonly ours: string; readonly theirs: string } | undefined {
	for (let index = 0; index < Math.max(ours.length, theirs.length); index++) {
		const [a, b] = [ours[index], theirs[index]];
		if (a && b && essence(a) === essence(b)) continue;
		return { index, ours: lineOf(a), theirs: lineOf(b) };
	}
	return undefined;
}

function lineOf(message: AnyMessage | undefined): string {
	return message ? (shape([message], 200)[0] ?? "") : "nothing";
}

/** All that a conversation says, thinking and arguments included. */
export function allText(messages: readonly AnyMessage[]): string {
	return messages.map((message) => `${textOf(message)}\n${essence(message)}`).join("\n");
}
