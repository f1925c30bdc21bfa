import { SUB_COMMANDS } from "./command.ts";
import { table, wrapped } from "./layout.ts";

/** What `/mulligan` takes, as lines for a terminal of so many columns. */
export function helpLines(width: number): readonly string[] {
	const rows = Object.entries(SUB_COMMANDS).map(([name, what]) => {
		const [, args = "", text = what] = /^([A-Z[\] ]+): (.*)$/.exec(what) ?? [];
		return [`${name} ${args}`.trim(), text];
	});
	return [
		...wrapped("/mulligan alone shows all, and in a terminal lets you switch plugins on and off. With a word:", width),
		...table([...rows, ["PLUGIN [on|off]", "switch a plugin, or flip it"]], width),
		...wrapped(
			"A change goes into the project's config where that is data, else into yours; --project and --user choose.",
			width,
		),
		...wrapped(
			"VALUE may be default, which takes the setting out of that file. Without VALUE, set tells about the setting.",
			width,
		),
	];
}
