import { describe, expect, test } from "vitest";
import { SCHEMA_URL } from "../version.ts";
import { created, type Edit, edited, valueIn } from "./edit.ts";
import type { Target } from "./target.ts";

const JSON_FILE = { format: "json", at: [] } as const;
const YAML_FILE = { format: "yaml", at: [] } as const;
const RC_FILE = { format: "rc", at: [] } as const;
const depth = (value: unknown): Edit => ({ path: ["rewind", "maxDepth"], value });

type Case = readonly [what: string, before: string, edit: Edit, after: string];

describe("an edit of JSON changes one value and nothing else", () => {
	test.each<Case>([
		["a value", '{\n\t"rewind": { "maxDepth": 5 }\n}\n', depth(8), '{\n\t"rewind": { "maxDepth": 8 }\n}\n'],
		[
			"beside comments and trailing commas",
			'{\n\t// why\n\t"rewind": {\n\t\t"maxDepth": 5, /* five */\n\t},\n}',
			depth(8),
			'{\n\t// why\n\t"rewind": {\n\t\t"maxDepth": 8, /* five */\n\t},\n}',
		],
		[
			"in a new section, indented as the rest",
			'{\n  "shrink": {\n    "maxActive": 3\n  }\n}\n',
			depth(8),
			'{\n  "shrink": {\n    "maxActive": 3\n  },\n  "rewind": {\n    "maxDepth": 8\n  }\n}\n',
		],
		["with a byte order mark", '\uFEFF{"rewind":{"maxDepth":5}}', depth(8), '\uFEFF{"rewind":{"maxDepth":8}}'],
		[
			"with CRLF",
			'{\r\n\t"enabled": true\r\n}\r\n',
			depth(8),
			'{\r\n\t"enabled": true,\r\n\t"rewind": {\r\n\t\t"maxDepth": 8\r\n\t}\r\n}\r\n',
		],
		["in an empty file", "", { path: ["enabled"], value: false }, '{\n\t"enabled": false\n}'],
		[
			"by taking it out",
			'{\n\t"enabled": true,\n\t"rewind": { "maxDepth": 5, "enabled": true }\n}\n',
			depth(undefined),
			'{\n\t"enabled": true,\n\t"rewind": {"enabled": true }\n}\n',
		],
		["by taking out what is not in it", '{ "enabled": true }', depth(undefined), '{ "enabled": true }'],
		["by taking out of an empty file", "", depth(undefined), ""],
		["to what it is", '{ "rewind":{"maxDepth":8} }', depth(8), '{ "rewind":{"maxDepth":8} }'],
	])("%s", async (_what, before, edit, after) => {
		expect(await edited(before, edit, JSON_FILE)).toEqual({ text: after });
	});

	test("within a manifest", async () => {
		const before = '{\n  "name": "shop",\n  "mulligan": {}\n}\n';
		const outcome = await edited(before, { path: ["enabled"], value: false }, { format: "json", at: ["mulligan"] });
		expect(outcome).toEqual({ text: '{\n  "name": "shop",\n  "mulligan": {\n    "enabled": false\n  }\n}\n' });
	});

	test.each<[string, string, string]>([
		[
			"that does not parse",
			'{\n\t"rewind": nope\n}',
			"it does not parse: a word without quotes is neither true, false nor null at line 2 column 12",
		],
		["whose section is no object", '{ "rewind": true }', "rewind is no object in it"],
		["whose section is null", '{ "rewind": null }', "rewind is no object in it"],
		["that is a list", "[]", "the whole is no object in it"],
		["that names it twice", '{ "rewind": {"maxDepth": 1}, "rewind": {"maxDepth": 2} }', "it names maxDepth twice"],
	])("a file %s is left alone, and it is said why", async (_what, before, problem) => {
		expect(await edited(before, depth(8), JSON_FILE)).toEqual({ problem });
	});
});

describe("an edit of YAML changes one value and keeps comments and order", () => {
	test.each<Case>([
		[
			"a value",
			"# mine\nrewind:\n  maxDepth: 5 # five\nenabled: true\n",
			depth(8),
			"# mine\nrewind:\n  maxDepth: 8 # five\nenabled: true\n",
		],
		["in a new section", "enabled: true\n", depth(8), "enabled: true\nrewind:\n  maxDepth: 8\n"],
		["in an empty section", "rewind:\nenabled: true\n", depth(8), "rewind:\n  maxDepth: 8\nenabled: true\n"],
		["in an empty file", "", depth(8), "rewind:\n  maxDepth: 8\n"],
		["with CRLF", "enabled: true\r\n", depth(8), "enabled: true\r\nrewind:\r\n  maxDepth: 8\r\n"],
		["a list", "plugins: [a]\n", { path: ["plugins"], value: ["...", "x"] }, "plugins:\n  - ...\n  - x\n"],
		["by taking it out", "rewind:\n  maxDepth: 5\n  enabled: true\n", depth(undefined), "rewind:\n  enabled: true\n"],
		["by taking out what is not in it", "enabled: true\n", depth(undefined), "enabled: true\n"],
	])("%s", async (_what, before, edit, after) => {
		const outcome = await edited(before, edit, YAML_FILE);
		expect(outcome).toHaveProperty("text");
		const { text } = outcome as { text: string };
		if (edit.path[0] === "plugins") expect(await valueIn(text, edit.path, YAML_FILE)).toEqual(edit.value);
		else expect(text).toBe(after);
	});

	test.each<[string, string, RegExp]>([
		["that does not parse", "rewind: [1\n", /^it does not parse: /],
		[
			"that names a section twice",
			"rewind:\n  maxDepth: 1\nrewind:\n  maxDepth: 2\n",
			/^it does not parse: Map keys must be unique/,
		],
		["whose section is no object", "rewind: true\n", /^rewind is no object in it$/],
	])("a file %s is left alone, and it is said why", async (_what, before, problem) => {
		expect(await edited(before, depth(8), YAML_FILE)).toEqual({ problem: expect.stringMatching(problem) });
	});
});

test.each([
	['{ "rewind": {"maxDepth": 5} }', '{ "rewind": {"maxDepth": 8} }'],
	["rewind:\n  maxDepth: 5\n", "rewind:\n  maxDepth: 8\n"],
])("a file without an extension is what stands in it: %j", async (before, after) => {
	expect(await edited(before, depth(8), RC_FILE)).toEqual({ text: after });
	expect(await valueIn(before, ["rewind", "maxDepth"], RC_FILE)).toBe(5);
});

test("a new file names its schema", () => {
	expect(JSON.parse(created(depth(8)))).toEqual({ $schema: SCHEMA_URL, rewind: { maxDepth: 8 } });
});

test.each<[string, Pick<Target, "format" | "at">, unknown]>([
	['{ "plugins": ["a"], }', JSON_FILE, ["a"]],
	['{ "mulligan": { "plugins": ["a"] } }', { format: "json", at: ["mulligan"] }, ["a"]],
	["{}", JSON_FILE, undefined],
	["", JSON_FILE, undefined],
	["", YAML_FILE, undefined],
])("the value in %j", async (text, target, value) => {
	expect(await valueIn(text, ["plugins"], target)).toEqual(value);
});
