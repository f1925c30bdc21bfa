import type { Argument } from "./words.ts";

/** What a command may run in turn: words as they are, or a script to parse. */
export interface Invocation {
	readonly words?: readonly Argument[];
	readonly script?: Argument;
	/** Where it runs, if elsewhere. */
	readonly directory?: Argument;
	/** Whether its `cd` lasts, as in `eval`. */
	readonly isInShell?: boolean;
}

/** What is known of a command by its name. */
export interface CommandRule {
	/** Whether it provably changes nothing by itself; what it runs is judged apart. Never, if absent. */
	readonly isReadOnly?: (args: readonly Argument[]) => boolean;
	/** The arguments that name files it writes. */
	readonly writes?: (args: readonly Argument[]) => readonly Argument[];
	/** What it runs; `input` is its standard input where the text shows it. */
	readonly runs?: (args: readonly Argument[], input?: Argument) => readonly Invocation[];
}

/** One rule for each of the names, listed with blanks between. */
export function forEach(names: string, rule: CommandRule): [string, CommandRule][] {
	return names.split(" ").map((name) => [name, rule]);
}
