/**
 * A text on one line as it is spelled: what would move a terminal's cursor, turn the direction of writing or show nothing
 * is an escape, so that a file's name can't pass for another, nor for words of ours.
 */
export function printable(text: string): string {
	return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, (char) => `\\u{${char.codePointAt(0)?.toString(16)}}`);
}

/** The same for a text whose line ends are meant. */
export function printableLines(text: string): string {
	return text.split("\n").map(printable).join("\n");
}
