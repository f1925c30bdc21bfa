import { definePlugin } from "pi-mulligan/plugin";

/** Says at the end of each request how full the window is, once it is half full. */
export default definePlugin({
	name: "gauge",
	setup({ hooks }) {
		hooks.onView.tap("gauge", (view) => {
			if (view.share !== undefined && view.share > 0.5)
				view.annotate(`The window is ${Math.round(view.share * 100)}% full.`);
		});
	},
});
