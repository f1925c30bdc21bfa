import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { knobTable, viewExample, withBlock } from "./docs/blocks.ts";
import { schemaFile } from "./docs/schema.ts";

/** Writes what is generated: the JSON schema of the config, and README.md's knob table and before/after of a real view. */
const pathOf = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const readme = pathOf("README.md");
const text = readFileSync(readme, "utf8");
mkdirSync(pathOf("schema"), { recursive: true });
writeFileSync(pathOf("schema/config.json"), schemaFile());
writeFileSync(readme, withBlock(withBlock(text, "knobs", knobTable()), "view", await viewExample()));
