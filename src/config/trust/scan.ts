import { existsSync, readFileSync, statSync } from "node:fs";
import { extname, resolve } from "node:path";
import type { Jiti } from "jiti";
import { hashOf } from "./approvals.ts";
import { resolveImport, toScript } from "./modules.ts";

export interface ScannedFile {
	readonly file: string;
	/** SHA-256 in hex. */
	readonly hash: string;
}

const CODE = new Set([".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".tsx", ".mtsx", ".ctsx"]);

/**
 * The project's files that would run if these did: they, what they import, and the files that the given ones name in a
 * string, as the plugins in a config. Nothing runs. An import that is only worked out at run time isn't found.
 */
export function scan(
	entries: readonly string[],
	{ jiti, own }: { readonly jiti: Jiti; readonly own: (file: string) => string | undefined },
): readonly ScannedFile[] {
	const found = new Map<string, ScannedFile>();
	const visit = (given: string, isEntry: boolean) => {
		const file = own(given);
		if (file === undefined || found.has(file) || !isFile(file)) return;
		const bytes = readFileSync(file);
		found.set(file, { file, hash: hashOf(bytes) });
		if (!CODE.has(extname(file))) return;
		const source = bytes.toString("utf8");
		for (const id of importedIds(jiti, file, source)) {
			const target = resolveImport(jiti, id, file);
			if (target !== undefined) visit(target, false);
		}
		if (isEntry) for (const path of namedPaths(source, file)) visit(path, true);
	};
	for (const entry of entries) visit(entry, true);
	return [...found.values()];
}

/** What a file imports by a plain string. A file that isn't valid imports nothing: loading it says why. */
function importedIds(jiti: Jiti, file: string, source: string): readonly string[] {
	let script: string;
	try {
		script = toScript(jiti, { file, source, isAsync: true });
	} catch {
		return [];
	}
	return [...script.matchAll(/\b(?:jitiImport|require|jitiESMResolve)\(\s*(["'`])((?:\\.|(?!\1).)*)\1\s*\)/g)].map(
		([, , id]) => id ?? "",
	);
}

/** The code files that stand in a text as relative paths. */
function namedPaths(source: string, file: string): readonly string[] {
	return [...source.matchAll(/(["'`])(\.{1,2}\/(?:(?!\1)[^\n\\])*)\1/g)]
		.map(([, , path]) => resolve(file, "..", path ?? ""))
		.filter((path) => CODE.has(extname(path)) && isFile(path));
}

function isFile(file: string): boolean {
	return existsSync(file) && statSync(file).isFile();
}
