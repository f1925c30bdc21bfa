import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { knobTable, viewExample, withBlock } from "./docs/blocks.ts";

/** Writes the generated parts of README.md: the knob table and the before/after of a real view. */
const readme = fileURLToPath(new URL("../README.md", import.meta.url));
const text = readFileSync(readme, "utf8");
writeFileSync(readme, withBlock(withBlock(text, "knobs", knobTable()), "view", await viewExample()));
