import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { knobTable, viewExample, withBlock } from "../scripts/docs/blocks.ts";
import { messagesPage } from "../scripts/docs/messages-page.ts";

const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");

test("the README's knob table is what the schemas say (npm run docs writes it)", () => {
	expect(withBlock(readme, "knobs", knobTable())).toBe(readme);
});

test("the README's before and after is what a real session sends (npm run docs writes it)", async () => {
	expect(withBlock(readme, "view", await viewExample())).toBe(readme);
});

test("spec/messages.md is what the plugins declare and real sessions show (npm run docs writes it)", async () => {
	expect(await messagesPage()).toBe(readFileSync(new URL("../spec/messages.md", import.meta.url), "utf8"));
});
