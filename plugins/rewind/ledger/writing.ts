import { relocated, transferred } from "./destinations.ts";
import { isGiven, type Options, parseOptions, valuesOf } from "./options.ts";
import { type CommandRule, forEach } from "./rules.ts";
import { type Argument, known } from "./words.ts";

type Arguments = readonly Argument[];

const CURL_VALUES =
	"-A -b -c -C -d -D -e -E -F -H -K -m -o -P -Q -r -t -T -u -U -w -x -X -y -Y -z --output --output-dir --cookie-jar " +
	"--dump-header --header --request --data --user --proxy --referer --user-agent --max-time --retry";
const CURL_OUTPUTS = "-o --output -c --cookie-jar -D --dump-header";
const WGET_VALUES = "-O -o -a -e -i -B -t -T -w -Q -P -U -l -A -R -D -I -X --output-document --output-file";
const INSTALL_VALUES = "-m -o -g -t -S --mode --owner --group --target-directory --suffix";
const PATCH_VALUES = "-p -i -o -d -r -B -D -F -V -Y -z -g --input --output --directory --strip --reject-file";
const XXD_VALUED = /^-(?:c|cols|g|groupsize|l|len|n|name|o|offset|s|seek|R)$/;

/** Which arguments of a command name the files that it writes. */
export const WRITING: readonly (readonly [string, CommandRule])[] = [
	...forEach("rm unlink tee sponge", operands("")),
	["shred", operands("-n -s --iterations --size")],
	["touch", operands("-d -t -r --date --reference --time")],
	["truncate", operands("-s -r --size --reference")],
	...forEach("cp ln", from("-t -S --target-directory --suffix", transferred)),
	["mv", from("-t -S --target-directory --suffix", moved)],
	["install", from(INSTALL_VALUES, (options) => (isGiven(options, "-d --directory") ? [] : transferred(options)))],
	["dd", { writes: (args) => args.flatMap(outputOfDd) }],
	["patch", from(PATCH_VALUES, patched)],
	["curl", from(CURL_VALUES, downloaded)],
	["wget", from(WGET_VALUES, (options) => toFiles(valuesOf(options, "-O --output-document -o -a --output-file")))],
	[
		"sort",
		outputs("-k -t -S -T -o --key --field-separator --buffer-size --temporary-directory --output", "-o --output"),
	],
	["tree", outputs("-L -P -I -o -H -T", "-o")],
	["iconv", outputs("-f -t -o --output --from-code --to-code", "-o --output")],
	["uniq", from("-f -s -w", ({ operands }) => operands.slice(1, 2))],
	["xxd", { writes: (args) => xxdOperands(args).slice(1, 2) }],
];

/** The files of `xxd`, whose options are words after a single dash. */
export function xxdOperands(args: Arguments): Arguments {
	return args.filter(({ text }, at) => !/^-./.test(text) && !XXD_VALUED.test(args[at - 1]?.text ?? ""));
}

function from(valued: string, written: (options: Options) => Arguments): CommandRule {
	return { writes: (args) => written(parseOptions(args, { valued })) };
}

function operands(valued: string): CommandRule {
	return from(valued, (options) => options.operands);
}

function outputs(valued: string, names: string): CommandRule {
	return from(valued, (options) => valuesOf(options, names));
}

function moved(options: Options): Arguments {
	const isInto = isGiven(options, "-t --target-directory");
	return [...options.operands.slice(0, isInto ? undefined : -1), ...transferred(options)];
}

function outputOfDd({ text, isKnown }: Argument): Arguments {
	return isKnown && text.startsWith("of=") ? [known(text.slice(3))] : [];
}

/** What `patch` names on its command line; the names within the patch are not seen. */
function patched(options: Options): Arguments {
	if (isGiven(options, "--dry-run")) return [];
	const outputs = valuesOf(options, "-o --output");
	const written = outputs.length > 0 ? outputs : options.operands.slice(0, 1);
	return valuesOf(options, "-d --directory").reduceRight<Arguments>(relocated, written);
}

function downloaded(options: Options): Arguments {
	const named = toFiles(valuesOf(options, CURL_OUTPUTS));
	const remote = isGiven(options, "-O --remote-name") ? options.operands.flatMap(remoteName) : [];
	return valuesOf(options, "--output-dir").reduceRight<Arguments>(relocated, [...named, ...remote]);
}

function remoteName({ text }: Argument): Arguments {
	const name = /^[a-z]+:\/\/[^/]+\/(?:[^?#]*\/)?([\w.+-]+)(?:[?#]|$)/.exec(text)?.[1];
	return name === undefined ? [] : [known(name)];
}

/** Without `-`, which is standard output. */
function toFiles(values: Arguments): Arguments {
	return values.filter(({ text }) => text !== "-");
}
