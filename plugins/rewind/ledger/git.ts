import { relocated, transferred } from "./destinations.ts";
import { isGiven, isLimitedTo, type Options, parseOptions, valuesOf } from "./options.ts";
import type { CommandRule } from "./rules.ts";
import type { Argument } from "./words.ts";

const GLOBAL_VALUES = "-C -c --git-dir --work-tree --namespace";
const GLOBAL_FLAGS =
	"-P --no-pager --no-optional-locks --literal-pathspecs --no-replace-objects --bare --version --help";
const HARMLESS_CONFIG =
	/^(?:color\.|core\.(?:quotepath|abbrev|pager=cat$)|diff\.renames|log\.|advice\.|safe\.directory=)/i;
/** `--output=file`, and the option that runs a configured program. */
const WRITES_OR_RUNS = /^--(?:ou|ext-diff)/;

type Test = (args: readonly Argument[]) => boolean;

/** Read-only whatever their arguments are, apart from those of WRITES_OR_RUNS. */
const READERS = (
	"status log diff show blame annotate whatchanged shortlog rev-parse rev-list ls-files ls-tree describe " +
	"cat-file merge-base name-rev show-ref for-each-ref diff-tree diff-index diff-files range-diff cherry count-objects " +
	"check-ignore check-attr verify-commit version var"
).split(" ");

const LISTING = matchesListing(
	/^(?:-[arvl]+|-n\d*|--(?:list|all|remotes|verbose|show-current|ignore-case|(?:no-)?(?:color|column|abbrev|merged|contains)|points-at|sort|format)(?:=.*)?)$/,
	/^(?:-l|--(?:list|(?:no-)?(?:merged|contains)|points-at)(?:=.*)?)$/,
);

const READ_ONLY: ReadonlyMap<string, Test> = new Map<string, Test>([
	...READERS.map((name): [string, Test] => [name, () => true]),
	["grep", (args) => !args.some(({ text }) => /^-[^-]*O|^--op/.test(text))],
	["branch", LISTING],
	["tag", LISTING],
	["remote", matches(/^(?:-v|--verbose|(?:-v )?show(?: -n)?(?: \S+)?|get-url(?: --\S+)* \S+)?$/)],
	["stash", matches(/^(?:list|show)\b/)],
	["reflog", matches(/^(?:show\b|-|$)/)],
	["worktree", matches(/^list\b/)],
	["submodule", matches(/^(?:(?:status|summary)\b|$)/)],
	["notes", matches(/^(?:(?:list|show)\b|$)/)],
	["bisect", matches(/^log\b/)],
	["sparse-checkout", matches(/^list\b/)],
	["symbolic-ref", matches(/^(?:(?:--short|-q) )*\S+$/)],
	["apply", matches(/^--(?:check|stat|numstat|summary)(?: [^-]\S*)*$/)],
	["config", readsConfig],
]);

const WRITES: ReadonlyMap<string, (args: readonly Argument[]) => readonly Argument[]> = new Map([
	["checkout", (args) => args.slice(args.findIndex(({ text }) => text === "--") + 1 || args.length)],
	["restore", (args) => restored(parseOptions(args, { valued: "-s --source --pathspec-from-file" }))],
	["rm", (args) => removed(parseOptions(args, { valued: "--pathspec-from-file" }))],
	["mv", (args) => moved(parseOptions(args))],
	["archive", (args) => valuesOf(parseOptions(args, { valued: "-o --output --prefix --format" }), "-o --output")],
	...["diff", "log", "show"].map((name): [string, (args: readonly Argument[]) => readonly Argument[]] => [
		name,
		(args) => valuesOf(parseOptions(args, { valued: "--output" }), "--output"),
	]),
]);

/** `git`: which sub-commands only read, and which files the others name. */
export const git: CommandRule = {
	isReadOnly: (args) => {
		const { options, name, rest } = subcommand(args);
		if (args.some(({ isOpaque, text }) => isOpaque || WRITES_OR_RUNS.test(text))) return false;
		if (!isLimitedTo(options, `${GLOBAL_VALUES} ${GLOBAL_FLAGS}`)) return false;
		if (!valuesOf(options, "-c").every(({ text }) => HARMLESS_CONFIG.test(text))) return false;
		return name === undefined ? options.given.length > 0 : (READ_ONLY.get(name)?.(rest) ?? false);
	},
	writes: (args) => {
		const { options, name = "", rest } = subcommand(args);
		const written = WRITES.get(name)?.(rest).filter(isPlainPathspec) ?? [];
		return valuesOf(options, "-C").reduceRight(relocated, written);
	},
};

interface Subcommand {
	readonly options: Options;
	readonly name?: string;
	readonly rest: readonly Argument[];
}

function subcommand(args: readonly Argument[]): Subcommand {
	const options = parseOptions(args, { valued: GLOBAL_VALUES, isLeading: true });
	const [name, ...rest] = options.operands;
	return name?.isKnown ? { options, name: name.text, rest } : { options, rest };
}

function matches(pattern: RegExp): Test {
	return (args) => pattern.test(args.map(({ text }) => text).join(" "));
}

/** Only options that list, and operands only where an option makes them patterns. */
function matchesListing(allowed: RegExp, selecting: RegExp): Test {
	return (args) => {
		const options = args.filter(({ text }) => text.startsWith("-"));
		const isSelecting = options.length === args.length || options.some(({ text }) => selecting.test(text));
		return isSelecting && options.every(({ text }) => allowed.test(text));
	};
}

function readsConfig(args: readonly Argument[]): boolean {
	const verb = args[0]?.text;
	if (verb === "get" || verb === "list") return true;
	const options = parseOptions(args, { valued: "--default --type --file -f --blob" });
	const scopes = "--global --local --system --worktree --includes --type --bool --int --path -f --file --blob";
	const queries = "-l --list --get --get-all --get-regexp --get-urlmatch";
	if (!isLimitedTo(options, `${scopes} ${queries} --default --show-origin --show-scope --name-only -z --null`))
		return false;
	return isGiven(options, queries) || options.operands.length === 1;
}

function restored(options: Options): readonly Argument[] {
	const isIndexOnly = isGiven(options, "-S --staged") && !isGiven(options, "-W --worktree");
	return isIndexOnly ? [] : options.operands;
}

function removed(options: Options): readonly Argument[] {
	return isGiven(options, "--cached -n --dry-run") ? [] : options.operands;
}

function moved(options: Options): readonly Argument[] {
	return isGiven(options, "-n --dry-run") ? [] : [...options.operands.slice(0, -1), ...transferred(options)];
}

function isPlainPathspec({ text }: Argument): boolean {
	return !/^:|[*?[]/.test(text);
}
