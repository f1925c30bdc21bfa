import { defineConfig } from "vitest/config";

const file = (path: string) => new URL(path, import.meta.url).pathname;

export default defineConfig({
	resolve: {
		alias: {
			"@earendil-works/pi-coding-agent": file("./node_modules/pi-newest/dist/index.js"),
			"pi-mulligan/plugin": file("./src/plugin.ts"),
			"pi-mulligan/testing": file("./src/testing/index.ts"),
		},
	},
	test: {
		include: ["src/**/*.test.ts", "plugins/**/*.test.ts", "examples/**/*.test.ts", "test/**/*.test.ts"],
		testTimeout: 60_000,
		hookTimeout: 60_000,
		// Concurrent tests start programs, and there may be two cores.
		maxConcurrency: 2,
	},
});
