import type { TObject } from "typebox";
import type { Plugin } from "../kernel/plugin.ts";
import { KernelSections, type Settings, TopKnobs } from "./schema.ts";

/** As far as its default goes. */
export interface Knob {
	readonly default?: unknown;
	/** Of a group of knobs. */
	readonly properties?: Readonly<Record<string, unknown>>;
}

/** The defaults of a section, as its schema names them; nobody else holds them. */
export function defaultsOf(schema: TObject): Record<string, unknown> {
	return Object.fromEntries(
		Object.entries(schema.properties).map(([key, knob]) => [key, defaultOf(knob as Knob)] as const),
	);
}

/** What counts where no source speaks. */
export function defaultSettings(plugins: readonly Plugin[]): Settings {
	const sections = [
		...Object.entries(KernelSections),
		...plugins.map(({ name, options }) => [name, options as TObject | undefined] as const),
	];
	const defaults = sections.map(([name, schema]) => [name, schema ? defaultsOf(schema) : {}] as const);
	const tops = Object.entries(TopKnobs).map(([name, knob]) => [name, defaultOf(knob as Knob)] as const);
	return Object.fromEntries([...tops, ...defaults]) as unknown as Settings;
}

/** The default of a knob, or of each in a group of them. */
export function defaultOf(knob: Knob): unknown {
	if (knob.default === undefined && knob.properties) return defaultsOf(knob as unknown as TObject);
	return structuredClone(knob.default);
}
