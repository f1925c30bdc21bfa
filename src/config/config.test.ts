import { expect, test } from "vitest";
import { defineConfig, definePlugin } from "../plugin.ts";

test("a config is what was given, and its types know every knob", () => {
	const mine = definePlugin({ name: "mine", setup() {} });
	const config = {
		plugins: ["...", "./a.ts", mine, ["shrink", { maxActive: 3 }]] as const,
		replace: { audit: mine },
		rewind: { maxDepth: 2 },
		mine: { loud: true },
	};
	expect(defineConfig(config)).toBe(config);
	// @ts-expect-error no number
	defineConfig({ rewind: { maxDepth: "two" } });
	// @ts-expect-error no such knob
	defineConfig({ rewind: { maxDept: 2 } });
	// @ts-expect-error no list
	defineConfig({ plugins: "shrink" });
	// @ts-expect-error no plugin
	defineConfig({ plugins: [3] });
	// @ts-expect-error no confidence
	defineConfig({ audit: { estimateConfidence: "none" } });
});
