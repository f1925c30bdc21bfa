import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { knobTable, optionTable, PLUGIN_SECTIONS, viewExample, withBlock } from "./docs/blocks.ts";
import { collect, messagesPage } from "./docs/messages.ts";

/**
 * Writes what is generated of the docs: the knob tables of README.md and of the plugins' READMEs, the before/after of a
 * real view, and spec/messages.md.
 */
const view = await viewExample();
rewrite("README.md", (text) => withBlock(withBlock(text, "knobs", knobTable()), "view", view));
for (const plugin of Object.keys(PLUGIN_SECTIONS))
	rewrite(`plugins/${plugin}/README.md`, (text) => withBlock(text, "options", optionTable(plugin)));
mkdirSync(fileURLToPath(new URL("../spec/", import.meta.url)), { recursive: true });
writeFileSync(fileOf("spec/messages.md"), messagesPage(await collect()));

function rewrite(path: string, change: (text: string) => string): void {
	const file = fileOf(path);
	writeFileSync(file, change(readFileSync(file, "utf8")));
}

function fileOf(path: string): string {
	return fileURLToPath(new URL(`../${path}`, import.meta.url));
}
