import type { TObject } from "typebox";
import { type Checked, checkSection, type Spot, type UnknownKey, type Warning, wrongAt } from "./check.ts";
import { defaultOf, defaultsOf, type Knob } from "./defaults.ts";
import { isPlainObject, isRecord } from "./read/block.ts";
import { TopKnobs } from "./schema.ts";

/** Sections by name; without a schema whatever is given is taken. */
export type SectionSchemas = ReadonlyMap<string, TObject | undefined>;

/** The config while it grows, from the defaults up: each value that is put goes on top of those before. */
export class Layers {
	readonly warnings: Warning[] = [];
	readonly unknown: UnknownKey[] = [];
	/** The file that a knob's value comes from; none: the default. */
	readonly origins = new Map<string, string>();
	readonly #values = new Map<string, unknown>();
	readonly #schemas: SectionSchemas;

	constructor(schemas: SectionSchemas) {
		this.#schemas = schemas;
		for (const [name, knob] of Object.entries(TopKnobs)) this.#values.set(name, defaultOf(knob as Knob));
		for (const [name, schema] of schemas) this.#values.set(name, schema ? defaultsOf(schema) : {});
	}

	/** Put what one file says of one section; what is not valid is a warning, and leaves what was there. */
	put(name: string, given: unknown, spot: Spot): void {
		const checked = checkedAs(this.#schemas.get(name), given, spot);
		this.warnings.push(...checked.warnings);
		this.unknown.push(...checked.unknown);
		this.set(name, checked.values, spot.file);
	}

	/** Put values that are known to be valid. */
	set(name: string, values: Readonly<Record<string, unknown>>, origin: string): void {
		this.#values.set(name, merged(this.#values.get(name), values));
		for (const key of Object.keys(values)) this.origins.set(`${name}.${key}`, origin);
	}

	/** Put the value of a knob beside the sections. */
	setTop(name: string, value: unknown, origin: string): void {
		this.#values.set(name, value);
		this.origins.set(name, origin);
	}

	/** Of the sections. */
	names(): readonly string[] {
		return [...this.#schemas.keys()];
	}

	values(): Readonly<Record<string, unknown>> {
		return Object.fromEntries(this.#values);
	}
}

function checkedAs(schema: TObject | undefined, given: unknown, spot: Spot): Checked {
	if (schema) return checkSection(schema, given, spot);
	if (isRecord(given)) return { values: given, warnings: [], unknown: [] };
	return { values: {}, warnings: [wrongAt(spot, given, "an object")], unknown: [] };
}

/** Two values, the second on top: objects key by key, at any depth; any other is replaced as a whole. */
function merged(base: unknown, over: unknown): unknown {
	if (!isPlainObject(base) || !isPlainObject(over)) return over;
	const onTop = (key: string) => {
		if (!Object.hasOwn(over, key)) return base[key];
		return Object.hasOwn(base, key) ? merged(base[key], over[key]) : over[key];
	};
	const keys = new Set([...Object.keys(base), ...Object.keys(over)]);
	return Object.fromEntries([...keys].map((key) => [key, onTop(key)]));
}
