import { type AnyMessage, orphans } from "../../src/testing/index.ts";

/** What providers refuse in the form of a request. */
export function faults(messages: readonly AnyMessage[]): readonly string[] {
	const sent = messages.filter(({ role }) => role !== "system");
	const found: string[] = [];
	const { calls, results } = orphans(sent);
	if (calls.length + results.length > 0) found.push(`orphans: ${[...calls, ...results].join(", ")}`);
	if (sent[0]?.role === "assistant" || sent[0]?.role === "toolResult") found.push(`the first is ${sent[0].role}`);
	if (sent.at(-1)?.role === "assistant") found.push("the last is a response");
	for (const [at, { role }] of sent.entries())
		if (role === "assistant" && sent[at + 1]?.role === "assistant") found.push(`two responses in a row at ${at}`);
	for (const [at, message] of sent.entries()) {
		const content = "content" in message ? message.content : "x";
		const blocks = typeof content === "string" ? [{ type: "text", text: content }] : content;
		if (blocks.every((block) => block.type === "text" && "text" in block && block.text.trim() === ""))
			found.push(`nothing in the ${message.role} at ${at}`);
	}
	return found;
}
