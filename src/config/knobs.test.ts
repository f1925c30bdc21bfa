import Value from "typebox/value";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ConfigFolders, textsOf } from "../../test/support/config.ts";
import { DEFAULT_PLUGINS } from "../default-set.ts";
import { openSession, piVersions } from "../testing/index.ts";
import { KernelSections, TopKnobs } from "./schema.ts";

interface Schema {
	readonly type?: string;
	readonly default?: unknown;
	readonly enum?: readonly unknown[];
	readonly anyOf?: readonly Schema[];
	readonly items?: Schema;
	readonly properties?: Readonly<Record<string, Schema>>;
	readonly patternProperties?: Readonly<Record<string, Schema>>;
	readonly minimum?: number;
	readonly exclusiveMinimum?: number;
	readonly maximum?: number;
}

/** Every knob, by section and key; those beside the sections have none. */
const knobs: readonly (readonly [section: string | undefined, key: string, schema: Schema])[] = [
	...Object.entries(TopKnobs).map(([key, knob]) => [undefined, key, knob as Schema] as const),
	...[
		...DEFAULT_PLUGINS.map(({ name, options }) => [name, options] as const),
		...Object.entries(KernelSections),
	].flatMap(([name, schema]) =>
		Object.entries((schema as Schema | undefined)?.properties ?? {}).map(([key, knob]) => [name, key, knob] as const),
	),
];

/** One value of each kind, and those just outside of the bounds that the schema names. */
function candidates({ minimum, exclusiveMinimum, maximum }: Schema): readonly unknown[] {
	const kinds = [null, true, 0, -1, 1e9, 0.5, "", "text", "5", [], [3], ["x"], {}, { a: "x" }];
	const bounds = [minimum && minimum - 1, exclusiveMinimum, maximum && maximum + 0.001];
	return [...kinds, ...bounds.filter((bound) => bound !== undefined)];
}

/** A fraction counts as the integer below it; of a list and of a record the good part counts, so a part that is bad is wrong. */
function isWrong(schema: Schema, value: unknown): boolean {
	const floored = schema.type === "integer" && typeof value === "number" ? Math.floor(value) : value;
	return !Value.Check(schema as never, floored);
}

const wrongValues = knobs.flatMap(([section, key, schema]) =>
	candidates(schema)
		.filter((value) => isWrong(schema, value))
		.map((value) => [section === undefined ? key : `${section}.${key}`, value, { section, key, schema }] as const),
);

/** What stays when a value is wrong: the default; of a list the part that is good, which is nothing here. */
function remainder({ default: standard, type }: Schema, value: unknown): unknown {
	return type === "array" && Array.isArray(value) ? [] : standard;
}

const block = (section: string | undefined, key: string, value: unknown) =>
	section === undefined ? { [key]: value } : { [section]: { [key]: value } };

describe("a wrong value is one warning, and the default stays", () => {
	let folders: ConfigFolders;
	beforeAll(() => {
		folders = new ConfigFolders();
	});
	afterAll(() => folders[Symbol.dispose]());

	test("of every knob there are several", () => {
		expect(knobs).toHaveLength(25);
		for (const [section, key] of knobs)
			expect(wrongValues.filter(([, , knob]) => knob.section === section && knob.key === key).length).toBeGreaterThan(
				5,
			);
	});

	test.each(wrongValues)("%s: %j", async (name, value, { section, key, schema }) => {
		const file = folders.write(".pi/settings.json", { mulligan: block(section, key, value) });
		const config = await folders.load();
		const settings = config.settings as unknown as Record<string, Record<string, unknown>>;
		expect(section === undefined ? settings[key] : settings[section]?.[key]).toEqual(remainder(schema, value));
		expect(config.warnings).toHaveLength(1);
		expect(config.warnings[0]).toMatchObject({ file, line: 1 });
		expect(textsOf(config)[0]).toMatch(
			new RegExp(`^${name.replaceAll(".", "\\.")}\\b.* in ${file}:1:\\d+ is .*; expected `),
		);
		expect(config.plugins).toHaveLength(DEFAULT_PLUGINS.length);
	});
});

describe.each(piVersions().filter(({ name }) => ["oldest", "newest"].includes(name)))("with Pi $version", (pi) => {
	test("a session goes on with every knob wrong, one warning each", async () => {
		const sections = Object.groupBy(
			knobs.filter(([section]) => section !== undefined),
			([section]) => section ?? "",
		);
		const wrongOf = (schema: Schema) => candidates(schema).find((value) => isWrong(schema, value));
		const mulligan = Object.fromEntries(
			Object.entries(sections).map(([section, of = []]) => [
				section,
				Object.fromEntries(of.map(([, key, schema]) => [key, wrongOf(schema)])),
			]),
		);
		const tops = knobs.filter(([section]) => section === undefined).map(([, key, schema]) => [key, wrongOf(schema)]);
		await using session = await openSession({
			pi,
			settings: { mulligan: { ...mulligan, ...Object.fromEntries(tops) } },
		});
		session.script("done");
		await session.prompt("go");
		expect(session.requests).toHaveLength(1);
		expect(session.ui.notifications).toHaveLength(25);
		expect(session.errors).toEqual([]);
	});
});
