import { isHarmlessAssignment } from "./environment.ts";
import { parseOptions } from "./options.ts";
import { isHarmlessDevice } from "./paths.ts";
import { type CommandRule, forEach } from "./rules.ts";
import type { Argument } from "./words.ts";
import { xxdOperands } from "./writing.ts";

type Arguments = readonly Argument[];

/** Commands without an option that writes a file or runs a program. */
const HARMLESS =
	"cat head tail wc cut ls pwd echo printf test [ true false : which type whereis ps uname basename dirname realpath " +
	"readlink stat du df id whoami groups nproc free uptime lscpu arch nl tac rev fold fmt paste join comm column expand " +
	"unexpand tr od hexdump hd strings cksum sum md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum shasum seq " +
	"sleep cmp diff expr grep egrep fgrep zgrep zcat bzcat xzcat jq locale printenv pgrep tty logname users readelf " +
	"lsblk tsort factor numfmt getconf lsb_release sw_vers";

/** Builtins that change the shell alone. */
const SHELL_STATE =
	"cd pushd popd dirs set shopt unset export declare typeset local readonly let read getopts umask ulimit shift " +
	"return exit break continue wait";

/** Which commands only read, as far as their arguments show it. */
export const READING: readonly (readonly [string, CommandRule])[] = [
	...forEach(HARMLESS, { isReadOnly: () => true }),
	...forEach(SHELL_STATE, { isReadOnly: (args) => args.every(isHarmlessName) }),

	...forEach("nm objdump size", unless(/^--p/)),
	["rg", unless(/^--(?:pre|hostname)/)],
	["sort", unless(/^-[^-]*o|^--(?:o|co)/)],
	["tree", unless(/^-[^-]*[oR]|^--output/)],
	["file", unless(/^-[^-]*C|^--com/)],
	...forEach("fd fdfind", unless(/^-[^-]*[xX]|^--exec/)),
	...forEach("bat batcat", unless(/^--pager|^cache$/)),
	...forEach("base64 iconv", unless(/^-[^-]*o|^--o/)),
	...forEach("mapfile readarray", unless(/^-[^-]*C/)),

	["date", strict(isClockReading)],
	["uniq", strict((args) => operandsOf(args, "-f -s -w").length <= 1)],
	["xxd", strict((args) => xxdOperands(args).length <= 1)],
	["tee", strict((args) => operandsOf(args).every(({ text }) => isHarmlessDevice(text)))],

	["tar", only(/^-?[vzjJ]*t[vzjJ]*f?(?: [^-\s]\S*)*$/)],
	["unzip", only(/^-[lvZ1]+ /)],
	["hostname", only(/^(?:-[fisIdA])?$/)],
	["go", only(/^(?:version|doc(?: .*)?|env(?: [A-Z]\w*)*)$/)],
	[
		"npm",
		queries(
			"ls ll la list view info show outdated why explain root prefix whoami search config_get config_list pkg_get -v",
		),
	],
	["pnpm", queries("ls list ll why outdated view root -v")],
	["yarn", queries("list why info outdated -v")],
	[
		"docker",
		queries(
			"ps images logs inspect version info top stats port history diff image_ls container_ls compose_ps compose_logs",
		),
	],
	[
		"gh",
		queries(
			"pr_list pr_view pr_diff pr_checks pr_status issue_list issue_view run_list run_view repo_view auth_status",
		),
	],
	["brew", queries("list info outdated deps")],
	["systemctl", queries("status list-units is-active is-enabled show")],
	...forEach("pip pip3", queries("list show freeze check -V", / --log/)),
	...forEach("node deno bun tsc", only(/^(?:-v|--version)$/)),
	...forEach("python python3 cargo rustc rustup uv ruff clang make cmake perl ruby php", only(/^(?:-V|--version)$/)),
	...forEach("gcc g++ cc ninja mypy pytest poetry psql kubectl terraform", only(/^--version$/)),
	...forEach("java javac", only(/^-{1,2}version$/)),
];

function strict(isReadOnly: (args: Arguments) => boolean): CommandRule {
	return { isReadOnly: (args) => !args.some(({ isOpaque }) => isOpaque) && isReadOnly(args) };
}

/** Read-only unless an argument matches. */
function unless(denied: RegExp): CommandRule {
	return strict((args) => !args.some(({ text }) => denied.test(text)));
}

/** Read-only if the arguments, joined by blanks, match. */
function only(allowed: RegExp): CommandRule {
	return strict((args) => allowed.test(args.map(({ text }) => text).join(" ")));
}

/** Read-only with these sub-commands first (`pr_view` means `pr view`), or asked for the version. */
function queries(names: string, denied?: RegExp): CommandRule {
	const subcommands = names.split(" ").map((name) => name.replace("_", " "));
	const allowed = new RegExp(`^(?:${subcommands.join("|")}|--version)(?: |$)`);
	return strict((args) => {
		const text = args.map((arg) => arg.text).join(" ");
		return allowed.test(text) && !denied?.test(text);
	});
}

/** An index that bash would expand again, as in `read 'a[$(rm x)]'`, is no harmless name. */
function isHarmlessName({ text, isKnown }: Argument): boolean {
	return isHarmlessAssignment(text) && !(isKnown && /\$\(|`/.test(text));
}

function operandsOf(args: Arguments, valued = ""): Arguments {
	return parseOptions(args, { valued }).operands;
}

/** Without `-s`, and without an operand that isn't a format: that would be the time to set. */
function isClockReading(args: Arguments): boolean {
	const options = parseOptions(args, { valued: "-d -f -r -I? --date --file --reference" });
	return options.given.every(({ name }) => !/^-s$|^--s/.test(name)) && options.operands.every(isFormat);
}

function isFormat({ text }: Argument): boolean {
	return text.startsWith("+");
}
