import { type Node, type ParseError, type ParseOptions, parseTree, printParseErrorCode } from "jsonc-parser";
import { messageOfError } from "../../kernel/isolate.ts";
import { type Block, type KeyPath, type Problem, placeIn } from "./block.ts";

/** `strict` is JSON; `relaxed` takes comments and trailing commas as well. */
export type Dialect = "strict" | "relaxed";

const OPTIONS: Readonly<Record<Dialect, ParseOptions>> = {
	strict: { disallowComments: true },
	relaxed: { disallowComments: false, allowTrailingComma: true },
};

/** A JSON text without its byte order mark, and where its keys stand. Of a key that is said twice the last counts. */
export function readJson(text: string, dialect: Dialect): Block | Problem {
	try {
		return parsed(text, dialect);
	} catch (error) {
		return { problem: `it is nested too deep (${messageOfError(error)})` };
	}
}

function parsed(text: string, dialect: Dialect): Block | Problem {
	const errors: ParseError[] = [];
	const root = parseTree(text, errors, OPTIONS[dialect]);
	const [first] = errors;
	if (first || !root) return wrongAt(text, first);
	return {
		value: held(root),
		placeOf: (path) => {
			const node = nodeAt(root, path);
			return node && placeIn(text, node.offset);
		},
	};
}

function wrongAt(text: string, error: ParseError | undefined): Problem {
	if (!error) return { problem: "it is empty" };
	return { problem: parseErrorText(error, text), place: placeIn(text, error.offset) };
}

/** What is wrong with a JSON text, in words, without the place. */
export function parseErrorText(error: ParseError, text: string): string {
	const code = printParseErrorCode(error.error);
	const known = WORDS[code] ?? code.replace(/(?<=[a-z])(?=[A-Z])/g, " ").toLowerCase();
	const isCutShort = /Close|UnexpectedEnd/.test(code) && !/[}\]]\s*$/.test(text);
	return isCutShort ? `${known}: the file ends too early` : known;
}

const WORDS: Readonly<Record<string, string>> = {
	InvalidSymbol: "a word without quotes is neither true, false nor null",
	InvalidNumberFormat: "a number is written in a way that JSON does not know",
	PropertyNameExpected: "the name of a key in double quotes is expected",
	ValueExpected: "a value is expected",
	ColonExpected: "a colon is expected after the key",
	CommaExpected: "a comma is expected",
	CloseBraceExpected: "a closing } is expected",
	CloseBracketExpected: "a closing ] is expected",
	EndOfFileExpected: "nothing more is expected after the end of the value",
	InvalidCommentToken: "a comment is not taken here",
	UnexpectedEndOfComment: "a comment does not end",
	UnexpectedEndOfString: "a text does not end: its closing quote is missing",
	UnexpectedEndOfNumber: "a number does not end",
	InvalidUnicode: "a \\u in a text needs four hexadecimal digits",
	InvalidEscapeCharacter: "a backslash in a text is followed by what it cannot escape",
	InvalidCharacter: "a text has a control character or a line end in it",
};

/** Own properties only, whatever their names: `__proto__` is one as any other. */
function held({ type, children = [], value }: Node): unknown {
	if (type === "array") return children.map(held);
	if (type !== "object") return value;
	return Object.fromEntries(
		children.flatMap(({ children: [key, value] = [] }) => (key && value ? [[key.value, held(value)]] : [])),
	);
}

/** The key of a property, or the item of a list. */
function nodeAt(root: Node, path: KeyPath): Node | undefined {
	let node: Node | undefined = root;
	let named: Node | undefined = root;
	for (const step of path) {
		const [key, value] = stepInto(node, step);
		node = value;
		named = key;
	}
	return named;
}

function stepInto(node: Node | undefined, step: string | number): readonly (Node | undefined)[] {
	const children = node?.children ?? [];
	if (typeof step === "number") return [children[step], children[step]];
	const property = children.findLast(({ children: parts }) => parts?.[0]?.value === step);
	return property?.children ?? [undefined, undefined];
}
