import { inspect } from "node:util";
import type { TObject, TSchema } from "typebox";
import Value from "typebox/value";
import { type Block, isRecord, type KeyPath } from "./read/block.ts";

/** What a config says that was not taken, or not understood: one line for the human. */
export interface Warning {
	readonly key: string;
	readonly text: string;
	readonly file?: string;
	/** From 1; absent where the format has no places. */
	readonly line?: number;
	readonly column?: number;
	/** The known key that was probably meant. */
	readonly didYouMean?: string;
}

/** Where a value stands: the knob's name for the human, and the way to it in its file. */
export interface Spot {
	readonly key: string;
	readonly file: string;
	readonly path: KeyPath;
	readonly placeOf: Block["placeOf"];
}

/** A key that no schema knows, and those that its object may have. */
export interface UnknownKey {
	readonly spot: Spot;
	readonly known: readonly string[];
}

/** What was given and is valid, what was not taken, and what nobody knows. */
export interface Checked {
	readonly values: Readonly<Record<string, unknown>>;
	readonly warnings: readonly Warning[];
	readonly unknown: readonly UnknownKey[];
}

/** The spot of a value within the one at another. */
export function spotIn(spot: Spot, step: string | number): Spot {
	const key = typeof step === "number" ? `${spot.key}[${step}]` : spot.key === "" ? step : `${spot.key}.${step}`;
	return { ...spot, key, path: [...spot.path, step] };
}

/** The spot as the human reads it: file, line and column. */
export function placeText({ file, path, placeOf }: Spot): string {
	const place = placeOf(path);
	return place ? `${file}:${place.line}:${place.column}` : file;
}

/** A warning about what stands at a spot. */
export function warningAt(spot: Spot, text: string, more: { readonly didYouMean?: string } = {}): Warning {
	return { key: spot.key, text, file: spot.file, ...spot.placeOf(spot.path), ...more };
}

/** A value that is not what its spot takes: names both. */
export function wrongAt(spot: Spot, given: unknown, allowed: string): Warning {
	return warningAt(
		spot,
		`${spot.key} in ${placeText(spot)} is ${shown(given)}; expected ${allowed}. The value is ignored.`,
	);
}

/** Check a section, or any object of knobs: valid ones are kept, each other one is a warning. */
export function checkSection(schema: TObject, given: unknown, spot: Spot): Checked {
	if (!isRecord(given)) return { values: {}, warnings: [wrongAt(spot, given, "an object")], unknown: [] };
	const knobs = Object.entries(schema.properties)
		.filter(([key]) => Object.hasOwn(given, key) && given[key] !== undefined)
		.map(([key, knob]) => [key, checkKnob(knob, given[key], spotIn(spot, key))] as const);
	return {
		values: Object.fromEntries(knobs.flatMap(([key, { isTaken, value }]) => (isTaken ? [[key, value]] : []))),
		warnings: knobs.flatMap(([, { warnings }]) => warnings),
		unknown: [
			...unknownKeys(given, Object.keys(schema.properties), spot),
			...knobs.flatMap(([, { unknown = [] }]) => unknown),
		],
	};
}

/** The keys of an object that are not among the known ones. */
export function unknownKeys(given: object, known: readonly string[], spot: Spot): readonly UnknownKey[] {
	return Object.keys(given)
		.filter((key) => !known.includes(key))
		.map((key) => ({ spot: spotIn(spot, key), known }));
}

interface CheckedKnob {
	readonly isTaken: boolean;
	readonly value?: unknown;
	readonly warnings: readonly Warning[];
	readonly unknown?: readonly UnknownKey[];
}

/** Check one value against its schema. Integers given as fractions are floored. */
export function checkKnob(schema: TSchema, given: unknown, spot: Spot): CheckedKnob {
	const facts = schema as SchemaFacts;
	if (facts.type === "array" && Array.isArray(given)) return checkList(facts, given, spot);
	const perEntry = Object.values(facts.patternProperties ?? {})[0];
	if (perEntry && isRecord(given)) return checkRecord(perEntry, given, spot);
	if (facts.properties && isRecord(given))
		return { isTaken: true, ...objectOf(checkSection(facts as TObject, given, spot)) };
	const value = facts.type === "integer" && typeof given === "number" ? Math.floor(given) : given;
	if (Value.Check(schema, value)) return { isTaken: true, value, warnings: [] };
	return { isTaken: false, warnings: [wrongAt(spot, given, allowed(facts))] };
}

/** A group of knobs within a section is checked as a section is. */
function objectOf({ values, warnings, unknown }: Checked): Omit<CheckedKnob, "isTaken"> {
	return { value: values, warnings, unknown };
}

/** A list keeps its valid items; the others are one warning. */
function checkList(facts: SchemaFacts, given: readonly unknown[], spot: Spot): CheckedKnob {
	const { items } = facts;
	const isValid = (item: unknown) => items === undefined || Value.Check(items, item);
	const dropped = given.filter((item) => !isValid(item));
	const warnings = dropped.length === 0 ? [] : [wrongAt(spot, dropped, allowed(facts))];
	return { isTaken: true, value: given.filter(isValid), warnings };
}

/** A record keeps its valid entries; each other one is a warning of its own. */
function checkRecord(perEntry: TSchema, given: Record<string, unknown>, spot: Spot): CheckedKnob {
	const knobs = Object.entries(given).map(
		([name, entry]) => [name, checkKnob(perEntry, entry, spotIn(spot, name))] as const,
	);
	const taken = knobs.flatMap(([name, { isTaken, value }]) => (isTaken ? [[name, value] as const] : []));
	return { isTaken: true, value: Object.fromEntries(taken), warnings: knobs.flatMap(([, { warnings }]) => warnings) };
}

interface SchemaFacts {
	readonly type?: string;
	/** Of an object: the schemas of its keys. */
	readonly properties?: Readonly<Record<string, TSchema>>;
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
function allowed(facts: SchemaFacts): string {
	if (facts.anyOf) return facts.anyOf.map(allowed).join(" or ");
	if (facts.enum) return facts.enum.map((value) => JSON.stringify(value)).join(" or ");
	if (facts.type === "array") return listOf(allowed((facts.items ?? {}) as SchemaFacts));
	if (facts.type === "null") return "null";
	if (facts.type === "object") return "an object";
	const bounds = [
		facts.minimum === undefined ? "" : ` of at least ${facts.minimum}`,
		facts.exclusiveMinimum === undefined ? "" : ` above ${facts.exclusiveMinimum}`,
		facts.maximum === undefined ? "" : ` up to ${facts.maximum}`,
	].join("");
	return `${facts.type === "integer" ? "an integer" : `a ${facts.type ?? "value"}`}${bounds}`;
}

function listOf(item: string): string {
	return /^an? /.test(item) ? `a list in which each is ${item}` : `a list of ${item}`;
}

/** A value as one short line, whatever it is. */
function shown(given: unknown): string {
	const text = textOf(given);
	return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}

function textOf(given: unknown): string {
	if (typeof given === "function" || typeof given === "bigint" || typeof given === "symbol")
		return inspect(given).replaceAll("\n", " ");
	try {
		return JSON.stringify(given) ?? String(given);
	} catch {
		return inspect(given, { breakLength: Number.POSITIVE_INFINITY });
	}
}
