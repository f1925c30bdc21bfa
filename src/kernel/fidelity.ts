import { type Block, blocksOf, type Content, type Message, toolCallsOf } from "./messages.ts";

/**
 * What is wrong with a message that a tap returned in the place of another; undefined if it may stand. Only content may
 * change; of a response neither thinking nor calls, which a provider checks against what it has signed and answered.
 */
export function complaintAboutChange(value: unknown, input: Message): string | undefined {
	const output = value as Partial<Message> | null | undefined;
	if (output === null || output === undefined)
		return `returned ${output}; return the message itself to leave it as it is`;
	if (output.role !== input.role)
		return `returned role ${String(output.role)} for ${input.role}; only content may change`;
	if (output === input) return undefined;
	const content = "content" in output ? output.content : undefined;
	if (typeof content !== "string" && !Array.isArray(content)) return `returned a ${input.role} message without content`;
	if (isEmpty(content) && "content" in input && !isEmpty(input.content))
		return `returned a ${input.role} message with empty content, which providers refuse; hide it in beforeFilter instead`;
	if (input.role !== "assistant") return undefined;
	if (signature(thinking(content)) !== signature(thinking(input.content)))
		return "returned a response with other thinking, which providers refuse; leave its thinking blocks as they are";
	if (ids({ ...input, content }) !== ids(input))
		return "returned a response with other tool calls, whose results would be orphaned; keep their ids, or hide the group in beforeFilter";
	return undefined;
}

/** Whether a content has nothing to send: no block, or only text that is blank. */
function isEmpty(content: Content): boolean {
	return blocksOf(content).every((block) => block.type === "text" && block.text.trim() === "");
}

function thinking(content: Content): readonly Block[] {
	return blocksOf(content).filter(({ type }) => type === "thinking");
}

function signature(blocks: readonly Block[]): string {
	return JSON.stringify(blocks);
}

function ids(message: Message): string {
	return toolCallsOf(message)
		.map(({ id }) => id)
		.join("\n");
}
