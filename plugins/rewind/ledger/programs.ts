/** A bracket expression without the delimiter `\1`: seds disagree on whether a delimiter within one counts. */
const BRACKET = String.raw`\[(?:\^\]|\]|\^(?!\])|(?![\^\]]))(?:\[[:.=]\w*[:.=]\]|\[(?![:.=])|\\[^\]]|(?!\1)[^\]\\[])*\]`;
const PATTERN = String.raw`(?:\\[\s\S]|${BRACKET}|(?!\1)[^\\[])*`;
const TEXT = String.raw`(?:\\[\s\S]|(?!\1)[^\\])*`;
const DELIMITER = String.raw`([^\\\n\w\s[\]])`;

/** What a script of addresses and harmless commands is made of; `w`, `W` and `e`, also as flags of `s`, are left out. */
const SED_TOKENS: readonly RegExp[] = [
	String.raw`[\s;{}!,]+`,
	String.raw`#[^\n]*`,
	String.raw`\d+(?:~\d+)?|\$|[+~]\d+`,
	String.raw`(\/)${PATTERN}\1[IM]*`,
	String.raw`\\${DELIMITER}${PATTERN}\1[IM]*`,
	String.raw`s${DELIMITER}${PATTERN}\1${TEXT}\1[gpiIM\d]*`,
	String.raw`y${DELIMITER}${TEXT}\1${TEXT}\1`,
	String.raw`[aic](?:\\[\s\S]|[^\n\\])*`,
	String.raw`[btT:][ \t]*[^\s;}]*`,
	String.raw`[rR][^\n;}]*`,
	"[=dDgGhHnNpPxzqQlF]",
].map((source) => new RegExp(source, "y"));

/** Whether a sed script neither writes files nor runs commands. */
export function isPureSed(script: string): boolean {
	let at = 0;
	while (at < script.length) {
		const end = sedTokenEnd(script, at);
		if (end === undefined) return false;
		at = end;
	}
	return true;
}

function sedTokenEnd(script: string, at: number): number | undefined {
	for (const token of SED_TOKENS) {
		token.lastIndex = at;
		if (token.test(script)) return token.lastIndex;
	}
	return undefined;
}

/** Whether an awk program neither redirects nor pipes its output, nor runs commands. */
export function isPureAwk(program: string): boolean {
	const code = /[/#]/.test(program) ? program : program.replace(/"(?:\\[\s\S]|[^"\\])*"/g, '""');
	if (/system|@/.test(code) || (code.includes("getline") && code.includes("|"))) return false;
	const firstPrint = code.indexOf("print");
	return firstPrint < 0 || !/[>|]/.test(code.slice(firstPrint));
}
