/** Columns that every layout may count on. */
const NARROWEST = 20;

/** Text of one line: what a terminal would take for a command is a blank. */
export function plain(text: string): string {
	return text.replace(/\p{Cc}+/gu, " ").trim();
}

/** A text cut to so many characters. */
export function cut(text: string, length: number): string {
	const chars = [...text];
	return chars.length <= length ? text : `${chars.slice(0, Math.max(0, length - 1)).join("")}…`;
}

/** A text as lines of at most `width` columns; all but the first begin with `indent`. A word that is too long is broken. */
export function wrapped(text: string, width: number, indent = ""): readonly string[] {
	const lines: string[] = [];
	let line = "";
	const room = () => Math.max(1, Math.max(width, NARROWEST) - (lines.length === 0 ? 0 : indent.length));
	const push = () => {
		lines.push(lines.length === 0 ? line : indent + line);
		line = "";
	};
	for (const word of text.split(" ")) {
		const joined = line === "" ? word : `${line} ${word}`;
		if (lengthOf(joined) <= room()) {
			line = joined;
			continue;
		}
		if (line !== "") push();
		let rest = [...word];
		while (rest.length > room()) {
			line = rest.slice(0, room()).join("");
			rest = rest.slice(room());
			push();
		}
		line = rest.join("");
	}
	if (line !== "" || lines.length === 0) push();
	return lines;
}

/** Rows of cells below each other, two blanks apart and indented by two; the last cell of a row wraps within its column. */
export function table(rows: readonly (readonly string[])[], width: number): readonly string[] {
	const count = Math.max(0, ...rows.map((row) => row.length));
	const widths = Array.from({ length: Math.max(0, count - 1) }, (_, at) =>
		Math.max(...rows.map((row) => (at < row.length - 1 ? lengthOf(row[at] ?? "") : 0))),
	);
	const used = widths.reduce((sum, each) => sum + each + 2, 2);
	if (width - used < NARROWEST)
		return rows.flatMap((row) => wrapped(row.join("  "), width - 2, "  ").map((line) => `  ${line}`));
	return rows.flatMap((row) => {
		const head = row.slice(0, -1).map((cell, at) => `${cell}${" ".repeat((widths[at] ?? 0) - lengthOf(cell))}  `);
		const lead = `  ${head.join("")}`;
		const [first = "", ...more] = wrapped(row.at(-1) ?? "", width - lengthOf(lead));
		return [`${lead}${first}`.trimEnd(), ...more.map((line) => `${" ".repeat(lengthOf(lead))}${line}`)];
	});
}

/** A number of tokens or bytes as people read it. */
export function figure(value: number): string {
	return Math.round(value).toLocaleString("en-US");
}

/** So many of a thing, in words. */
export function counted(count: number, thing: string): string {
	return `${figure(count)} ${thing}${count === 1 ? "" : "s"}`;
}

function lengthOf(text: string): number {
	return [...text].length;
}
