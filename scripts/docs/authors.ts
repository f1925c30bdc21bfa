import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { withBlock } from "./blocks.ts";

const root = new URL("../../", import.meta.url);
const read = (path: string) => readFileSync(fileURLToPath(new URL(path, root)), "utf8");

/** The hooks of the kernel in the order of their declaration, each with its type. */
export function declaredHooks(): ReadonlyMap<string, string> {
	const [, body = ""] = read("src/kernel/hooks.ts").match(/^export interface Hooks \{\n([\s\S]*?)^\}/m) ?? [];
	return new Map([...body.matchAll(/^\treadonly (\w+): (.*);$/gm)].map(([, name = "", type = ""]) => [name, type]));
}

/** The names of the hooks that have an example. */
export function exampledHooks(): readonly string[] {
	return readdirSync(fileURLToPath(new URL("examples/hooks", root)))
		.filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"))
		.map((file) => file.replace(/\.ts$/, ""));
}

/** The guide for authors with its examples as their files have them. */
export function pluginsPage(page: string): string {
	return EXAMPLES.reduce((text, name) => withBlock(text, name, code(`examples/${name}.ts`)), page);
}

const EXAMPLES = ["too-many-greps", "shrink-by-rule", "redact-secrets"];

function code(path: string): string {
	return `\`\`\`ts\n${read(path).trim()}\n\`\`\``;
}

/** The page of the hooks with each type and example as the code has it. Throws where a hook has no section or no example. */
export function hooksPage(page: string): string {
	return [...declaredHooks()].reduce((text, [name, type]) => {
		const line = new RegExp(`^- \\*\\*Type:\\*\\* .*<!-- type ${name} -->$`, "m");
		const untyped = text.replace(`- **Type:** <!-- type ${name} -->`, `- **Type:** \`\` <!-- type ${name} -->`);
		if (!line.test(untyped)) throw new Error(`spec/hooks.md has no type of ${name}.`);
		const typed = untyped.replace(line, () => `- **Type:** \`${type}\` <!-- type ${name} -->`);
		return withBlock(typed, name, code(`examples/hooks/${name}.ts`));
	}, page);
}
