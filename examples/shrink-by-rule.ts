import { blocksOf, definePlugin, Type, textOf } from "pi-mulligan/plugin";

/**
 * In the place of `shrink`: no tool for the model, but a rule. Of a long text result it sees the beginning and the end, from
 * the first request on, so that no prompt cache ever breaks over it. What the model shrank before keeps its summary.
 */
export default definePlugin({
	name: "shrink-by-rule",
	mulligan: "^2",
	options: Type.Object({
		maxChars: Type.Integer({ minimum: 100, default: 8000 }),
		/** Results of these tools stay whole: what is read is often edited next. */
		whole: Type.Array(Type.String({ minLength: 1 }), { default: ["read"] }),
	}),
	setup({ hooks, journal, options: { maxChars, whole } }) {
		const summaries = journal.memo(
			() =>
				new Map(
					journal.active("mulligan:shrink").map(({ pinnedEntryId, replacement }) => [pinnedEntryId, replacement]),
				),
		);
		hooks.transformMessage.tap("shrink-by-rule", (message, { id }) => {
			if (message.role !== "toolResult") return message;
			const summary = summaries().get(id);
			if (summary !== undefined)
				return { ...message, content: [{ type: "text", text: `<context-shrunk>\n${summary}\n</context-shrunk>` }] };
			const text = textOf(message.content);
			if (text.length <= maxChars || whole.includes(message.toolName)) return message;
			const others = blocksOf(message.content).filter(({ type }) => type !== "text");
			return { ...message, content: [{ type: "text", text: cut(text, maxChars) }, ...others] };
		});
	},
});

/** The first and the last lines of a text, and how much stood between them. */
function cut(text: string, maxChars: number): string {
	const head = text.slice(0, Math.floor(maxChars * 0.6)).replace(/[^\n]*$/, "");
	const tail = text.slice(text.length - Math.floor(maxChars * 0.4)).replace(/^[^\n]*\n/, "");
	const lines = text.slice(head.length, text.length - tail.length).split("\n").length - 1;
	return `${head}[${lines} lines left out; ask for a part of the output to see them]\n${tail}`;
}
