import { definePlugin } from "pi-mulligan/plugin";

/** Tells the human, once the agent has settled, how large the view has become. */
export default definePlugin({
	name: "settled",
	setup({ hooks, session, notify }) {
		hooks.onSettled.tap("settled", () => notify(`Settled at ~${session.viewTokens} tokens.`));
	},
});
