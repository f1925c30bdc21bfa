import { accessSync, closeSync, constants, fstatSync, openSync, readFileSync, type Stats, statSync } from "node:fs";
import { messageOfError } from "../../kernel/isolate.ts";
import type { Problem } from "./block.ts";

/** No config is larger, and what is would hold up the start. */
const MAX_FILE_BYTES = 1024 * 1024;

/** Why a file that is there is not to be read as config; undefined: it may. */
export function unusable(file: string, { mustBeOwn }: { readonly mustBeOwn: boolean }): string | undefined {
	try {
		const wrong = unfit(statSync(file), mustBeOwn);
		if (wrong === undefined) accessSync(file, constants.R_OK);
		return wrong;
	} catch (error) {
		return messageOfError(error);
	}
}

/** The text of a file in UTF-8 without its byte order mark; undefined where there is no file. */
export function readText(file: string): { readonly text: string } | Problem | undefined {
	try {
		const stats = statSync(file, { throwIfNoEntry: false });
		if (!stats) return undefined;
		const wrong = unfit(stats, false);
		return wrong === undefined ? { text: withoutMark(readFileSync(file, "utf8")) } : { problem: wrong };
	} catch (error) {
		return { problem: messageOfError(error) };
	}
}

export interface Content {
	readonly bytes: Uint8Array;
	/** The file belongs to another human: neither the user of this process nor root. Always false on Windows. */
	readonly isForeign: boolean;
}

/** What a file holds and whose it is, both of the one file that was opened. Throws where it can't be read or is none. */
export function readOnce(file: string): Content {
	// Opening a pipe would wait for its writer.
	const opened = openSync(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
	try {
		const stats = fstatSync(opened);
		if (!stats.isFile()) throw new Error(`${file} is no file`);
		return { bytes: readFileSync(opened), isForeign: isForeign(stats) };
	} finally {
		closeSync(opened);
	}
}

/** A text without the byte order mark that some editors write. */
export function withoutMark(text: string): string {
	return text.replace(/^\uFEFF/, "");
}

/** A pipe or a device would keep its reader waiting for ever. */
function unfit(stats: Stats, mustBeOwn: boolean): string | undefined {
	if (!stats.isFile()) return "it is no file";
	if (mustBeOwn && stats.uid !== (process.getuid?.() ?? stats.uid)) return "it belongs to another user";
	return stats.size > MAX_FILE_BYTES ? `it is larger than ${MAX_FILE_BYTES / 1024} KiB` : undefined;
}

/** Root can do as it likes anyway, so its files are nobody's attack. */
function isForeign({ uid }: Stats): boolean {
	const me = process.getuid?.();
	return me !== undefined && uid !== me && uid !== 0;
}
