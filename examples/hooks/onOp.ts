import { definePlugin } from "pi-mulligan/plugin";

/** Tells the human why an op was refused, held or dropped. */
export default definePlugin({
	name: "reasons",
	setup({ hooks, notify }) {
		hooks.onOp.tap("reasons", (event) => {
			if (event.status === "refused") notify(`${event.plugin} refused: ${event.reason}`);
			if (event.status === "held" || event.status === "dropped")
				notify(`${event.op.describe} was ${event.status}: ${event.reason}`);
		});
	},
});
