import type { Plugin } from "../../kernel/plugin.ts";
import type { Spot } from "../check.ts";
import type { Entry } from "./entries.ts";

/** A plugin in its place in the list. */
export interface Placed {
	readonly plugin: Plugin;
	/** What it calls itself, where it stands in the place of another. */
	readonly ownName?: string;
	/** Where the list says it. */
	readonly spot: Spot;
	readonly options?: NonNullable<Entry["options"]>;
}

/** A plugin that is left out, and why. */
export interface LeftOut {
	readonly placed: Placed;
	readonly why: string;
}

/** The plugins that stay, in their order, and the others. */
export interface LineUp {
	readonly plugins: readonly Placed[];
	readonly out: readonly LeftOut[];
}

/**
 * Of several plugins of one name the last stays. One that lacks a plugin that it depends on is left out, and so is one
 * that claims a tool or a command of an earlier one.
 */
export function lineUp(placed: readonly Placed[]): LineUp {
	return [onlyLast, withDependencies, withOwnTools, withDependencies].reduce<LineUp>(
		({ plugins, out }, rule) => {
			const next = rule(plugins);
			return { plugins: next.plugins, out: [...out, ...next.out] };
		},
		{ plugins: placed, out: [] },
	);
}

function onlyLast(placed: readonly Placed[]): LineUp {
	const last = new Map(placed.map((one) => [one.plugin.name, one] as const));
	return split(placed, (one) =>
		last.get(one.plugin.name) === one ? undefined : `"${one.plugin.name}" is listed twice, and the later one counts`,
	);
}

/** Until nothing changes: who leaves may take others along. */
function withDependencies(placed: readonly Placed[]): LineUp {
	const names = new Set(placed.map(({ plugin }) => plugin.name));
	const { plugins, out } = split(placed, ({ plugin: { dependencies = [] } }) => {
		const missing = dependencies.find((name) => !names.has(name));
		return missing === undefined ? undefined : `it needs the plugin "${missing}", which is not there`;
	});
	if (out.length === 0) return { plugins, out };
	const rest = withDependencies(plugins);
	return { plugins: rest.plugins, out: [...out, ...rest.out] };
}

function withOwnTools(placed: readonly Placed[]): LineUp {
	const owners = new Map<string, string>();
	return split(placed, ({ plugin }) => {
		const claims = [
			...(plugin.tools ?? []).map(({ name }) => ({ name, what: `the tool ${name}` })),
			...Object.keys(plugin.commands ?? {}).map((name) => ({ name: `/${name}`, what: `the command /${name}` })),
		];
		const taken = claims.find(({ name }) => owners.has(name));
		if (taken) return `${taken.what} belongs to "${owners.get(taken.name)}", which stands before it`;
		for (const { name } of claims) owners.set(name, plugin.name);
		return undefined;
	});
}

function split(placed: readonly Placed[], why: (one: Placed) => string | undefined): LineUp {
	const judged = placed.map((one) => ({ placed: one, why: why(one) }));
	return {
		plugins: judged.flatMap((one) => (one.why === undefined ? [one.placed] : [])),
		out: judged.flatMap((one) => (one.why === undefined ? [] : [{ placed: one.placed, why: one.why }])),
	};
}
