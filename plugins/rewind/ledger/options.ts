import { type Argument, known } from "./words.ts";

/** One option of a command, its value where it takes one. */
interface Option {
	readonly name: string;
	readonly value?: Argument;
}

/** A command's arguments, sorted into options and operands. */
export interface Options {
	readonly given: readonly Option[];
	readonly operands: readonly Argument[];
}

/** How a command reads its arguments. */
interface Grammar {
	/** The options that take a value, as `-o --output`; `-i?` takes one only when it is attached. */
	readonly valued?: string;
	/** Whether the first operand ends the options, as in `sudo ls -l`. */
	readonly isLeading?: boolean;
}

/** Sorts arguments as getopt_long does: bundles, attached and separate values, `--`. */
export function parseOptions(args: readonly Argument[], { valued = "", isLeading = false }: Grammar = {}): Options {
	const takers = new Set(valued.split(" "));
	const given: Option[] = [];
	const operands: Argument[] = [];
	const queue = args.values();
	const drain = () => {
		for (const rest of queue) operands.push(rest);
	};
	for (const arg of queue) {
		if (arg.isKnown && arg.text === "--") drain();
		else if (arg.isKnown && arg.text.startsWith("--")) given.push(longOption(arg.text, takers, queue));
		else if (isBundle(arg)) for (const option of bundled(arg.text, takers, queue)) given.push(option);
		else {
			operands.push(arg);
			if (isLeading) drain();
		}
	}
	return { given, operands };
}

/** Whether any of the options, listed as `-o --output`, was given. */
export function isGiven({ given }: Options, names: string): boolean {
	const wanted = names.split(" ");
	return given.some(({ name }) => wanted.includes(name));
}

/** The values of the options, listed as `-o --output`, in their order. */
export function valuesOf({ given }: Options, names: string): Argument[] {
	const wanted = names.split(" ");
	return given.flatMap(({ name, value }) => (value !== undefined && wanted.includes(name) ? [value] : []));
}

/** Whether every option that was given is one of those listed, and no value may be more than one word. */
export function isLimitedTo({ given }: Options, names: string): boolean {
	const allowed = new Set(names.split(/[ ?]+/));
	return given.every(({ name, value }) => allowed.has(name) && !value?.isOpaque);
}

function isBundle({ text, isKnown }: Argument): boolean {
	return isKnown && text.startsWith("-") && text.length > 1;
}

function longOption(text: string, takers: ReadonlySet<string>, queue: Iterator<Argument>): Option {
	const equals = text.indexOf("=");
	if (equals > 0) return { name: text.slice(0, equals), value: known(text.slice(equals + 1)) };
	return takers.has(text) ? withValue(text, queue) : { name: text };
}

function* bundled(text: string, takers: ReadonlySet<string>, queue: Iterator<Argument>): Generator<Option> {
	for (let at = 1; at < text.length; at++) {
		const name = `-${text[at]}`;
		const rest = text.slice(at + 1);
		if (takers.has(`${name}?`)) return yield { name, value: known(rest) };
		if (takers.has(name)) return yield rest === "" ? withValue(name, queue) : { name, value: known(rest) };
		yield { name };
	}
}

function withValue(name: string, queue: Iterator<Argument>): Option {
	const next = queue.next();
	return next.done ? { name } : { name, value: next.value };
}
