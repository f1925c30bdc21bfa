import { statSync } from "node:fs";
import { isBuiltin } from "node:module";
import { extname, resolve } from "node:path";
import type { Jiti } from "jiti";
import { fileAt, packageFile } from "../plugins/locate.ts";
import { readOnce } from "../read/file.ts";
import { hashOf } from "./approvals.ts";
import { isCode, isEvaluated, resolveImport, toScript } from "./modules.ts";

export interface ScannedFile {
	readonly file: string;
	/** SHA-256 in hex. */
	readonly hash: string;
	/** It belongs to another human. */
	readonly isForeign: boolean;
}

/**
 * The project's files that would run if these did: they, what they import, and the files that their own code names in a
 * string, as a config does with plugins. Nothing runs. An import that is only worked out at run time isn't found.
 */
export function scan(
	entries: readonly string[],
	{ jiti, own }: { readonly jiti: Jiti; readonly own: (file: string) => string | undefined },
): readonly ScannedFile[] {
	const found: ScannedFile[] = [];
	const seen = new Set<string>();
	const visit = (given: string, entry: string) => {
		const file = own(given) ?? given;
		const isOwn = own(file) !== undefined;
		if (seen.has(file) || !(isOwn || isEvaluated(file)) || !isFile(file)) return;
		seen.add(file);
		const { bytes, isForeign } = readOnce(file);
		if (isOwn) found.push({ file, hash: hashOf(bytes), isForeign });
		if (!isCode(file)) return;
		const text = plainText(jiti, file, Buffer.from(bytes).toString("utf8"));
		for (const target of importedFiles(jiti, file, text)) visit(target, entry);
		if (!isEvaluated(file)) return;
		// A path counts from the config that exports it, whichever file spells it.
		for (const path of namedPaths(text, [file, entry])) visit(path, entry);
		for (const path of namedPackages(jiti, text, entry)) if (own(path) !== undefined) visit(path, entry);
	};
	for (const entry of entries) visit(entry, entry);
	return found;
}

/** Code without what is only types. Nothing, where it isn't valid: loading it says why. */
function plainText(jiti: Jiti, file: string, source: string): string {
	if (!/tsx?$/.test(extname(file))) return source;
	try {
		return toScript(jiti, { file, source, isAsync: true });
	} catch {
		return "";
	}
}

/** The files that a text imports by a plain string; what there isn't, loading it says. */
function importedFiles(jiti: Jiti, file: string, text: string): readonly string[] {
	return [...text.matchAll(IMPORT)].flatMap(([, , id = ""]) => {
		try {
			return resolveImport(jiti, id, file) ?? [];
		} catch {
			return [];
		}
	});
}

/** A string right behind a word that imports, with comments and an opening bracket between them. */
const IMPORT = new RegExp(
	[
		/\b(?:from|import|require|jitiImport|jitiESMResolve)\b/,
		/(?:\s|\(|\/\*(?:(?!\*\/)[\s\S])*\*\/|\/\/.*\n)*/,
		/(["'`])((?:\\.|(?!\1)[^\\\n])*)\1/,
	]
		.map(({ source }) => source)
		.join(""),
	"g",
);

/** The code files that stand in a text as relative paths, as a config names plugins, seen from any of these files. */
function namedPaths(text: string, from: readonly string[]): readonly string[] {
	const paths = [...text.matchAll(/(["'`])(\.{1,2}\/(?:(?!\1)[^\n\\])*)\1/g)].map(([, , path]) => path ?? "");
	return paths
		.filter((path) => /[^./]/.test(path))
		.flatMap((path) => from.flatMap((file) => fileAt(resolve(file, "..", path)) ?? []))
		.filter(isCode);
}

/** The code of the packages that stand in a text as an item of a list or the value of a key, seen from a file. */
function namedPackages(jiti: Jiti, text: string, from: string): readonly string[] {
	const names = [...text.matchAll(/(?<=[[,:]\s*)(["'`])((?:@[\w.~-]+\/)?[\w~-][\w.~-]*(?:\/[\w.~-]+)*)\1/g)];
	return [...new Set(names.map(([, , name]) => name ?? ""))]
		.filter((name) => !isBuiltin(name))
		.flatMap((name) => {
			const found = packageFile(name, from);
			if (found !== "exports nothing to require") return found?.file ?? [];
			return resolveImport(jiti, name, from) ?? [];
		})
		.filter(isCode);
}

function isFile(file: string): boolean {
	return statSync(file, { throwIfNoEntry: false })?.isFile() ?? false;
}
