import { definePlugin } from "pi-mulligan/plugin";

/** Records after each turn how large the view is. Records are not sent to the model. */
export default definePlugin({
	name: "growth",
	records: ["growth:turn"],
	setup({ hooks, journal, session }) {
		hooks.onTurnEnd.tap("growth", ({ turnIndex }) => {
			journal.append("growth:turn", { turnIndex, viewTokens: session.viewTokens });
		});
	},
});
