import { readFileSync } from "node:fs";
import type { TSchema } from "typebox";
import Value from "typebox/value";
import { describe, expect, test } from "vitest";
import { configSchema, SCHEMA_URL, schemaFile } from "../scripts/docs/schema.ts";
import { DEFAULT_PLUGINS } from "../src/default-set.ts";
import { MULLIGAN_VERSION } from "../src/version.ts";
import { ConfigFolders } from "./support/config.ts";

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), "utf8");
const accepts = (config: unknown) => Value.Check(configSchema() as TSchema, config);

test("the published schema is what the code says (npm run docs writes it)", () => {
	expect(read("schema/config.json")).toBe(schemaFile());
});

test("the version that passports are checked against is the package's", () => {
	expect(MULLIGAN_VERSION).toBe(JSON.parse(read("package.json")).version);
});

test("every knob of the schema has title, description and default", () => {
	const { properties } = configSchema() as { properties: Record<string, { properties?: Record<string, object> }> };
	const knobs = Object.values(properties).flatMap((section) => Object.values(section.properties ?? {}));
	expect(knobs).toHaveLength(23);
	for (const knob of [...knobs, properties.enabled, properties.plugins, properties.replace])
		expect(Object.keys(knob ?? {})).toEqual(expect.arrayContaining(["title", "description", "default"]));
});

describe("the schema", () => {
	test.each<[object]>([
		[{}],
		[{ $schema: SCHEMA_URL, enabled: false }],
		[{ plugins: ["...", "./mine.ts", ["shrink", { maxActive: 3 }], ["audit"]], replace: { shrink: ["./x.ts", {}] } }],
		[{ rewind: { maxDepth: 2 }, nudges: { bloatThresholdBytesByTool: { grep: 1 } }, log: { file: null } }],
		[{ "my-nudge": { loud: true } }],
	])("accepts %j, and so does the loader, without a warning", async (config) => {
		expect(accepts(config)).toBe(true);
		using folders = new ConfigFolders();
		folders.write("mine.ts", "export default { name: 'mine', setup() {} };");
		folders.write("x.ts", "export default { name: 'x', setup() {} };");
		folders.write("mulligan.config.json", config);
		const { warnings } = await folders.load();
		expect(warnings.filter(({ text }) => !text.includes("is listed twice"))).toEqual([]);
	});

	test.each<[object]>([
		[{ enabled: "no" }],
		[{ plugins: "shrink" }],
		[{ plugins: [3] }],
		[{ plugins: [["shrink", {}, 3]] }],
		[{ replace: { shrink: 3 } }],
		[{ rewind: { maxDepth: 0 } }],
		[{ audit: { estimateConfidence: "none" } }],
		[{ log: 3 }],
	])("refuses %j, and the loader warns of it", async (config) => {
		expect(accepts(config)).toBe(false);
		using folders = new ConfigFolders();
		folders.write("mulligan.config.json", config);
		expect((await folders.load()).warnings).toHaveLength(1);
	});

	test("has the defaults of the loader", async () => {
		using folders = new ConfigFolders();
		const { settings } = await folders.load();
		const { properties } = configSchema() as {
			properties: Record<string, { properties?: Record<string, { default: unknown }> }>;
		};
		for (const { name } of DEFAULT_PLUGINS)
			expect(settings[name]).toEqual(
				Object.fromEntries(
					Object.entries(properties[name]?.properties ?? {}).map(([key, knob]) => [key, knob.default]),
				),
			);
	});
});
