import { statSync } from "node:fs";
import { createRequire, isBuiltin } from "node:module";
import { dirname, extname, isAbsolute, join, resolve, win32 } from "node:path";
import { fileURLToPath } from "node:url";
import { isInside, realFolder } from "../sources/places.ts";

/** Where the code of an entry lies, or why it cannot be had. */
export type Located = { readonly file: string } | { readonly problem: string };

/** Who says a path or a package, and what that one may reach. */
export interface Speaker {
	readonly file: string;
	/** The folder that the code must lie in, links resolved; undefined for the user's own config, which may name any. */
	readonly within: string | undefined;
	/** Folders in which packages are looked for once none is found beside the file. */
	readonly packageFolders: readonly string[];
}

const EXTENSIONS = [".ts", ".mts", ".js", ".mjs", ".cjs"];

/** Whether a text names a file, not a package. */
export function isPath(text: string): boolean {
	return /^\.\.?(?:[\\/]|$)/.test(text) || isAbsolute(text) || win32.isAbsolute(text);
}

/** The file that a path or the name of a package stands for. A path may leave out the extension, or name a folder. */
export async function locate(text: string, speaker: Speaker): Promise<Located> {
	const { within } = speaker;
	const located = isPath(text) ? ofPath(text, speaker) : await ofPackage(text, speaker);
	if ("problem" in located || within === undefined || isInside(realFolder(located.file), within)) return located;
	return { problem: `${located.file} lies outside of the project, whose config may only name code of its own` };
}

function ofPath(text: string, { file: saidBy }: Speaker): Located {
	const path = resolve(dirname(saidBy), text);
	const file = fileAt(path);
	return file === undefined ? { problem: `there is no file ${path}` } : { file };
}

/** The file that a path stands for: itself, with an extension, or the index of a folder. */
export function fileAt(path: string): string | undefined {
	const candidates = [
		path,
		...(extname(path) === "" ? EXTENSIONS.map((extension) => path + extension) : []),
		...EXTENSIONS.map((extension) => join(path, `index${extension}`)),
	];
	return candidates.find((candidate) => statSync(candidate, { throwIfNoEntry: false })?.isFile());
}

async function ofPackage(name: string, speaker: Speaker): Promise<Located> {
	const { file: saidBy, packageFolders } = speaker;
	for (const from of [saidBy, ...packageFolders.map((folder) => join(folder, "package.json"))]) {
		const file = isBuiltin(name) ? undefined : await resolved(name, from);
		if (file !== undefined) return { file };
	}
	const hint = "file" in ofPath(name, speaker) ? `; a path begins with ./, as in "./${name}"` : "";
	return { problem: `there is no built-in plugin and, seen from ${dirname(saidBy)}, no package of this name${hint}` };
}

async function resolved(name: string, from: string): Promise<string | undefined> {
	const file = packageFile(name, from);
	if (file !== "exports nothing to require") return file?.file;
	const { createJiti } = await import("jiti");
	const url = createJiti(from).esmResolve(name, { try: true });
	return url === undefined ? undefined : fileURLToPath(url);
}

/** As Node resolves a package from a file. One that exports nothing to `require` is left to jiti. */
export function packageFile(
	name: string,
	from: string,
): { readonly file: string } | "exports nothing to require" | undefined {
	try {
		return { file: createRequire(from).resolve(name) };
	} catch (error) {
		const isHidden = (error as NodeJS.ErrnoException).code === "ERR_PACKAGE_PATH_NOT_EXPORTED";
		return isHidden ? "exports nothing to require" : undefined;
	}
}
