import { posix } from "node:path";
import { type Options, valuesOf } from "./options.ts";
import { resolvePath } from "./paths.ts";
import { type Argument, known, UNKNOWN } from "./words.ts";

/** What `cp`, `mv`, `ln` and `install` write: the last operand, or a name in it for each source if it is a directory. */
export function transferred(options: Options): Argument[] {
	const [directory] = valuesOf(options, "-t --target-directory");
	if (directory !== undefined) return options.operands.map((source) => inside(directory, source));
	const sources = options.operands.slice(0, -1);
	const last = options.operands.at(-1);
	if (last === undefined || sources.length === 0) return [];
	return isDirectory(last, sources) ? sources.map((source) => inside(last, source)) : [last];
}

/** The paths as seen from where a command started that first entered `directory`. */
export function relocated(paths: readonly Argument[], directory: Argument): readonly Argument[] {
	return paths.map((path) => {
		if (!path.isKnown) return path;
		const place = resolvePath(path.text, directory.isKnown ? directory.text : undefined);
		return place === undefined ? UNKNOWN : known(place);
	});
}

function isDirectory(last: Argument, sources: readonly Argument[]): boolean {
	if (/(?:^|\/)(?:\.{1,2})?$/.test(last.text)) return true;
	return sources.length > 1 && !sources.some(({ isOpaque }) => isOpaque);
}

function inside(directory: Argument, source: Argument): Argument {
	if (!directory.isKnown || !source.isKnown) return UNKNOWN;
	return known(`${directory.text}/${posix.basename(source.text)}`);
}
