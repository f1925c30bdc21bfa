import { isDeepStrictEqual } from "node:util";
import { applyEdits, type FormattingOptions, modify, type ParseError, parse } from "jsonc-parser";
import { parseErrorText } from "../config/read/json.ts";
import { SCHEMA_URL } from "../version.ts";
import type { Target } from "./target.ts";

/** A change of one value in a config; undefined takes it out. */
export interface Edit {
	readonly path: readonly string[];
	readonly value: unknown;
}

/** A config's text after an edit; or why it can't be edited. */
export type Edited = { readonly text: string } | { readonly problem: string };

/** The text of a new config with one value. */
export function created({ path, value }: Edit): string {
	const block = { $schema: SCHEMA_URL, ...(path.reduceRight((inner, key) => ({ [key]: inner }), value) as object) };
	return `${JSON.stringify(block, null, "\t")}\n`;
}

/** Change one value in a config's text. Comments, order, indentation, line ends and a byte order mark stay. */
export async function edited(text: string, edit: Edit, { format, at }: Pick<Target, "format" | "at">): Promise<Edited> {
	const mark = text.startsWith("\uFEFF") ? "\uFEFF" : "";
	const bare = text.slice(mark.length);
	const isJson = format === "json" || (format === "rc" && bare.trimStart().startsWith("{"));
	const whole = { path: [...at, ...edit.path], value: edit.value };
	const outcome = isJson ? editedJson(bare, whole) : await editedYaml(bare, whole);
	return "problem" in outcome ? outcome : { text: mark + outcome.text };
}

/** The value at a path of a config's text; undefined where it has none or can't be read. */
export async function valueIn(text: string, path: readonly string[], target: Pick<Target, "format" | "at">) {
	const bare = text.replace(/^\uFEFF/, "");
	const isJson = target.format === "json" || (target.format === "rc" && bare.trimStart().startsWith("{"));
	const whole = [...target.at, ...path];
	if (isJson) return at(parse(bare, [], { allowTrailingComma: true }), whole);
	const { parseDocument } = await import("yaml");
	return at(parseDocument(bare).toJS(), whole);
}

function editedJson(text: string, { path, value }: Edit): Edited {
	const errors: ParseError[] = [];
	const before: unknown = parse(text, errors, { allowTrailingComma: true, allowEmptyContent: true });
	const [error] = errors;
	if (error) return { problem: `it does not parse: ${parseErrorText(error, text)} at ${placeOf(text, error.offset)}` };
	const blocked = blockedAt(before, path);
	if (blocked !== undefined) return { problem: `${blocked} is no object in it` };
	if (value === undefined && at(before, path) === undefined) return { text };
	const formatting = value === undefined ? {} : { formattingOptions: formattingOf(text) };
	const changed = applyEdits(text, modify(text, [...path], value, formatting));
	if (isDeepStrictEqual(at(parse(changed, [], { allowTrailingComma: true }), path), value)) return { text: changed };
	return { problem: `it names ${path.at(-1)} twice` };
}

async function editedYaml(text: string, { path, value }: Edit): Promise<Edited> {
	const { isMap, parseDocument } = await import("yaml");
	const doc = parseDocument(text.replaceAll("\r\n", "\n"));
	const [error] = doc.errors;
	if (error) return { problem: `it does not parse: ${error.message.split("\n")[0]}` };
	const before: unknown = doc.toJS() ?? undefined;
	const blocked = blockedAt(before, path, null);
	if (blocked !== undefined) return { problem: `${blocked} is no object in it` };
	if (value === undefined && at(before, path) === undefined) return { text };
	if (value === undefined) doc.deleteIn(path);
	else {
		const missing = path.findIndex(
			(_, length) => !isMap(length === 0 ? doc.contents : doc.getIn(path.slice(0, length))),
		);
		const from = missing === -1 ? path.length : missing;
		const inner = path.slice(from).reduceRight<unknown>((rest, key) => ({ [key]: rest }), value);
		const node = typeof inner === "object" && inner !== null ? doc.createNode(inner) : inner;
		if (from === 0) doc.contents = node as never;
		else doc.setIn(path.slice(0, from), node);
	}
	const changed = doc.toString({ lineWidth: 0 });
	if (!isDeepStrictEqual(at(parseDocument(changed).toJS(), path), value)) return { problem: "it can't be written so" };
	return { text: text.includes("\r\n") ? changed.replaceAll("\n", "\r\n") : changed };
}

/**
 * The part of the path at which something stands that is no object, so that nothing can be put into it. What is `empty`
 * may be filled.
 */
function blockedAt(root: unknown, path: readonly string[], empty?: null): string | undefined {
	for (let length = 0; length < path.length; length++) {
		const part = at(root, path.slice(0, length));
		if (part === undefined || part === empty) return undefined;
		if (typeof part !== "object" || part === null || Array.isArray(part))
			return path.slice(0, length).join(".") || "the whole";
	}
	return undefined;
}

function at(root: unknown, path: readonly string[]): unknown {
	return path.reduce<unknown>(
		(part, key) =>
			typeof part === "object" && part !== null && Object.hasOwn(part, key)
				? (part as Record<string, unknown>)[key]
				: undefined,
		root,
	);
}

/** How a text is laid out. */
function formattingOf(text: string): FormattingOptions {
	const indent = /\n([ \t]+)\S/.exec(text)?.[1] ?? "\t";
	const insertSpaces = !indent.startsWith("\t");
	return { insertSpaces, tabSize: insertSpaces ? indent.length : 1, eol: text.includes("\r\n") ? "\r\n" : "\n" };
}

function placeOf(text: string, offset: number): string {
	const before = text.slice(0, offset).split("\n");
	return `line ${before.length} column ${(before.at(-1) ?? "").length + 1}`;
}
