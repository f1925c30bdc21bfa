/** Variables that decide which programs run, or what else a program runs or writes. */
const HAZARDOUS =
	/^(?:PATH|HOME|IFS|ENV|SHELL|BASH_ENV|BASHOPTS|SHELLOPTS|PS4|PROMPT_COMMAND|EDITOR|VISUAL|BROWSER|LESS(?:OPEN|CLOSE)|MANOPT|NODE_(?:OPTIONS|PATH|REPL_\w+)|PYTHON\w+|PERL5?(?:LIB|OPT|DB)\w*|RUBY(?:OPT|LIB)|JAVA_TOOL_OPTIONS|RIPGREP_CONFIG_PATH|LD_\w+|XDG_CONFIG\w*|TAR_OPTIONS|DYLD_\w+|XDG_CONFIG\w*|TAR_OPTIONS|npm_config_\w+|GIT_(?:EXTERNAL_DIFF|SSH\w*|EXEC_PATH|ASKPASS|EDITOR|SEQUENCE_EDITOR|PROXY_COMMAND|CONFIG\w*|TRACE\w*|DIR|COMMON_DIR|REDIRECT_\w+))$/i;
const PAGER = /PAGER$/i;
const HARMLESS_PAGERS: ReadonlySet<string> = new Set(["", "cat"]);

/** Whether setting the variable leaves read-only commands read-only. */
export function isHarmlessVariable(name: string, value: string): boolean {
	return PAGER.test(name) ? HARMLESS_PAGERS.has(value) : !HAZARDOUS.test(name);
}

/** Whether the word is `NAME=value`. */
export function isAssignment(text: string): boolean {
	return /^[A-Za-z_]\w*=/.test(text);
}

/** Whether `NAME=value` leaves read-only commands read-only; a word of another form does. */
export function isHarmlessAssignment(text: string): boolean {
	if (!isAssignment(text)) return true;
	const equals = text.indexOf("=");
	return isHarmlessVariable(text.slice(0, equals), text.slice(equals + 1));
}
