import { dirname, join, relative, resolve } from "node:path";
import { isInside, realFolder } from "../sources/places.ts";

/** Which files are a project's own: those in its folder, by their name or by where they really are. */
export class Territory {
	/** The folder as it really is on disk. */
	readonly root: string;

	constructor(folder: string) {
		this.root = realFolder(folder);
	}

	/**
	 * The one name of a file of the project, however it was reached; undefined for any other file. A link in the folder that
	 * leads out of it is the project's choice, and a link from elsewhere that leads into it names the project's file.
	 */
	own(file: string): string | undefined {
		const absolute = resolve(file);
		if (isInside(absolute, this.root)) return absolute;
		const entry = upwards(absolute).find((path) => isInside(realFolder(path), this.root));
		return entry === undefined ? undefined : join(realFolder(entry), relative(entry, absolute));
	}
}

/** A path and all folders above it, the nearest first. */
function upwards(path: string): readonly string[] {
	const parent = dirname(path);
	return parent === path ? [path] : [path, ...upwards(parent)];
}
