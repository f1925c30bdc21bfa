import type { TObject } from "typebox";
import { messageOfError } from "../../kernel/isolate.ts";
import type { Plugin } from "../../kernel/plugin.ts";
import { MULLIGAN_VERSION } from "../../version.ts";
import { checkSection } from "../check.ts";
import { defaultsOf } from "../defaults.ts";
import { isRecord, placeless } from "../read/block.ts";
import { RESERVED } from "../schema.ts";

/** A plugin as the config may use it, or why it may not. */
export type Parsed = { readonly plugin: Plugin } | { readonly problem: string };

const NAME = /^(?:@[a-z0-9][\w.-]*\/)?[a-z0-9][\w.-]*$/i;

/** What a file exports or a config holds as a plugin: its facts checked, its set-up bound to it. Throws where a getter does. */
export function parsePlugin(given: unknown): Parsed {
	const candidate = candidateIn(given);
	if (!candidate) return { problem: "it holds no plugin: an object with a name and a setup function" };
	const wrong = FACTS.find(({ field, is }) => !is(candidate[field]));
	if (wrong) return { problem: `its "${wrong.field}" is not ${wrong.expected}` };
	const plugin = candidate as unknown as Plugin;
	const facts = FACTS.flatMap(({ field }) => (candidate[field] === undefined ? [] : [[field, candidate[field]]]));
	return { plugin: { ...(Object.fromEntries(facts) as unknown as Plugin), setup: (api) => plugin.setup(api) } };
}

/** What is wrong with the range of versions that a plugin works with; undefined: ours is among them. */
export async function passportProblem({ mulligan }: Plugin): Promise<string | undefined> {
	if (mulligan === undefined) return undefined;
	const { satisfies, validRange } = await import("semver");
	if (validRange(mulligan) === null) return `its "mulligan" is ${JSON.stringify(mulligan)}, no range of versions`;
	if (satisfies(MULLIGAN_VERSION, mulligan, { includePrerelease: true })) return undefined;
	return `it is for mulligan ${mulligan}, and this is ${MULLIGAN_VERSION}`;
}

/** What is wrong with the schema of a plugin's options; undefined: values can be checked against it. */
export function schemaProblem({ options }: Plugin): string | undefined {
	if (!options) return undefined;
	try {
		const defaults = defaultsOf(options as TObject);
		checkSection(options as TObject, defaults, { key: "", file: "", ...placeless(defaults), path: [] });
		return undefined;
	} catch (error) {
		return `nothing can be checked against its "options": ${messageOfError(error)}`;
	}
}

/** The object itself, or the only plugin among what a module exports. */
function candidateIn(given: unknown): Record<string, unknown> | undefined {
	if (!isRecord(given)) return undefined;
	if ("setup" in given || "name" in given) return given;
	const exported = Object.values(given).filter((value) => isRecord(value) && "setup" in value);
	return exported.length === 1 ? (exported[0] as Record<string, unknown>) : undefined;
}

interface Fact {
	readonly field: keyof Plugin;
	readonly expected: string;
	is(value: unknown): boolean;
}

const isText = (value: unknown) => typeof value === "string";
const optional = (is: (value: unknown) => boolean) => (value: unknown) => value === undefined || is(value);
const texts = optional((value) => Array.isArray(value) && value.every(isText));

const FACTS: readonly Fact[] = [
	{
		field: "name",
		expected: "a name of letters, digits, dots, dashes and underscores that the config does not use itself",
		is: (value) => typeof value === "string" && NAME.test(value) && !RESERVED.includes(value),
	},
	{ field: "setup", expected: "a function", is: (value) => typeof value === "function" },
	{ field: "mulligan", expected: 'a range of versions such as "^2"', is: optional(isText) },
	{ field: "dependencies", expected: "a list of names", is: texts },
	{ field: "records", expected: "a list of record types", is: texts },
	{
		field: "options",
		expected: "the schema of an object",
		is: optional((value) => isRecord(value) && isRecord(value.properties)),
	},
	{
		field: "tools",
		expected: "a list of tools with name, label, description and parameters",
		is: optional((value) => Array.isArray(value) && value.every(isTool)),
	},
	{
		field: "commands",
		expected: "an object of names and descriptions",
		is: optional((value) => isRecord(value) && Object.values(value).every(isText)),
	},
];

function isTool(value: unknown): boolean {
	return isRecord(value) && [value.name, value.label, value.description].every(isText) && isRecord(value.parameters);
}
