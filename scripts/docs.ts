import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { hooksPage, pluginsPage } from "./docs/authors.ts";
import { knobTable, optionTable, PLUGIN_SECTIONS, panelTable, viewExample, withBlock } from "./docs/blocks.ts";
import { collect, messagesPage } from "./docs/messages.ts";
import { schemaFile } from "./docs/schema.ts";

/**
 * Writes what is generated of the docs: the tables of knobs and of /mulligan in README.md and of the plugins' READMEs, the before/after of a
 * real view, the types and examples of spec/hooks.md and spec/plugins.md, the JSON schema of the config, and spec/messages.md.
 */
const view = await viewExample();
rewrite("README.md", (text) =>
	withBlock(withBlock(withBlock(text, "knobs", knobTable()), "panel", panelTable()), "view", view),
);
for (const plugin of Object.keys(PLUGIN_SECTIONS))
	rewrite(`plugins/${plugin}/README.md`, (text) => withBlock(text, "options", optionTable(plugin)));
rewrite("spec/hooks.md", hooksPage);
rewrite("spec/plugins.md", pluginsPage);
write("schema/config.json", schemaFile());
write("spec/messages.md", messagesPage(await collect()));

function rewrite(path: string, change: (text: string) => string): void {
	write(path, change(readFileSync(fileOf(path), "utf8")));
}

function write(path: string, text: string): void {
	const file = fileOf(path);
	mkdirSync(dirname(file), { recursive: true });
	writeFileSync(file, text);
}

function fileOf(path: string): string {
	return fileURLToPath(new URL(`../${path}`, import.meta.url));
}
