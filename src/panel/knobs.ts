import type { TObject, TSchema } from "typebox";
import { allowedBy, checkKnob } from "../config/check.ts";
import { cut, plain } from "./layout.ts";
import type { ConfigState, Schemas } from "./state.ts";

/** One setting: its name, and the way to it in a config. */
export interface Knob {
	readonly key: string;
	readonly path: readonly string[];
	readonly schema: TSchema & KnobFacts;
}

interface KnobFacts {
	readonly type?: string;
	readonly default?: unknown;
	readonly description?: string;
	readonly enum?: readonly unknown[];
	readonly properties?: Readonly<Record<string, TSchema>>;
	readonly patternProperties?: Readonly<Record<string, TSchema>>;
}

/** Words that switch something, in any case. */
const SWITCH: Readonly<Record<string, boolean>> = {
	on: true,
	true: true,
	enable: true,
	off: false,
	false: false,
	disable: false,
};

/** Whether a word switches on or off; undefined for any other word. */
export function switchOf(word: string): boolean | undefined {
	const lower = word.toLowerCase();
	return Object.hasOwn(SWITCH, lower) ? SWITCH[lower] : undefined;
}

/** Every knob, by section in the order of the schemas. */
export function knobsOf({ top, sections }: Schemas): readonly Knob[] {
	const own = Object.entries(top).map(([key, schema]) => ({ key, path: [key], schema: schema as Knob["schema"] }));
	return [...own, ...Object.entries(sections).flatMap(([name, section]) => knobsIn(section, [name]))];
}

function knobsIn(section: TObject, path: readonly string[]): readonly Knob[] {
	return Object.entries(section.properties).flatMap(([name, schema]) => {
		const way = [...path, name];
		if ((schema as KnobFacts).properties) return knobsIn(schema as TObject, way);
		return [{ key: way.join("."), path: way, schema: schema as Knob["schema"] }];
	});
}

/** The knob of this name; in a knob that is a record, also one of its entries, by a name of the human's own. */
export function knobNamed(key: string, schemas: Schemas): Knob | undefined {
	const all = knobsOf(schemas);
	const known = all.find((knob) => knob.key === key);
	if (known) return known;
	const record = all.find((knob) => knob.schema.patternProperties && key.startsWith(`${knob.key}.`));
	const entry = key.slice((record?.key.length ?? 0) + 1);
	const schema = Object.values(record?.schema.patternProperties ?? {})[0];
	if (!record || !schema || entry === "") return undefined;
	return { key, path: [...record.path, entry], schema: schema as Knob["schema"] };
}

/** What a knob is now; undefined for an entry that its record does not have. */
export function currentValue({ path }: Knob, { settings }: Pick<ConfigState, "settings">): unknown {
	return path.reduce(partOf, settings as unknown);
}

/** Whether a knob is what it is without any config. */
export function isDefault(knob: Knob, config: Pick<ConfigState, "settings">): boolean {
	return JSON.stringify(currentValue(knob, config)) === JSON.stringify(knob.schema.default);
}

/** Where a knob's value comes from; undefined: the default. */
export function originOf({ path }: Knob, { origins }: Pick<ConfigState, "origins">): string | undefined {
	const keys = path.map((_, at) => path.slice(0, path.length - at).join("."));
	return keys.map((key) => origins.get(key)).find((origin) => origin !== undefined);
}

/** A value as the human reads and types it. */
export function shownValue(value: unknown): string {
	return cut(plain(JSON.stringify(value) ?? "nothing"), 80);
}

/** What was typed as the value of a knob, checked; or what the knob takes instead. */
export function typedValue(knob: Knob, typed: string): { readonly value: unknown } | { readonly wrong: string } {
	for (const candidate of candidates(knob, typed)) {
		const taken = checked(knob, candidate);
		if (taken !== undefined) return taken;
	}
	return { wrong: `${knob.key} takes ${takes(knob)}; got ${cut(plain(typed), 80)}.` };
}

/** What a knob takes, in words. */
export function takes({ schema }: Knob): string {
	return schema.type === "boolean" ? "on or off" : allowedBy(schema);
}

/** Values to offer for a knob. */
export function offered({ schema }: Knob): readonly string[] {
	if (schema.type === "boolean") return ["on", "off"];
	if (schema.enum) return schema.enum.map(String);
	return schema.default === undefined ? [] : [JSON.stringify(schema.default)];
}

/** All that a text may mean as a value, the likeliest first. */
function candidates({ schema }: Knob, typed: string): readonly unknown[] {
	const isSwitch = schema.type === "boolean" ? switchOf(typed) : undefined;
	if (isSwitch !== undefined) return [isSwitch];
	const items = schema.type === "array" ? [typed.split(/[\s,]+/).filter(Boolean)] : [];
	return [...jsonOf(typed), ...items, typed];
}

function jsonOf(typed: string): readonly unknown[] {
	try {
		return [JSON.parse(typed)];
	} catch {
		return [];
	}
}

function checked({ key, path, schema }: Knob, value: unknown): { readonly value: unknown } | undefined {
	const knob = checkKnob(schema, value, { key, file: "", path, placeOf: () => undefined });
	return knob.isTaken && knob.warnings.length === 0 ? { value: knob.value } : undefined;
}

function partOf(whole: unknown, key: string): unknown {
	return typeof whole === "object" && whole !== null && Object.hasOwn(whole, key)
		? (whole as Record<string, unknown>)[key]
		: undefined;
}
