import { existsSync, globSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import Type, { type TSchema } from "typebox";
import Value from "typebox/value";
import { describe, expect, test } from "vitest";
import { optionTable, withBlock } from "../scripts/docs/blocks.ts";
import { DEFAULT_PLUGINS } from "../src/default-set.ts";
import { CHARS_PER_TOKEN } from "../src/kernel/tokens.ts";
import type { Plugin } from "../src/plugin.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const plugins = readdirSync(join(root, "plugins")).sort();
const definitions = new Map(await Promise.all(plugins.map(async (name) => [name, await definitionOf(name)] as const)));

const HEADINGS = ["What it does", "Example", "Hooks", "Options", "Records", "When not to use it"];
/** What the declarations of the default set may cost in each request. */
const MAX_TOOL_TOKENS = 700;

describe.each(plugins)("plugins/%s", (name) => {
	const { options, tools = [], commands = {}, records = [] } = definitionOrThrow(name);
	const folder = join(root, "plugins", name);
	const has = (file: string) => existsSync(join(folder, file));
	const readme = has("README.md") ? readFileSync(join(folder, "README.md"), "utf8") : "";
	const section = (heading: string) => readme.split(/^## /m).find((part) => part.startsWith(`${heading}\n`)) ?? "";

	test("has its files: what it is, a README, a test; options.ts and prompt.ts where there are options or tools", () => {
		expect([has("index.ts"), has("README.md")]).toEqual([true, true]);
		expect(globSync("**/*.test.ts", { cwd: folder })).not.toEqual([]);
		expect(has("options.ts")).toBe(options !== undefined);
		if (tools.length > 0) expect(has("prompt.ts")).toBe(true);
	});

	test("has a README with the headings that all have, in their order, each with something under it", () => {
		const headings = [...readme.matchAll(/^## (.*)$/gm)].map(([, heading]) => heading);
		expect(headings).toEqual(HEADINGS);
		expect(HEADINGS.filter((heading) => section(heading).trim() === heading)).toEqual([]);
	});

	test("has a README that names the hooks it taps, and no other", () => {
		const tapped = sourcesOf(folder).flatMap((text) =>
			[...text.matchAll(/\bhooks\.(\w+)\.tap/g)].map(([, hook]) => hook),
		);
		const named = [...section("Hooks").matchAll(/`((?:on|before|transform)[A-Z]\w*)`/g)].map(([, hook]) => hook);
		expect(unique(named)).toEqual(unique(tapped));
	});

	test("has a README that names its tools, commands and records", () => {
		const has = (part: string) => (word: string) => section(part).includes(word);
		expect(tools.map((tool) => `\`${tool.name}\``).filter((word) => !has("What it does")(word))).toEqual([]);
		expect(Object.keys(commands).filter((command) => !has("What it does")(`/${command}`))).toEqual([]);
		expect(records.filter((record) => !has("Records")(`\`${record}\``))).toEqual([]);
	});

	if (!options) return;

	test("has title, description and a default of its own range on each knob, and takes nothing else", () => {
		const knobs = Object.entries(knobsOf(options));
		const isTold = (knob: TSchema) => ["title", "description", "default"].every((fact) => fact in knob);
		expect(knobs.filter(([, knob]) => !isTold(knob))).toEqual([]);
		expect(knobs.filter(([, knob]) => !Value.Check(knob, (knob as { default?: unknown }).default))).toEqual([]);
		expect(knobs.flatMap(([key, knob]) => looseIn(knob).map((why) => `${key}: ${why}`))).toEqual([]);
		expect(knobs).not.toEqual([]);
	});

	test("has a README whose table is what the schema says (npm run docs writes it)", () => {
		expect(withBlock(section("Options"), "options", optionTable(name))).toBe(section("Options"));
	});
});

test.each<[string, TSchema, readonly string[]]>([
	["any value", Type.Any(), ["takes any value"]],
	["a number without a lower bound", Type.Number({ maximum: 1 }), ["a number without a lower bound"]],
	["an integer from 1", Type.Integer({ minimum: 1 }), []],
	["any text", Type.String(), ["a text that may be anything"]],
	["a choice", Type.Unsafe({ type: "string", enum: ["a"] }), []],
	["a list of any text", Type.Array(Type.String()), ["a text that may be anything"]],
	["a list of nothing said", Type.Unsafe({ type: "array" }), ["takes any value"]],
	["a map to any number", Type.Record(Type.String(), Type.Number()), ["a number without a lower bound"]],
	["a map to nothing said", Type.Unsafe({ type: "object" }), ["takes any value"]],
	["a path or null", Type.Union([Type.String({ minLength: 1 }), Type.Null()]), []],
	["any text or null", Type.Union([Type.String(), Type.Null()]), ["a text that may be anything"]],
])("a knob that takes too much is found: %s", (_what, knob, loose) => {
	expect(looseIn(knob)).toEqual(loose);
});

test("the declarations of the default set stay small", () => {
	const tools = DEFAULT_PLUGINS.flatMap((plugin) => plugin.tools ?? []);
	const json = tools.map(({ name, description, parameters }) => JSON.stringify({ name, description, parameters }));
	expect(json).toHaveLength(4);
	expect(json.join("").length / CHARS_PER_TOKEN).toBeLessThan(MAX_TOOL_TOKENS);
});

interface Facts {
	readonly type?: string;
	readonly enum?: readonly unknown[];
	readonly items?: Facts;
	readonly patternProperties?: Readonly<Record<string, Facts>>;
	readonly anyOf?: readonly Facts[];
	readonly minimum?: number;
	readonly exclusiveMinimum?: number;
	readonly minLength?: number;
}

/** In what a knob takes more than it says. */
function looseIn(knob: TSchema): readonly string[] {
	return looseFacts(knob as Facts);
}

function looseFacts(facts: Facts | undefined): readonly string[] {
	switch (facts?.type) {
		case "boolean":
		case "null":
			return [];
		case "number":
		case "integer":
			return (facts.minimum ?? facts.exclusiveMinimum) === undefined ? ["a number without a lower bound"] : [];
		case "string":
			return facts.enum || facts.minLength ? [] : ["a text that may be anything"];
		case "array":
			return looseFacts(facts.items);
		case "object":
			return looseFacts(Object.values(facts.patternProperties ?? {})[0]);
		default:
			return facts?.anyOf ? facts.anyOf.flatMap(looseFacts) : ["takes any value"];
	}
}

function knobsOf(options: TSchema | undefined): Readonly<Record<string, TSchema>> {
	return (options as { readonly properties?: Readonly<Record<string, TSchema>> } | undefined)?.properties ?? {};
}

function sourcesOf(folder: string): readonly string[] {
	const files = globSync("**/*.ts", { cwd: folder }).filter((file) => !file.endsWith(".test.ts"));
	return files.map((file) => readFileSync(join(folder, file), "utf8"));
}

function unique(words: readonly (string | undefined)[]): readonly (string | undefined)[] {
	return [...new Set(words)].sort();
}

async function definitionOf(name: string): Promise<Plugin | undefined> {
	const module: Record<string, unknown> = await import(`../plugins/${name}/index.ts`);
	const exported = Object.values(module).find((value) => (value as Partial<Plugin> | null)?.name === name);
	return exported as Plugin | undefined;
}

function definitionOrThrow(name: string): Plugin {
	const definition = definitions.get(name);
	if (!definition) throw new Error(`plugins/${name}/index.ts exports no plugin of the name ${name}.`);
	return definition;
}
