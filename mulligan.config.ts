import { defineConfig } from "pi-mulligan/plugin";

/** For work on this repository with an agent: the suite and the lockfile are what fills a context here. */
export default defineConfig({
	nudges: {
		bloatThresholdBytesByTool: { bash: 8192 },
	},
});
