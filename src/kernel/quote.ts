/** Characters of a text that a message quotes. */
const MOST_CHARS = 60;

/** What someone typed, fit for one line of a message: in quotes, escaped as in JSON, and cut after 60 characters. */
export function quoted(text: string): string {
	const shown = [...text.slice(0, 2 * MOST_CHARS)].slice(0, MOST_CHARS).join("");
	const line = JSON.stringify(shown).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, escaped);
	return shown.length === text.length ? line : `${line.slice(0, -1)}…" (${text.length} characters)`;
}

function escaped(char: string): string {
	return `\\u{${char.codePointAt(0)?.toString(16)}}`;
}
