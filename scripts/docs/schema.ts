import { KernelSections, TopKnobs } from "../../src/config/schema.ts";
import { DEFAULT_PLUGINS } from "../../src/default-set.ts";
import { SCHEMA_URL } from "../../src/version.ts";

const names = DEFAULT_PLUGINS.map(({ name }) => name);

const entry = {
	title: "Plugin",
	anyOf: [
		{
			anyOf: [{ enum: names }, { type: "string", minLength: 1 }],
			description: "The name of a built-in plugin, a path from this file, or a package.",
		},
		{
			type: "array",
			items: [{ type: "string", minLength: 1 }, { type: "object" }],
			minItems: 1,
			maxItems: 2,
			description: "A plugin and its options, which win over the section of its name.",
		},
	],
};

/** The JSON schema of a config, for editors: draft 7, every knob optional, sections of further plugins allowed. */
export function configSchema(): object {
	const sections = [
		...DEFAULT_PLUGINS.flatMap(({ name, options }) => (options ? [[name, options] as const] : [])),
		...Object.entries(KernelSections),
	];
	return {
		$schema: "http://json-schema.org/draft-07/schema#",
		$id: SCHEMA_URL,
		title: "Config of pi-mulligan",
		description:
			"A mulligan.config.*, a .mulliganrc, or the mulligan block of a package.json or of Pi's settings.json.",
		type: "object",
		properties: {
			$schema: { type: "string", description: "The schema of this file, for editors." },
			...Object.fromEntries(Object.entries(TopKnobs).map(([name, knob]) => [name, plain(knob)])),
			plugins: {
				title: "Plugins",
				type: "array",
				default: ["..."],
				items: { anyOf: [{ const: "...", description: `The default set: ${names.join(", ")}.` }, ...entry.anyOf] },
				description: 'The plugins, in the order that they have in every hook. "..." stands for the default set.',
			},
			replace: {
				title: "Replacements",
				type: "object",
				default: {},
				additionalProperties: entry,
				description: "Other plugins in the place and under the name of some.",
			},
			...Object.fromEntries(sections.map(([name, schema]) => [name, optional(plain(schema))])),
		},
	};
}

/** The schema as a file holds it. */
export function schemaFile(): string {
	return `${JSON.stringify(configSchema(), null, "\t")}\n`;
}

/** Without what TypeBox keeps for itself. */
function plain(schema: object): Record<string, unknown> {
	return JSON.parse(JSON.stringify(schema));
}

function optional({ required: _required, ...schema }: Record<string, unknown>): object {
	return schema;
}
