import { realpathSync, statSync } from "node:fs";
import { resolve, sep } from "node:path";

/** Which files are a project's own: those in its folder, by their name or by where they really are. */
export class Territory {
	/** The folder as it really is on disk. */
	readonly root: string;
	readonly #given: string;

	constructor(folder: string) {
		this.#given = resolve(folder);
		this.root = realPath(this.#given);
	}

	/**
	 * The one name of a file of the project, however it was reached; undefined for any other file. A link in the folder that
	 * leads out of it is the project's choice, and a link from elsewhere that leads into it names the project's file.
	 */
	own(file: string): string | undefined {
		const absolute = resolve(file);
		if (isInside(absolute, this.root)) return absolute;
		if (isInside(absolute, this.#given)) return this.root + absolute.slice(this.#given.length);
		const real = realPath(absolute);
		return isInside(real, this.root) ? real : undefined;
	}
}

/** Whether the file belongs to another human: neither the user of this process nor root. Always false on Windows. */
export function isForeign(file: string): boolean {
	const me = process.getuid?.();
	if (me === undefined) return false;
	const { uid } = statSync(file);
	return uid !== me && uid !== 0;
}

function isInside(file: string, folder: string): boolean {
	return file === folder || file.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

function realPath(file: string): string {
	try {
		return realpathSync(file);
	} catch {
		return file;
	}
}
