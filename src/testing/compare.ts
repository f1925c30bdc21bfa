import { type AnyMessage, shape, textOf } from "./messages.ts";

/** What differs from run to run and says nothing of the conversation. */
const OWN_TO_ONE_RUN = new Set(["timestamp", "usage", "responseId", "durationMs"]);

/** A message as text, without its time and its bill: equal for two that say the same. */
export function essence(message: AnyMessage): string {
	return JSON.stringify(message, (key, value) => (OWN_TO_ONE_RUN.has(key) ? undefined : value));
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
