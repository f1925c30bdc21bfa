import { definePlugin } from "pi-mulligan/plugin";

/** Asks the model, in the first request after a compaction, to read its plan again. */
export default definePlugin({
	name: "after-compaction",
	setup({ hooks }) {
		let isDue = false;
		hooks.onCompact.tap("after-compaction", () => {
			isDue = true;
		});
		hooks.onView.tap("after-compaction", (view) => {
			if (isDue) view.annotate("The context was compacted: read PLAN.md again before you go on.");
			isDue = false;
		});
	},
});
