import { SUB_COMMANDS } from "./command.ts";
import { knobNamed, knobsOf, offered } from "./knobs.ts";
import { cut, plain } from "./layout.ts";
import { DEFAULT } from "./set.ts";
import type { PanelState } from "./state.ts";

/** One completion: the whole argument as it would then read, and what the human sees of it. */
export interface Completion {
	readonly value: string;
	readonly label: string;
	readonly description?: string;
}

type Known = Pick<PanelState, "plugins" | "schemas" | "run">;

/** Completions of what has been typed after `/mulligan `. */
export function completions(typed: string, state: Known): readonly Completion[] {
	const words = typed.split(/\s+/);
	const last = words.at(-1) ?? "";
	const before = typed.slice(0, typed.length - last.length);
	return nextWords(words.slice(0, -1), state)
		.filter(({ label }) => label.toLowerCase().startsWith(last.toLowerCase()))
		.map((word) => ({ ...word, value: before + word.label }));
}

type Word = Omit<Completion, "value">;

function nextWords([first, second, ...more]: readonly string[], state: Known): readonly Word[] {
	if (first === undefined) return firstWords(state);
	if (second === undefined && first === "set") return knobsOf(state.schemas).map(knobWord);
	if (more.length === 0 && first === "set" && second !== undefined) return valueWords(second, state);
	if (second !== undefined) return [];
	if (first === "undo") return undoWords(state);
	return state.plugins.some(({ name }) => name === first) ? [{ label: "on" }, { label: "off" }] : [];
}

function firstWords({ plugins }: Known): readonly Word[] {
	const commands = Object.entries(SUB_COMMANDS).map(([label, description]) => ({ label, description }));
	const names = plugins
		.filter(({ name }) => !Object.hasOwn(SUB_COMMANDS, name))
		.map(({ name, state }) => ({ label: name, description: `plugin, ${state}` }));
	return [...commands, ...names];
}

function knobWord({ key, schema }: ReturnType<typeof knobsOf>[number]): Word {
	return { label: key, ...(schema.description ? { description: schema.description } : {}) };
}

function valueWords(key: string, { schemas }: Known): readonly Word[] {
	const knob = knobNamed(key, schemas);
	if (!knob) return [];
	return [...offered(knob).map((label) => ({ label })), { label: DEFAULT, description: "take it out of the file" }];
}

function undoWords({ run }: Known): readonly Word[] {
	return run.standing.map(({ kind, what }, at) => ({
		label: String(at + 1),
		description: cut(`${kind} ${plain(what)}`, 80),
	}));
}
