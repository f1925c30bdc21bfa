import { lstat, mkdir, readFile, realpath } from "node:fs/promises";
import { isAbsolute, relative, sep } from "node:path";
import { messageOfError } from "../kernel/isolate.ts";
import { created, type Edit, edited } from "./edit.ts";
import { folderOf, type Target } from "./target.ts";

/** What became of a change: nothing had to be written, it was, or why it could not be. */
export type Written =
	| { readonly done: "unchanged" | "changed" | "created" }
	| { readonly done: "failed"; readonly problem: string };

/**
 * Writes one value into a config file, all of it or nothing; what others read meanwhile is whole. Where the file must lie
 * `within` a folder, a link that leads out of it is not followed.
 */
export async function write(target: Target, edit: Edit, within?: string): Promise<Written> {
	try {
		if (within !== undefined && (await leadsOut(target.file, within)))
			return { done: "failed", problem: "it is a link that leads out of the project" };
		return await tryToWrite(target, edit);
	} catch (error) {
		return { done: "failed", problem: messageOfError(error) };
	}
}

/** A file's text; undefined where there is none. Rejects where it can't be read. */
export async function textOf(file: string): Promise<string | undefined> {
	try {
		return await readFile(file, "utf8");
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
		throw error;
	}
}

async function leadsOut(file: string, folder: string): Promise<boolean> {
	const exists = await lstat(file).then(
		() => true,
		() => false,
	);
	if (!exists) return false;
	const way = relative(await realpath(folder), await realpath(file));
	return way === ".." || way.startsWith(`..${sep}`) || isAbsolute(way);
}

async function tryToWrite(target: Target, edit: Edit): Promise<Written> {
	const before = await textOf(target.file);
	if (before === undefined && edit.value === undefined) return { done: "unchanged" };
	const after = before === undefined ? { text: created(edit) } : await edited(before, edit, target);
	if ("problem" in after) return { done: "failed", problem: after.problem };
	if (after.text === before) return { done: "unchanged" };
	const { sync: writeFileAtomic } = await import("write-file-atomic");
	await mkdir(folderOf(target.file), { recursive: true });
	writeFileAtomic(target.file, after.text);
	return { done: before === undefined ? "created" : "changed" };
}
