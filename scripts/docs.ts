import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { knobTable, viewExample, withBlock } from "./docs/blocks.ts";
import { messagesPage } from "./docs/messages-page.ts";

/** Writes the generated parts of README.md, the knob table and the before/after of a real view, and spec/messages.md. */
const readme = fileURLToPath(new URL("../README.md", import.meta.url));
const text = readFileSync(readme, "utf8");
writeFileSync(readme, withBlock(withBlock(text, "knobs", knobTable()), "view", await viewExample()));
writeFileSync(fileURLToPath(new URL("../spec/messages.md", import.meta.url)), await messagesPage());
