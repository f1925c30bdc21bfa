import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { knobTable, viewExample, withBlock } from "./docs/blocks.ts";
import { messagesPage } from "./docs/messages-page.ts";
import { schemaFile } from "./docs/schema.ts";

/**
 * Writes what is generated: the JSON schema of the config, the parts of README.md that are (the knob table and the
 * before/after of a real view), and spec/messages.md.
 */
const pathOf = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const readme = pathOf("README.md");
const text = readFileSync(readme, "utf8");
mkdirSync(pathOf("schema"), { recursive: true });
writeFileSync(pathOf("schema/config.json"), schemaFile());
writeFileSync(readme, withBlock(withBlock(text, "knobs", knobTable()), "view", await viewExample()));
writeFileSync(pathOf("spec/messages.md"), await messagesPage());
