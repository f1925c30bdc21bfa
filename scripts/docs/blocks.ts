import { KernelSections, TopKnobs } from "../../src/config/schema.ts";
import { DEFAULT_PLUGINS } from "../../src/default-set.ts";
import { SUB_COMMANDS } from "../../src/panel/command.ts";
import { openSession, shape } from "../../src/testing/index.ts";

interface Schema {
	readonly properties?: Readonly<Record<string, Knob>>;
}

interface Knob {
	readonly default?: unknown;
	readonly description?: string;
	readonly minimum?: number;
	readonly exclusiveMinimum?: number;
	readonly maximum?: number;
	readonly type?: string;
	readonly enum?: readonly string[];
	readonly items?: Knob;
	/** Of a map: the schema of its entries. */
	readonly patternProperties?: Readonly<Record<string, Knob>>;
	/** Of a map: what its keys are. */
	readonly propertyNames?: { readonly title?: string };
	readonly anyOf?: readonly Knob[];
}

/** A text with what stands between the marks of a block replaced. Throws where the marks are missing. */
export function withBlock(text: string, name: string, block: string): string {
	const pattern = new RegExp(`(<!-- ${name}:begin -->\n)[^]*?(<!-- ${name}:end -->)`);
	if (!pattern.test(text)) throw new Error(`There is no block "${name}" to fill.`);
	return text.replace(pattern, (_all, begin: string, end: string) => `${begin}${block}\n${end}`);
}

/** Every knob with its default, its range and what it does, from the schemas. */
export function knobTable(): string {
	const sections = Object.entries({ ...PLUGIN_SECTIONS, ...KernelSections });
	return table([
		...Object.entries(TopKnobs as Readonly<Record<string, Knob>>),
		...sections.flatMap(([name, schema]) => knobsOf(name, schema)),
	]);
}

/** The same for the knobs of one plugin. Throws where the plugin has none. */
export function optionTable(plugin: string): string {
	const schema = PLUGIN_SECTIONS[plugin];
	if (!schema) throw new Error(`The plugin "${plugin}" has no options.`);
	return table(knobsOf(plugin, schema));
}

/** The schemas of the default set, by plugin. */
export const PLUGIN_SECTIONS: Readonly<Record<string, Schema>> = Object.fromEntries(
	DEFAULT_PLUGINS.flatMap(({ name, options }) => (options ? [[name, options as Schema] as const] : [])),
);

function knobsOf(section: string, { properties }: Schema): readonly (readonly [string, Knob])[] {
	return Object.entries(properties ?? {}).map(([key, knob]) => [`${section}.${key}`, knob] as const);
}

function table(knobs: readonly (readonly [string, Knob])[]): string {
	const rows = knobs.map(
		([key, knob]) => `| \`${key}\` | \`${JSON.stringify(knob.default)}\` | ${rangeOf(knob)} | ${knob.description} |`,
	);
	return ["| knob | default | range | what it does |", "|---|---|---|---|", ...rows].join("\n");
}

/** What a knob takes, in words. */
function rangeOf(knob: Knob): string {
	if (knob.anyOf) return knob.anyOf.map(rangeOf).join(" or ");
	if (knob.type === "boolean") return "true, false";
	if (knob.enum) return knob.enum.join(", ");
	if (knob.items) return `list of ${rangeOf(knob.items)}`;
	const [entry] = Object.values(knob.patternProperties ?? {});
	if (entry) return `${knob.propertyNames?.title ?? "name"} to ${rangeOf(entry)}`;
	const low = knob.minimum === undefined ? "" : `≥ ${knob.minimum}`;
	const above = knob.exclusiveMinimum === undefined ? "" : `> ${knob.exclusiveMinimum}`;
	const high = knob.maximum === undefined ? "" : `≤ ${knob.maximum}`;
	const bounds = [low, above, high].filter(Boolean).join(", ");
	return [knob.type ?? "", bounds].filter(Boolean).join(" ");
}

/** What `/mulligan` takes, as its help has it. */
export function panelTable(): string {
	const rows = Object.entries(SUB_COMMANDS).map(([name, what]) => {
		const [, args = "", text = what] = /^([A-Z[\] ]+): (.*)$/.exec(what) ?? [];
		return `| \`${`${name} ${args.toLowerCase().replace(/(?<!\[)\b[a-z]+\b(?!\])/g, "<$&>")}`.trim()}\` | ${text} |`;
	});
	return [
		"| `/mulligan …` | what it does |",
		"|---|---|",
		...rows,
		"| `<plugin> [on\\|off]` | switch a plugin, or flip it |",
	].join("\n");
}

const bulky = (what: string, lines: number) => Array.from({ length: lines }, (_, i) => `${what} ${i + 1}`).join("\n");

/** What a real session sent right before its ops, and after them: one line a message, before beside after. */
export async function viewExample(): Promise<string> {
	const note = {
		what_happened: "grep over everything, mostly vendored code",
		true_current_state: "nothing changed",
		next: "grep in src only",
	};
	await using session = await openSession({
		settings: { mulligan: { rewrites: { maxMoments: 2, flushShedTokens: 0 } } },
		tools: {
			grep: ({ path }) => bulky(`${path}/a.ts: total`, path === "src" ? 2 : 900),
			test: () => bulky("ok test", 400),
		},
	});
	const before = [
		{ calls: [{ id: "c1", name: "grep", args: { path: "." } }] },
		{ calls: [{ id: "c2", name: "mulligan_rewind", args: { note, granularity: "last_tool_call_group" } }] },
		{ calls: [{ id: "c3", name: "grep", args: { path: "src" } }] },
		{ calls: [{ id: "c4", name: "test", args: {} }] },
		{
			calls: [
				{
					id: "c5",
					name: "mulligan_shrink",
					args: { target: { by_tool_name: "test" }, replacement: "400 tests, all ok" },
				},
			],
		},
	];
	session.script(...before, "Done.");
	await session.prompt("Where is total used?");
	const originals = session
		.branch()
		.flatMap((entry) => (entry.type === "message" && entry.message.role !== "system" ? [entry.message] : []))
		.slice(0, -1);
	const columns = [lines(originals), lines(session.lastRequest.messages)] as const;
	const width = Math.max(...columns[0].map((line) => line.length)) + 2;
	const rows = Array.from({ length: Math.max(columns[0].length, columns[1].length) }, (_, index) =>
		`${(columns[0][index] ?? "").padEnd(width)}${columns[1][index] ?? ""}`.trimEnd(),
	);
	const head = `${"in the session file".padEnd(width)}sent to the model`;
	return ["```", head, "─".repeat(width + 54), ...rows, "```"].join("\n");
}

function lines(messages: Parameters<typeof shape>[0]): readonly string[] {
	return shape(messages, 34).map((line, index) => {
		const chars = JSON.stringify(messages[index]).length;
		return `${line.replaceAll("\n", " ").slice(0, 46)}${chars > 2000 ? ` (${Math.round(chars / 1000)} KB)` : ""}`;
	});
}
