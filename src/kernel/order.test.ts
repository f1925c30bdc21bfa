import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ContextEntry } from "./branch.ts";
import type { Message } from "./messages.ts";
import { keptForOrder } from "./order.ts";

/** u a prompt, s a summary, c an extension's message, n a note of ours, ! a command that the model isn't told of, a a response, x one that broke off, r a result. */
const MESSAGES: Readonly<Record<string, Message>> = {
	u: { role: "user", content: "u", timestamp: 1 },
	s: { role: "compactionSummary", summary: "s", timestamp: 1 },
	c: { role: "custom", customType: "c", content: "c", display: true, timestamp: 1 },
	n: { role: "custom", customType: "mulligan:note", content: "n", display: true, timestamp: 1 },
	"!": { role: "bashExecution", command: "c", output: "o", excludeFromContext: true, timestamp: 1 },
	a: { role: "assistant", content: "a", stopReason: "stop", timestamp: 1 },
	x: { role: "assistant", content: "x", stopReason: "aborted", timestamp: 1 },
	r: { role: "toolResult", toolCallId: "t", toolName: "t", content: "r", timestamp: 1 },
};

/** Messages by their letters; what is hidden is in capitals. */
function contextOf(letters: string): { context: readonly ContextEntry[]; hidden: ReadonlySet<string> } {
	const context = [...letters].map((letter, index) => {
		const message = MESSAGES[letter.toLowerCase()] as Message;
		return { id: String(index), message, tokens: 1 };
	});
	const isHidden = (letter: string) => letter !== letter.toLowerCase() || letter === "?";
	return {
		context,
		hidden: new Set([...letters].flatMap((letter, index) => (isHidden(letter) ? [String(index)] : []))),
	};
}

/** The letters that are left, with those that stay for the order's sake in brackets. */
function left(letters: string): string {
	const { context, hidden } = contextOf(letters);
	const kept = keptForOrder(context, (id) => hidden.has(id));
	return [...letters]
		.map((letter, index) => {
			if (kept.has(String(index))) return `[${letter.toLowerCase()}]`;
			return hidden.has(String(index)) ? "" : letter;
		})
		.join("");
}

describe("what stays for the order's sake", () => {
	test.each([
		["nothing is hidden", "uarau", "uarau"],
		["a group between two", "uARau", "uau"],
		["a turn, up to the next prompt", "uaUARau", "ua[u]au"],
		["prompts between two responses: the last of them", "uaUAUAa", "ua[u]a"],
		["a summary or an extension's message counts as well", "uaSCa", "ua[c]a"],
		["a note of a change that was taken back parts nothing", "uaNa", "uaa"],
		["a prompt before them", "uaUSCa", "ua[u]a"],
		["a session that begins with a response", "aRCa", "a[c]a"],
		["a session that begins with a hidden response", "ARCa", "a"],
		["before a prompt that is seen nothing needs to stay", "uaUAuaU", "uaua[u]"],
		["a command that the model isn't told of separates nothing", "ua!UAa", "ua![u]a"],
		["a response that broke off is not sent", "uaUxa", "ua[u]xa"],
		["two that met by themselves", "uaAa", "uaa"],
		["the first message", "CUara", "[u]ara"],
		["the last message", "uaU", "ua[u]"],
		["the last message behind a result", "uarU", "uar"],
		["all of them", "UARA", "[u]"],
	])("%s", (_what, letters, expected) => {
		expect(left(letters)).toBe(expected);
	});

	test("no order that providers refuse comes from hiding, whatever is hidden", () => {
		const letter = fc.constantFrom("u", "s", "c", "!", "a", "a", "x", "r", "U", "S", "C", "A", "A", "X", "R");
		fc.assert(
			fc.property(fc.array(letter, { maxLength: 14 }), (letters) => {
				const { context, hidden } = contextOf(letters.join(""));
				const kept = keptForOrder(context, (id) => hidden.has(id));
				for (const id of kept) expect(hidden.has(id)).toBe(true);
				expect(
					faults(context, (id) => !hidden.has(id) || kept.has(id)).filter(
						(fault) => !faults(context, () => true).includes(fault),
					),
				).toEqual([]);
			}),
			{ numRuns: 2000 },
		);
	});
});

/**
 * What a provider refuses in the order of the messages that are seen: a start or an end with a response, and two of them
 * in a row. A pair that met in the session itself, with nothing sent between them, is named by the first of its run.
 */
function faults(context: readonly ContextEntry[], isSeen: (id: string) => boolean): readonly string[] {
	const sent = context.filter(({ message }) => message !== MESSAGES.x && message !== MESSAGES["!"]);
	const runs = new Map<string, number>();
	let run = 0;
	for (const { id, message } of sent) {
		if (message.role !== "assistant" && message.role !== "toolResult") run++;
		runs.set(id, run);
	}
	const seen = sent.filter(({ id }) => isSeen(id));
	const isResponse = (entry: ContextEntry | undefined) => entry?.message.role === "assistant";
	const runOf = (entry: ContextEntry | undefined) => (entry ? runs.get(entry.id) : "none");
	const found: string[] = [];
	if (isResponse(seen[0]) && !isResponse(sent[0]) && runOf(seen[0]) !== 0) found.push("starts with a response");
	if (isResponse(seen.at(-1)) && runOf(seen.at(-1)) !== run) found.push("ends with a response");
	for (const [at, entry] of seen.entries()) {
		const next = seen[at + 1];
		if (isResponse(entry) && isResponse(next) && runOf(entry) !== runOf(next))
			found.push(`${entry.id} meets ${next?.id}`);
	}
	return found;
}
