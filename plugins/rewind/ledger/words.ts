import type { CommandArgument, WordPart } from "unbash";

/** A word of a command after expansion, as far as its text alone tells. */
export interface Argument {
	/** What the command receives if `isKnown`, else the source text. */
	readonly text: string;
	readonly isKnown: boolean;
	/** Whether it may become an option that the text doesn't show, as `$FLAGS` may. */
	readonly isOpaque: boolean;
}

const MAX_ALTERNATIVES = 64;
const PLAIN_BRACES = /^\{[^{}"'\\$`*?[\s]*,[^{}"'\\$`*?[\s]*\}$/;
/** Unquoted, these are split into any number of words. */
const SPLIT_PARTS: ReadonlySet<string> = new Set(["SimpleExpansion", "ParameterExpansion", "CommandExpansion"]);
/** These become names of files, never options. */
const NAME_PARTS: ReadonlySet<string> = new Set(["Glob", "ExtendedGlob", "ProcessSubstitution"]);

/** A word that is exactly `text`. */
export function known(text: string): Argument {
	return { text, isKnown: true, isOpaque: false };
}

/** A word of which nothing is known, not even that it isn't an option. */
export const UNKNOWN: Argument = { text: "", isKnown: false, isOpaque: true };

/** The words that one source word stands for: several for `{a,b}`, an unknown one for `$x` and `*`. */
export function toArguments(word: CommandArgument): Argument[] {
	if (word.type === "Assignment") return [{ text: word.text, isKnown: false, isOpaque: false }];
	const parts = word.parts;
	if (parts === undefined) return [known(word.value)];
	const texts = combine(parts);
	if (texts !== undefined) return texts.map(known);
	const isOpaque = parts.some((part) => SPLIT_PARTS.has(part.type)) || !startsAsOperand(parts[0]);
	return [{ text: word.text, isKnown: false, isOpaque }];
}

function combine(parts: readonly WordPart[]): string[] | undefined {
	let texts = [""];
	for (const part of parts) {
		const endings = textsOf(part);
		if (endings === undefined || texts.length * endings.length > MAX_ALTERNATIVES) return undefined;
		texts = texts.flatMap((text) => endings.map((ending) => text + ending));
	}
	return texts;
}

function textsOf(part: WordPart): string[] | undefined {
	switch (part.type) {
		case "Literal":
		case "SingleQuoted":
		case "AnsiCQuoted":
			return [part.value];
		case "DoubleQuoted":
		case "LocaleString":
			return combine(part.parts);
		case "BraceExpansion":
			return PLAIN_BRACES.test(part.text) ? part.text.slice(1, -1).split(",") : undefined;
		default:
			return undefined;
	}
}

function startsAsOperand(part: WordPart | undefined): boolean {
	if (part === undefined) return false;
	if (NAME_PARTS.has(part.type)) return true;
	if (part.type === "DoubleQuoted" || part.type === "LocaleString") return startsAsOperand(part.parts[0]);
	const text = textsOf(part)?.[0] ?? "";
	return part.type !== "BraceExpansion" && text !== "" && !text.startsWith("-");
}
