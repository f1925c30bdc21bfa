import { defineConfig } from "vitest/config";

export default defineConfig({
	resolve: {
		alias: {
			"@earendil-works/pi-coding-agent": new URL("./node_modules/pi-newest/dist/index.js", import.meta.url).pathname,
		},
	},
	test: {
		include: ["src/**/*.test.ts", "plugins/**/*.test.ts", "test/**/*.test.ts"],
		testTimeout: 60_000,
		hookTimeout: 60_000,
		// Concurrent tests start programs, and there may be two cores.
		maxConcurrency: 2,
	},
});
