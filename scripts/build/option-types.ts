import { KernelSections, TopKnobs } from "../../src/config/schema.ts";
import { DEFAULT_PLUGINS } from "../../src/default-set.ts";

interface Schema {
	readonly description?: string;
	readonly type?: string;
	readonly enum?: readonly unknown[];
	readonly anyOf?: readonly Schema[];
	readonly items?: Schema;
	readonly properties?: Readonly<Record<string, Schema>>;
	readonly patternProperties?: Readonly<Record<string, Schema>>;
}

/**
 * The declarations of what a config may say, by their files below dist/types, written out from the schemas: so a config has
 * its types in an editor also where the library that the schemas are made with is not installed.
 */
export function optionTypes(): Readonly<Record<string, string>> {
	const plugins = DEFAULT_PLUGINS.flatMap(({ name, options }) => {
		if (!options) return [];
		const type = `${name.charAt(0).toUpperCase()}${name.slice(1)}Options`;
		const text = `export interface ${type} ${typeOf(options as Schema)}\nexport declare const ${type}: unknown;\n`;
		return [[`plugins/${name}/options.d.ts`, text] as const];
	});
	const settings = membersOf({ ...TopKnobs, ...KernelSections } as Record<string, Schema>);
	const text = `export interface Settings {\n${settings}\treadonly [plugin: string]: unknown;\n}\n`;
	return Object.fromEntries([...plugins, ["src/config/schema.d.ts", text]]);
}

function typeOf(schema: Schema): string {
	if (schema.anyOf) return schema.anyOf.map(typeOf).join(" | ");
	if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
	if (schema.properties) return `{\n${membersOf(schema.properties)}}`;
	const [entry] = Object.values(schema.patternProperties ?? {});
	if (entry) return `Record<string, ${typeOf(entry)}>`;
	if (schema.items) return `readonly (${typeOf(schema.items)})[]`;
	if (schema.type === "integer") return "number";
	if (schema.type === undefined) throw new Error(`No type is known for ${JSON.stringify(schema)}.`);
	return schema.type;
}

function membersOf(properties: Readonly<Record<string, Schema>>): string {
	return Object.entries(properties)
		.map(
			([key, schema]) =>
				`\t/** ${schema.description ?? key} */\n\treadonly ${JSON.stringify(key)}: ${typeOf(schema)};\n`,
		)
		.join("");
}
