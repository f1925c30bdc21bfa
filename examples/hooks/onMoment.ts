import { definePlugin } from "pi-mulligan/plugin";

/** Holds a batch back until it sheds at least 10,000 tokens, unless the prompt cache breaks anyway. */
export default definePlugin({
	name: "thrifty",
	setup({ hooks }) {
		hooks.onMoment.tap("thrifty", ({ volumeTokens, free }) => (!free && volumeTokens < 10_000 ? false : undefined));
	},
});
