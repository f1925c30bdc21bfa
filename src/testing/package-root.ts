import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The folder of this package: of the repository, or of the installed package, in which this file lies elsewhere. */
export const packageRoot = rootAbove(dirname(fileURLToPath(import.meta.url)));

function rootAbove(folder: string): string {
	const manifest = join(folder, "package.json");
	if (existsSync(manifest) && JSON.parse(readFileSync(manifest, "utf8")).name === "pi-mulligan") return folder;
	if (dirname(folder) === folder) throw new Error("pi-mulligan/testing lies in no folder of pi-mulligan.");
	return rootAbove(dirname(folder));
}
