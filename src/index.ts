import { existsSync } from "node:fs";
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

/** The whole extension in one file, as a published package carries it: loading many small files is what costs time. */
const bundle = new URL("../dist/extension.js", import.meta.url);

/** Pi's entry. Loads the bundled extension where there is one, else the sources. */
export default async function entry(pi: ExtensionAPI): Promise<void> {
	const extension: typeof import("./extension.ts") = existsSync(bundle)
		? await import(bundle.href)
		: await import("./extension.ts");
	extension.default(pi);
}
