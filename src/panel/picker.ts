import type { PanelState } from "./state.ts";
import { isListed, type Switches } from "./switch.ts";

/** A dialog that has the human choose one of several lines; undefined: they left it. */
export type Select = (title: string, options: readonly string[]) => Promise<string | undefined>;

const TITLE = "Mulligan: Enter switches, Escape leaves without a change";

/** Lets the human switch plugins until they apply that; undefined where they leave it or end where they began. */
export async function pick(state: PanelState, select: Select): Promise<Switches | undefined> {
	const names = state.plugins.map(({ name }) => name);
	const now = new Map(names.map((name) => [name, isListed(state, name)]));
	for (;;) {
		const switched = names.filter((name) => now.get(name) !== isListed(state, name));
		const apply = `apply and reload: ${switched.map((name) => `${name} ${now.get(name) ? "on" : "off"}`).join(", ")}`;
		const lines = new Map(names.map((name) => [`${now.get(name) ? "[x]" : "[ ]"} ${name}`, name]));
		const chosen = await select(TITLE, [...(switched.length > 0 ? [apply] : []), ...lines.keys()]);
		if (chosen === undefined) return undefined;
		if (chosen === apply && switched.length > 0) return new Map(switched.map((name) => [name, now.get(name) === true]));
		const name = lines.get(chosen);
		if (name !== undefined) now.set(name, !now.get(name));
	}
}
