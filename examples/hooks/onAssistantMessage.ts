import { blocksOf, definePlugin } from "pi-mulligan/plugin";

/** Corrects the case of a tool's name before the call runs: `Bash` is `bash`. */
export default definePlugin({
	name: "tool-case",
	setup({ hooks, session }) {
		hooks.onAssistantMessage.tap("tool-case", (message) => {
			const known = new Map(session.activeTools().map((name) => [name.toLowerCase(), name]));
			const content = blocksOf(message.content).map((block) => {
				if (block.type !== "toolCall") return block;
				const name = known.get(block.name.toLowerCase()) ?? block.name;
				return name === block.name ? block : { ...block, name };
			});
			return content.every((block, at) => block === blocksOf(message.content)[at]) ? message : { ...message, content };
		});
	},
});
