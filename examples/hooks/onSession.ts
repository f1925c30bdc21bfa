import { definePlugin } from "pi-mulligan/plugin";

/** Tells the human at each start how many rewinds and shrinks are in force on this branch. */
export default definePlugin({
	name: "in-force",
	setup({ hooks, journal, notify }) {
		hooks.onSession.tap("in-force", ({ reason }) => {
			const count = journal.active("mulligan:rewind").length + journal.active("mulligan:shrink").length;
			if (count > 0) notify(`${count} change(s) of the context are in force (${reason}).`);
		});
	},
});
