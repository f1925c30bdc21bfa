import type { Document, Node } from "yaml";
import { type Block, type KeyPath, type Place, type Problem, placeless } from "./block.ts";
import { snapshot } from "./snapshot.ts";

type Yaml = typeof import("yaml");

/** How often aliases may be followed in all: a small file must not grow into gigabytes. */
const MAX_ALIASES = 100;

/**
 * A YAML text, one document, and where its keys stand. Nothing but comments is an empty block. Rejects where aliases are
 * followed too often, or name what is not there.
 */
export async function readYaml(text: string): Promise<Block | Problem> {
	const yaml = await import("yaml");
	const lines = new yaml.LineCounter();
	const document = yaml.parseDocument(text, { lineCounter: lines, prettyErrors: false, logLevel: "error" });
	const placeAt = (offset: number): Place => {
		const { line, col } = lines.linePos(offset);
		return { line, column: col };
	};
	const [error] = document.errors;
	if (error) return { problem: error.message, place: placeAt(error.pos[0]) };
	if (document.contents === null) return placeless({});
	return {
		value: snapshot(document.toJS({ maxAliasCount: MAX_ALIASES })),
		placeOf: (path) => {
			const offset = offsetOf(yaml, document, path);
			return offset === undefined ? undefined : placeAt(offset);
		},
	};
}

/** Of the key of a pair, or of the item of a list. */
function offsetOf(yaml: Yaml, document: Document.Parsed, path: KeyPath): number | undefined {
	let node: unknown = document.contents;
	let named: Node | null | undefined = document.contents;
	for (const step of path) {
		const parent = yaml.isAlias(node) ? node.resolve(document) : node;
		[named, node] = stepInto(yaml, parent, step);
	}
	return named?.range?.[0];
}

function stepInto(yaml: Yaml, node: unknown, step: string | number): readonly [Node | undefined, unknown] {
	if (yaml.isSeq<Node>(node)) return [node.items[Number(step)], node.items[Number(step)]];
	if (!yaml.isMap<Node, Node>(node)) return [undefined, undefined];
	const pair = node.items.find(({ key }) => yaml.isScalar(key) && String(key.value) === String(step));
	return [pair?.key, pair?.value];
}
