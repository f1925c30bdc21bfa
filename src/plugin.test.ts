import RealType from "typebox";
import { expect, test } from "vitest";
import { shrink } from "../plugins/shrink/index.ts";
import * as door from "./plugin.ts";
import { defineConfig, defineNudge, definePlugin, type Plugin, Type } from "./plugin.ts";

test("the door opens to these and no others", () => {
	expect(Object.keys(door).sort()).toEqual([
		"IMAGE_TOKENS",
		"OWN_TOOL",
		"Target",
		"Type",
		"blocksOf",
		"contentChars",
		"contentTokens",
		"defineConfig",
		"defineNudge",
		"definePlugin",
		"isActivationOf",
		"isOpOf",
		"keptForOrder",
		"problemOf",
		"quoted",
		"reachesModel",
		"shownText",
		"textOf",
		"toolCallsOf",
	]);
});

test("Type is TypeBox", () => {
	expect(Type).toBe(RealType);
});

const greps = definePlugin({
	name: "greps",
	mulligan: "^2",
	dependencies: ["shrink"],
	options: Type.Object({ most: Type.Integer({ default: 5 }), tool: Type.Optional(Type.String()) }),
	setup({ options }) {
		const { most, tool }: { most: number; tool?: string } = options;
		return void [most, tool];
	},
});
const finds = defineNudge({
	name: "finds",
	options: Type.Object({ most: Type.Integer({ default: 5 }) }),
	when: ({ calls, options }) => calls("find").length > options.most,
	say: "Enough.",
});

test("definitions and configs are handed on as they are", () => {
	const config = defineConfig({
		enabled: true,
		plugins: ["...", "audit", "./mine.ts", ["some-package", { any: 1 }], greps, [greps, { most: 2 }], [finds, {}]],
		replace: { shrink, cancel: "./cancel.ts" },
		rewrites: { maxMoments: 2 },
		nudges: { highWaterFraction: 0.5, bloatThresholdBytesByTool: { bash: 1 } },
		greps: { most: 3 },
	});
	expect(config.plugins?.[4]).toBe(greps);
	expect([greps.mulligan, greps.dependencies]).toEqual(["^2", ["shrink"]]);
});

test("what the compiler refuses is no error here: a config is checked when it is loaded", () => {
	const refused = () => {
		const wrong: Plugin<{ most: string }> = definePlugin({
			name: "wrong",
			options: Type.Object({ most: Type.String() }),
			// @ts-expect-error: the schema has no such option
			setup: ({ options }) => void options.least,
		});
		// @ts-expect-error: an option of a plugin object has another type
		defineConfig({ plugins: [[greps, { most: "2" }], wrong] });
		// @ts-expect-error: a plugin object has no such option
		defineConfig({ plugins: [[finds, { mots: 2 }]] });
		// @ts-expect-error: no entry
		defineConfig({ plugins: [3] });
		// @ts-expect-error: no knob of this section
		defineConfig({ nudges: { highWater: 0.5 } });
		// @ts-expect-error: another type
		defineConfig({ shrink: { maxActive: "3" } });
		// @ts-expect-error: a count is no answer
		defineNudge({ name: "n", when: ({ calls }) => calls().length, say: "x" });
	};
	expect(refused).not.toThrow();
});
