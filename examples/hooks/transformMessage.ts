import { definePlugin } from "pi-mulligan/plugin";

// biome-ignore lint/suspicious/noControlCharactersInRegex: what it is looking for.
const COLOUR = /\x1b\[[\d;]*m/g;

/** Takes terminal colours out of what the model sees of a result; the session file and the human keep them. */
export default definePlugin({
	name: "no-colours",
	setup({ hooks }) {
		hooks.transformMessage.tap("no-colours", (message) => {
			if (message.role !== "toolResult" || typeof message.content === "string") return message;
			const content = message.content.map((block) =>
				block.type === "text" ? { ...block, text: block.text.replace(COLOUR, "") } : block,
			);
			const isPlain = content.every((block, at) => JSON.stringify(block) === JSON.stringify(message.content[at]));
			return isPlain ? message : { ...message, content };
		});
	},
});
