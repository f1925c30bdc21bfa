import { dirname, resolve } from "node:path";
import { placeText, type Spot, spotIn, type Warning, warningAt } from "./check.ts";
import { isRecord } from "./read/block.ts";
import type { Source } from "./sources/book.ts";
import { isInside, realFolder } from "./sources/places.ts";

/**
 * The `log` section of a source with its path made absolute: a path is relative to the file that says it. A project
 * whose code nobody approved may not name one outside of itself.
 */
export function logSection(
	given: unknown,
	{
		source,
		spot,
		root,
		isProjectApproved,
		warn,
	}: {
		readonly source: Source;
		readonly spot: Spot;
		/** The project's, a real path. */
		readonly root: string;
		readonly isProjectApproved: () => boolean;
		readonly warn: (warning: Warning) => void;
	},
): unknown {
	if (!isRecord(given) || typeof given.file !== "string" || given.file === "") return given;
	const file = resolve(dirname(source.file), given.file);
	const mayNameAny = source.scope === "user" || source.isCode;
	if (mayNameAny || isInside(realFolder(file), root) || isProjectApproved()) return { ...given, file };
	const at = spotIn(spot, "file");
	const outside = `${at.key} in ${placeText(at)} is ${file}, outside of the project, which nobody approved.`;
	warn(warningAt(at, `${outside} The value is ignored.`));
	return { ...given, file: undefined };
}
