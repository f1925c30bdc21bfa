import { isGiven, isLimitedTo, type Options, parseOptions, valuesOf } from "./options.ts";
import { isPureAwk, isPureSed } from "./programs.ts";
import { type CommandRule, forEach } from "./rules.ts";
import { type Argument, UNKNOWN } from "./words.ts";

type Arguments = readonly Argument[];

const SED_VALUES = "-e -f -l -i? --expression --file --line-length";
const SED_READING =
	"-n -e -E -r -s -u -z -l --quiet --silent --expression --regexp-extended --separate --posix --debug --null-data " +
	"--line-length --sandbox --unbuffered";
const AWK_VALUES = "-F -v -f -i -E -l -e --field-separator --assign --file --include --source";
const AWK_READING = "-F -v --field-separator --assign";
const PERL_VALUES = "-e -E -I -r -i? -M? -m? -F? -C? -x?";
const YQ_VALUES = "-o -p -I -s --arg --argjson --output-format --input-format --indent";

/** Commands that carry a program, and may edit files in place. */
export const EDITORS: readonly (readonly [string, CommandRule])[] = [
	...forEach("sed gsed", { isReadOnly: isReadOnlySed, writes: (args) => editedBySed(sedParts(args)) }),
	...forEach("awk gawk mawk nawk", { isReadOnly: isReadOnlyAwk, writes: editedByAwk }),
	...forEach("perl ruby", { writes: editedByPerl }),
	["yq", { isReadOnly: isReadOnlyYq, writes: editedByYq }],
];

interface SedParts {
	readonly options: Options;
	readonly scripts: Arguments;
	readonly files: Arguments;
}

function sedParts(args: Arguments): SedParts {
	const options = parseOptions(args, { valued: SED_VALUES });
	const scripts = [...valuesOf(options, "-e --expression"), ...valuesOf(options, "-f --file").map(() => UNKNOWN)];
	const operands = withoutSuffix(options, scripts.length > 0);
	if (scripts.length > 0) return { options, scripts, files: operands };
	return { options, scripts: operands.slice(0, 1), files: operands.slice(1) };
}

/** BSD's `-i` takes the suffix for backups as a word of its own, mostly the empty one. */
function withoutSuffix(options: Options, hasScript: boolean): Arguments {
	const isDetached = valuesOf(options, "-i").some(({ text }) => text === "");
	const first = options.operands[0];
	const isSuffix = first?.isKnown && (first.text === "" || (!hasScript && /^\.\w+$/.test(first.text)));
	return isDetached && isSuffix ? options.operands.slice(1) : options.operands;
}

function editedBySed({ options, files }: SedParts): Arguments {
	return isGiven(options, "-i --in-place") ? files : [];
}

function isReadOnlySed(args: Arguments): boolean {
	if (args.length === 1 && args[0]?.text === "--version") return true;
	const { options, scripts } = sedParts(args);
	if (args.some(({ isOpaque }) => isOpaque) || !isLimitedTo(options, SED_READING)) return false;
	return scripts.every(({ isKnown, text }) => isKnown && isPureSed(text));
}

function isReadOnlyAwk(args: Arguments): boolean {
	if (args.length === 1 && args[0]?.text === "--version") return true;
	const options = parseOptions(args, { valued: AWK_VALUES, isLeading: true });
	const program = options.operands[0];
	if (args.some(({ isOpaque }) => isOpaque) || !isLimitedTo(options, AWK_READING)) return false;
	return program === undefined || (program.isKnown && isPureAwk(program.text));
}

function editedByAwk(args: Arguments): Arguments {
	const options = parseOptions(args, { valued: AWK_VALUES, isLeading: true });
	const isInPlace = valuesOf(options, "-i --include").some(({ text }) => text === "inplace");
	if (!isInPlace) return [];
	return isGiven(options, "-f --file -e --source") ? options.operands : options.operands.slice(1);
}

function editedByPerl(args: Arguments): Arguments {
	const options = parseOptions(args, { valued: PERL_VALUES, isLeading: true });
	if (!isGiven(options, "-i")) return [];
	return isGiven(options, "-e -E") ? options.operands : options.operands.slice(1);
}

function isReadOnlyYq(args: Arguments): boolean {
	return !args.some(({ isOpaque, text }) => isOpaque || /^-[^-]*[is]|^--(?:in-?place|split)/.test(text));
}

function editedByYq(args: Arguments): Arguments {
	const options = parseOptions(args, { valued: YQ_VALUES });
	if (!isGiven(options, "-i --inplace --in-place")) return [];
	const isNamed = /^(?:e|ea|eval|eval-all)$/.test(options.operands[0]?.text ?? "");
	return options.operands.slice(isNamed ? 2 : 1);
}
