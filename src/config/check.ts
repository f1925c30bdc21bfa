import type { TObject, TSchema } from "typebox";
import Value from "typebox/value";
import { Enabled, type Sections } from "./schema.ts";

/** A value from a config that was not taken: one warning for the human. */
export interface Warning {
	readonly key: string;
	readonly text: string;
}

interface Checked {
	/** Only what was given and is valid. */
	readonly values: Readonly<Record<string, unknown>>;
	readonly warnings: readonly Warning[];
}

/** Check one source's block: valid knobs are kept, each other one is a warning and falls back to what stood before. */
export function checkBlock(block: unknown, sections: Sections, file: string): Checked {
	if (!isObject(block))
		return { values: {}, warnings: [wrong({ key: "mulligan", given: block, file, allowed: "an object" })] };
	const values: Record<string, unknown> = {};
	const warnings: Warning[] = [];
	if ("enabled" in block) {
		const knob = checkKnob(Enabled, block.enabled, { key: "enabled", file });
		if (knob.isTaken) values.enabled = knob.value;
		warnings.push(...knob.warnings);
	}
	for (const [name, schema] of Object.entries(sections)) {
		if (!(name in block)) continue;
		const section = checkSection(schema, block[name], { name, file });
		values[name] = section.values;
		warnings.push(...section.warnings);
	}
	return { values, warnings };
}

/** The defaults of a section, as its schema names them. */
export function defaultsOf(schema: TObject): Record<string, unknown> {
	return Object.fromEntries(
		Object.entries(schema.properties).map(([key, knob]) => [
			key,
			structuredClone((knob as { default?: unknown }).default),
		]),
	);
}

function checkSection(schema: TObject, given: unknown, { name, file }: { name: string; file: string }): Checked {
	if (!isObject(given)) return { values: {}, warnings: [wrong({ key: name, given, file, allowed: "an object" })] };
	const values: Record<string, unknown> = {};
	const warnings: Warning[] = [];
	for (const [key, knobSchema] of Object.entries(schema.properties)) {
		if (given[key] === undefined) continue;
		const knob = checkKnob(knobSchema, given[key], { key: `${name}.${key}`, file });
		if (knob.isTaken) values[key] = knob.value;
		warnings.push(...knob.warnings);
	}
	return { values, warnings };
}

function checkKnob(
	schema: TSchema,
	given: unknown,
	{ key, file }: { readonly key: string; readonly file: string },
): { readonly isTaken: boolean; readonly value?: unknown; readonly warnings: readonly Warning[] } {
	const facts = schema as SchemaFacts;
	if (facts.type === "array" && Array.isArray(given)) return checkList(facts, given, { key, file });
	const perEntry = Object.values(facts.patternProperties ?? {})[0];
	if (perEntry && isObject(given)) return checkRecord(perEntry, given, { key, file });
	const value = facts.type === "integer" && typeof given === "number" ? Math.floor(given) : given;
	if (Value.Check(schema, value)) return { isTaken: true, value, warnings: [] };
	return { isTaken: false, warnings: [wrong({ key, given, file, allowed: allowed(facts) })] };
}

/** A list keeps its valid items; the others are one warning. */
function checkList(facts: SchemaFacts, given: readonly unknown[], { key, file }: { key: string; file: string }) {
	const items = facts.items;
	const isValid = (item: unknown) => items === undefined || Value.Check(items, item);
	const value = given.filter(isValid);
	const dropped = given.filter((item) => !isValid(item));
	const warnings = dropped.length === 0 ? [] : [wrong({ key, given: dropped, file, allowed: allowed(facts) })];
	return { isTaken: true, value, warnings };
}

/** A record keeps its valid entries; each other one is a warning of its own. */
function checkRecord(perEntry: TSchema, given: Record<string, unknown>, { key, file }: { key: string; file: string }) {
	const knobs = Object.entries(given).map(
		([name, entry]) => [name, checkKnob(perEntry, entry, { key: `${key}.${name}`, file })] as const,
	);
	const taken = knobs.flatMap(([name, { isTaken, value }]) => (isTaken ? [[name, value] as const] : []));
	return { isTaken: true, value: Object.fromEntries(taken), warnings: knobs.flatMap(([, { warnings }]) => warnings) };
}

interface SchemaFacts {
	readonly type?: string;
	/** Of a record: the schema of its entries. */
	readonly patternProperties?: Readonly<Record<string, TSchema>>;
	readonly items?: TSchema;
	readonly enum?: readonly unknown[];
	readonly anyOf?: readonly SchemaFacts[];
	readonly const?: unknown;
	readonly minimum?: number;
	readonly exclusiveMinimum?: number;
	readonly maximum?: number;
}

/** What a knob takes, in words. */
export function allowedBy(schema: TSchema): string {
	return allowed(schema as SchemaFacts);
}

function allowed(facts: SchemaFacts): string {
	if (facts.anyOf) return facts.anyOf.map(allowed).join(" or ");
	if (facts.enum) return facts.enum.map((value) => JSON.stringify(value)).join(" or ");
	if (facts.type === "array") return `a list of ${allowed((facts.items ?? {}) as SchemaFacts)}`;
	if (facts.type === "null") return "null";
	if (facts.type === "object") return "an object";
	const bounds = [
		facts.minimum === undefined ? "" : ` of at least ${facts.minimum}`,
		facts.exclusiveMinimum === undefined ? "" : ` above ${facts.exclusiveMinimum}`,
		facts.maximum === undefined ? "" : ` up to ${facts.maximum}`,
	].join("");
	return `${facts.type === "integer" ? "an integer" : `a ${facts.type ?? "value"}`}${bounds}`;
}

function wrong(about: {
	readonly key: string;
	readonly given: unknown;
	readonly file: string;
	readonly allowed: string;
}): Warning {
	const given = JSON.stringify(about.given) ?? String(about.given);
	const shown = given.length > 80 ? `${given.slice(0, 79)}…` : given;
	return {
		key: about.key,
		text: `${about.key} in ${about.file} is ${shown}; expected ${about.allowed}. The value is ignored.`,
	};
}

function isObject(value: unknown): value is Record<string, unknown> {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}
