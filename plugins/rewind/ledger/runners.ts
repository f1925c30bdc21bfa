import { isAssignment, isHarmlessAssignment } from "./environment.ts";
import { isGiven, isLimitedTo, type Options, parseOptions, valuesOf } from "./options.ts";
import type { CommandRule, Invocation } from "./rules.ts";
import { type Argument, known, UNKNOWN } from "./words.ts";

interface Wrapper {
	readonly valued?: string;
	readonly flags?: string;
	/** How many operands stand before the command, as the duration of `timeout`. */
	readonly skips?: number;
	readonly isInShell?: boolean;
	/** The option that says where the command runs. */
	readonly directory?: string;
}

const SHELL_NAMES = ["bash", "sh", "zsh", "dash", "ash", "ksh"];
const SHELL_FLAGS = "-c -e -u -x -v -l -s -n -o --login --norc --noprofile --posix";
const XARGS_VALUES = "-I -n -P -L -d -s -E -a --max-args --max-procs --max-lines --delimiter --arg-file -i? -l? -e?";
const FIND_EXEC = /^-(?:exec|execdir|ok|okdir)$/;
const FIND_WRITES = /^-(?:fprint|fprint0|fprintf|fls)$/;

/** The commands that run other commands. */
export const RUNNERS: readonly (readonly [string, CommandRule])[] = [
	...SHELL_NAMES.map((name) => [name, shell()] as const),
	["eval", evaluation()],
	["find", find()],
	["xargs", xargs()],
	["command", command()],
	["builtin", wrapper({ isInShell: true })],
	["exec", wrapper({ valued: "-a", flags: "-c -l" })],
	["env", wrapper({ valued: "-u --unset -C --chdir", flags: "-i --ignore-environment -0", directory: "-C --chdir" })],
	["sudo", wrapper({ valued: "-u -g -h -p -C -T -D", flags: "-n -E -H -k -S", directory: "-D --chdir" })],
	["doas", wrapper({ valued: "-u", flags: "-n" })],
	["timeout", wrapper({ valued: "-k -s --kill-after --signal", flags: "--foreground --preserve-status -v", skips: 1 })],
	["nice", wrapper({ valued: "-n --adjustment", flags: "-1 -2 -5 -9 -0" })],
	["ionice", wrapper({ valued: "-c -n --class --classdata", flags: "-t" })],
	["stdbuf", wrapper({ valued: "-i -o -e --input --output --error" })],
	["time", wrapper({ valued: "-f --format", flags: "-p -v" })],
	["nohup", wrapper({})],
	["setsid", wrapper({ flags: "-w -f --wait --fork" })],
];

function wrapper({ valued = "", flags = "", skips = 0, isInShell = false, directory = "" }: Wrapper): CommandRule {
	const parse = (args: readonly Argument[]) => parseOptions(args, { valued, isLeading: true });
	return {
		isReadOnly: (args) => {
			const options = parse(args);
			const isPlain = !options.operands.slice(0, skips).some(({ isOpaque }) => isOpaque);
			return isPlain && isLimitedTo(options, `${valued} ${flags}`) && options.operands.every(isHarmlessWord);
		},
		runs: (args) => {
			const options = parse(args);
			const [place] = valuesOf(options, directory);
			const words = withoutAssignments(options.operands.slice(skips));
			return [{ words, isInShell, ...(place && { directory: place }) }];
		},
	};
}

function isHarmlessWord({ text }: Argument): boolean {
	return isHarmlessAssignment(text);
}

function withoutAssignments(words: readonly Argument[]): readonly Argument[] {
	const start = words.findIndex(({ text }) => !isAssignment(text));
	return start < 0 ? [] : words.slice(start);
}

function command(): CommandRule {
	const { isReadOnly = () => false, runs = () => [] } = wrapper({ flags: "-p -v -V", isInShell: true });
	const isLookup = (args: readonly Argument[]) => isGiven(parseOptions(args, { isLeading: true }), "-v -V");
	return { isReadOnly, runs: (args, input) => (isLookup(args) ? [] : runs(args, input)) };
}

function shell(): CommandRule {
	return {
		isReadOnly: (args) => isLimitedTo(shellOptions(args), SHELL_FLAGS),
		runs: (args, input) => shellScripts(shellOptions(args), input).map((script) => ({ script })),
	};
}

function shellOptions(args: readonly Argument[]): Options {
	return parseOptions(args, { valued: "-o -O --rcfile --init-file", isLeading: true });
}

/** `-c`'s text, or what is fed to a shell without a script file; `-n` runs nothing. */
function shellScripts(options: Options, input: Argument = UNKNOWN): readonly Argument[] {
	if (isGiven(options, "-n")) return [];
	if (isGiven(options, "-c")) return [options.operands[0] ?? UNKNOWN];
	return [isGiven(options, "-s") || options.operands.length === 0 ? input : UNKNOWN];
}

function evaluation(): CommandRule {
	return {
		isReadOnly: () => true,
		runs: (args) => {
			const isKnown = args.every((arg) => arg.isKnown);
			const script = isKnown ? known(args.map(({ text }) => text).join(" ")) : UNKNOWN;
			return [{ script, isInShell: true }];
		},
	};
}

function xargs(): CommandRule {
	return {
		isReadOnly: (args) =>
			isLimitedTo(xargsOptions(args), `${XARGS_VALUES} -0 -r -t -x --null --no-run-if-empty --replace`),
		runs: (args) => {
			const options = xargsOptions(args);
			const [slot] = valuesOf(options, "-I -i --replace");
			if (options.operands.length === 0) return [];
			if (slot === undefined) return [{ words: [...options.operands, UNKNOWN] }];
			const marker = slot.text === "" ? "{}" : slot.text;
			return [{ words: options.operands.map((word) => (word.text.includes(marker) ? UNKNOWN : word)) }];
		},
	};
}

function xargsOptions(args: readonly Argument[]): Options {
	return parseOptions(args, { valued: XARGS_VALUES, isLeading: true });
}

function find(): CommandRule {
	return {
		isReadOnly: (args) => !args.some(({ isOpaque, text }) => isOpaque || text === "-delete" || FIND_WRITES.test(text)),
		writes: (args) => args.filter((_, at) => FIND_WRITES.test(args[at - 1]?.text ?? "")),
		runs: (args) => findInvocations(args),
	};
}

function findInvocations(args: readonly Argument[]): readonly Invocation[] {
	const found: Invocation[] = [];
	let words: Argument[] | undefined;
	for (const [at, arg] of args.entries()) {
		if (words === undefined) {
			if (!FIND_EXEC.test(arg.text)) continue;
			words = [];
			found.push({ words, ...(arg.text.endsWith("dir") && { directory: UNKNOWN }) });
		} else if (arg.text === ";" || (arg.text === "+" && args[at - 1]?.text === "{}")) words = undefined;
		else words.push(arg.text.includes("{}") ? { ...arg, isKnown: false } : arg);
	}
	return found;
}
