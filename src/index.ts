import { existsSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

/** This folder, also where Pi was given a link to this file and does not resolve it. */
const here = dirname(realpathSync(fileURLToPath(import.meta.url)));
/** The whole extension bundled, as a published package carries it: loading many small files is what costs time. */
const bundle = join(here, "..", "dist", "extension.js");

/** Pi's entry. Loads the bundled extension where there is one, else the sources. */
export default async function entry(pi: ExtensionAPI): Promise<void> {
	const file = existsSync(bundle) ? bundle : join(here, "extension.ts");
	const extension: typeof import("./extension.ts") = await import(pathToFileURL(file).href);
	extension.default(pi);
}
