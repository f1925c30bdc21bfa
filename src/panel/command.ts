import { switchOf } from "./knobs.ts";

/** Which of the two config files is meant; undefined: whichever fits. */
export type Where = "user" | "project" | undefined;

/** What the human asks of the panel. */
export type Command =
	| { readonly do: "open" | "show" | "help" | "trust" | "restore" | "trace" | "doctor" }
	| { readonly do: "audit"; readonly args: string }
	| { readonly do: "undo"; readonly nth: number }
	| { readonly do: "set"; readonly key: string; readonly typed: string; readonly where: Where }
	| { readonly do: "master"; readonly to: boolean; readonly where: Where }
	| { readonly do: "switch"; readonly plugin: string; readonly to: boolean | "flip"; readonly where: Where }
	| { readonly do: "unknown"; readonly word: string }
	| { readonly do: "wrong"; readonly why: string };

/** The sub-commands, with what each is for. */
export const SUB_COMMANDS: Readonly<Record<string, string>> = {
	show: "plugins, settings that differ, what is in force",
	on: "switch mulligan on",
	off: "switch mulligan off",
	set: "KNOB VALUE: change a setting; without a value tell about it, with default take it out of the file",
	undo: "[N]: take back the newest or the nth change",
	restore: "take back all changes",
	audit: "[TOP]: what fills the context",
	trace: "what each plugin did to the last request, and its time; the last moment and its reason",
	trust: "approve this project's config and plugins",
	doctor: "a report to paste into an issue: versions, config, plugins, numbers; nothing that anybody wrote",
	help: "what /mulligan takes",
};

/** The command that was typed after `/mulligan`. A plugin followed by on or off is that, whatever it is named. */
export function parse(args: string, plugins: readonly string[]): Command {
	const { words, where, rest } = split(args);
	const [first = "", second] = words;
	const to = second === undefined ? undefined : switchOf(second);
	if (plugins.includes(first) && to !== undefined)
		return words.length > 2 ? tooMuch(first, words[2]) : { do: "switch", plugin: first, to, where };
	const name = first.toLowerCase();
	if (first === "") return { do: "open" };
	const master = switchOf(name);
	if (master !== undefined) return second === undefined ? { do: "master", to: master, where } : tooMuch(first, second);
	if (Object.hasOwn(SUB_COMMANDS, name)) return subCommand(name, { second, words, where, rest });
	if (!plugins.includes(first)) return { do: "unknown", word: first };
	if (second === undefined) return { do: "switch", plugin: first, to: "flip", where };
	return { do: "wrong", why: `${first} takes on or off; got ${second}.` };
}

interface Words {
	readonly second: string | undefined;
	readonly words: readonly string[];
	readonly where: Where;
	/** What follows the second word, as it was typed. */
	readonly rest: string;
}

function subCommand(name: string, { second, words, where, rest }: Words): Command {
	switch (name) {
		case "set":
			return { do: "set", key: second ?? "", typed: rest, where };
		case "audit":
			return { do: "audit", args: words.slice(1).join(" ") };
		case "undo":
			return words.length > 2 ? tooMuch(name, words[2]) : undo(second);
		default:
			return second === undefined ? ({ do: name } as Command) : tooMuch(name, second);
	}
}

function undo(typed: string | undefined): Command {
	if (typed === undefined) return { do: "undo", nth: 1 };
	if (/^[1-9]\d{0,8}$/.test(typed)) return { do: "undo", nth: Number(typed) };
	return { do: "wrong", why: `undo takes the number that /mulligan lists, from 1 on; got ${typed}.` };
}

function tooMuch(name: string, word: string | undefined): Command {
	return { do: "wrong", why: `${name} takes no ${word}.` };
}

/** The words of a line, without `--project` and `--user` at its begin, after the first word or at its end. */
function split(args: string): Omit<Words, "second"> {
	const places = [/^--(user|project)(?:\s+|$)/, /^\S+\s+--(user|project)(?=\s|$)/, /\s--(user|project)$/];
	let text = args.trim();
	let where: Where;
	for (const place of places) {
		const flag = place.exec(text)?.[1];
		if (flag === undefined) continue;
		where = flag as Where;
		text = text.replace(place, (found) => found.replace(`--${flag}`, "").trimEnd()).trim();
	}
	const rest = text.replace(/^\S+\s*/, "").replace(/^\S+\s*/, "");
	return { words: text.split(/\s+/).filter(Boolean), where, rest };
}
