import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import { type Collected, collect, messagesPage } from "../scripts/docs/messages.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const read = (path: string) => readFileSync(`${root}/${path}`, "utf8");
const sources = globSync(["plugins/*/*.ts", "src/kernel/*.ts", "src/extension.ts"], { cwd: root })
	.filter((path) => !/\.test\.ts$|\/options\.ts$/.test(path))
	.map((path) => [path, read(path)] as const);

/** Words of the plugins that nobody reads in a session: what goes to the log, labels that Pi shows nowhere, fallbacks. */
const UNREAD = [
	...["more than", "shrinks are active", "its result was out of the context for", "cancelled by the model"],
	...["Mulligan rewind", "Mulligan shrink", "Mulligan cancel", "Mulligan audit"],
	"change of the agent's view",
];

describe("spec/messages.md", () => {
	let collected: Collected;
	let page: string;

	beforeAll(async () => {
		collected = await collect();
		page = messagesPage(collected);
	});

	test("is what real sessions tell (npm run docs writes it)", () => {
		expect(read("spec/messages.md")).toBe(page);
	});

	test("has every refusal", () => {
		const codes = sources.flatMap(([, text]) => codesIn(text));
		const told = [...collected.values()].flat().flatMap(({ code }) => code ?? []);
		expect([...new Set(told)].sort()).toEqual([...new Set(codes)].sort());
		expect(codes.length).toBeGreaterThan(10);
	});

	test("has every sentence of the plugins", () => {
		const plain = page.replace(/\s+/g, " ");
		const sentences = sources.filter(([path]) => path.startsWith("plugins/")).flatMap(([, text]) => sentencesIn(text));
		const missing = sentences.filter((sentence) => !plain.includes(sentence) && !UNREAD.includes(sentence));
		expect(missing).toEqual([]);
		expect(sentences.length).toBeGreaterThan(100);
		expect(UNREAD.filter((sentence) => !sentences.includes(sentence))).toEqual([]);
	});
});

/** The codes by which refusals name their reasons. */
function codesIn(text: string): string[] {
	const named = /\b(?:code(?::| =)|refused:) "([a-z-]+)"|\brefuse\((?:(?!\brefuse\().)*?"([a-z-]+)",?\s*\);/gs;
	return [...text.matchAll(named)].flatMap(([, first, second]) => first ?? second ?? []);
}

/** The fixed parts of a source's texts that have several words, one line each. */
function sentencesIn(text: string): string[] {
	const code = text.replace(/\/\*.*?\*\//gs, "").replace(/^\s*\/\/.*$/gm, "");
	const literals = [...code.matchAll(/`((?:[^`\\]|\\.)*)`|"((?:[^"\\\n]|\\.)*)"/g)].map(([, a, b]) => a ?? b ?? "");
	return literals
		.flatMap((literal) => literal.split(/\$\{(?:[^{}]|\{[^}]*\})*\}|\\n/))
		.map((part) => part.replaceAll('\\"', '"').replace(/\s+/g, " ").trim())
		.filter((part) => part.length >= 8 && part.includes(" ") && !part.includes("${"));
}
