import { type AnyMessage, orphans } from "../messages.ts";

/** What providers refuse in the form of a request's messages, system messages left out. */
export function faultsOfForm(messages: readonly AnyMessage[]): readonly string[] {
	const sent = messages.filter(({ role }) => role !== "system");
	const { calls, results } = orphans(sent);
	const found = [
		...calls.map((id) => `the call ${id} has no result`),
		...results.map((id) => `the result ${id} has no call`),
	];
	const first = sent[0]?.role;
	if (first === "assistant" || first === "toolResult") found.push(`it begins with a message of role ${first}`);
	if (sent.at(-1)?.role === "assistant") found.push("it ends with a response");
	for (const [at, message] of sent.entries()) {
		if (message.role === "assistant" && sent[at + 1]?.role === "assistant")
			found.push(`messages ${at + 1} and ${at + 2} are both responses`);
		if (isEmpty(message)) found.push(`message ${at + 1}, of role ${message.role}, is empty`);
	}
	return found;
}

function isEmpty(message: AnyMessage): boolean {
	if (!("content" in message)) return false;
	const { content } = message;
	if (typeof content === "string") return content.trim() === "";
	return content.every((block) => block.type === "text" && "text" in block && block.text.trim() === "");
}
