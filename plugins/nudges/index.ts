import { definePlugin } from "../../src/plugin.ts";
import { remindOfBloat } from "./bloat.ts";
import { watchHighWater } from "./high-water.ts";
import { NudgesOptions } from "./options.ts";
import { METRIC, watchDrift } from "./watch.ts";

/** Three short lines that make the agent aware of its context, at no request of their own. */
export const nudges = definePlugin({
	name: "nudges",
	options: NudgesOptions,
	records: [METRIC],
	setup(api) {
		// Drift first: it measures results before the reminder makes them longer.
		if (api.options.perTurnDrift) watchDrift(api);
		if (api.options.bloatReminder) remindOfBloat(api);
		watchHighWater(api);
	},
});
