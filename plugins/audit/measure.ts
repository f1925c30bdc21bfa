import { type ContextEntry, OWN_TOOL, type PluginApi, type ViewedEntry } from "../../src/plugin.ts";
import type { AuditOptions } from "./options.ts";

type Api = PluginApi<AuditOptions>;

/** One message of the view, as the report lists it. */
export interface Row {
	/** Tokens of what the view shows, calibrated where that can be. */
	readonly tokens: number;
	/** The role, for a tool result the tool's name. */
	readonly what: string;
	/** What the call was about, on one line. */
	readonly hint: string;
	/** The id that a shrink of it takes; undefined for all that can't be shrunk now. */
	readonly shrinkId: string | undefined;
	/** The threshold in bytes that its text exceeds. */
	readonly aboveBytes: number | undefined;
}

/** Everything that the report says, measured at one moment. */
export interface Audit {
	readonly totalTokens: number;
	readonly promptTokens: number;
	readonly messages: number;
	readonly window: number | undefined;
	readonly share: number | undefined;
	readonly confidence: string;
	readonly largest: readonly Row[];
	readonly rewinds: number;
	readonly shrinks: number;
	readonly retired: number;
	readonly queued: readonly { readonly describe: string; readonly shedTokens: number }[];
	readonly spent: number;
	readonly maxMoments: number;
	readonly checkpoints: readonly string[];
	/** What is worth taking out first. */
	readonly suggestion: string | undefined;
}

const DEFAULT_BYTES = 16384;
const DEFAULT_BYTES_BY_TOOL: Readonly<Record<string, number>> = { read: 24576 };

/** Measures the view. `top`: how many of the largest messages are listed. */
export function audit(api: Api, top: number): Audit {
	const { session, journal, moments, options } = api;
	const factor = session.calibration ?? 1;
	const tokens = (plain: number) => Math.round(plain * factor);
	const viewed = session.viewed();
	const shrinkable = shrinkableIds(api);
	const rows = [...viewed].sort((a, b) => b.tokens - a.tokens);
	const rowOf = (entry: ViewedEntry): Row => ({
		tokens: tokens(entry.tokens),
		...describe(api, entry.entry),
		shrinkId: entry.isReplaced ? undefined : shrinkable.get(entry.entry.id),
		aboveBytes: exceeded(api, entry),
	});
	return {
		totalTokens: tokens(session.viewTokens + session.promptTokens),
		promptTokens: tokens(session.promptTokens),
		messages: viewed.length,
		window: session.window,
		share: session.share,
		confidence:
			session.requests === 0 ? "low" : session.calibration === undefined ? options.estimateConfidence : "high",
		largest: rows.slice(0, top).map(rowOf),
		rewinds: journal.active("mulligan:rewind").length,
		shrinks: journal.active("mulligan:shrink").length,
		retired: journal.read("mulligan:cancel").length,
		queued: moments.waiting().map(({ describe: what, shedTokens }) => ({ describe: what, shedTokens })),
		spent: moments.spent,
		maxMoments: moments.maxMoments,
		checkpoints: session.checkpoints().map(({ name }) => name),
		suggestion: suggest(rows.map(rowOf)),
	};
}

/** The results of this prompt that a shrink would take, with the id it takes. */
function shrinkableIds({ session }: Api): ReadonlyMap<string, string> {
	const user = session.latestUser();
	const span = user ? session.after(user.id) : session.context();
	return new Map(
		span.flatMap(({ id, message }) => {
			if (message.role !== "toolResult" || OWN_TOOL.test(message.toolName) || !session.isVisible(id)) return [];
			return [[id, message.toolCallId] as const];
		}),
	);
}

function describe({ session }: Api, { id, message }: ContextEntry): { readonly what: string; readonly hint: string } {
	if (message.role !== "toolResult")
		return { what: message.role === "custom" ? message.customType : message.role, hint: "" };
	const call = session.groupOf(id)?.calls.find((one) => one.id === message.toolCallId);
	return { what: message.toolName, hint: hintOf(call?.arguments) };
}

const TELLING = ["command", "path", "file_path", "pattern", "query", "url"];
const HINT_CHARS = 40;

/** The argument that says what a call was about, cut to one line. */
function hintOf(args: unknown): string {
	const given = (typeof args === "object" && args !== null ? args : {}) as Readonly<Record<string, unknown>>;
	const telling = TELLING.map((key) => given[key]).find((value) => typeof value === "string");
	const line = String(telling ?? "")
		.replace(/\s+/g, " ")
		.trim();
	return line.length > HINT_CHARS ? `${line.slice(0, HINT_CHARS - 1)}…` : line;
}

/** The threshold that a message's text exceeds: the nudges' own, per tool; other messages go by the global one. */
function exceeded({ settings }: Api, { entry, textBytes }: ViewedEntry): number | undefined {
	const nudges = (settings.nudges ?? {}) as {
		readonly bloatThresholdBytes?: number;
		readonly bloatThresholdBytesByTool?: Readonly<Record<string, number>>;
	};
	const global = nudges.bloatThresholdBytes ?? DEFAULT_BYTES;
	const byTool = nudges.bloatThresholdBytesByTool ?? DEFAULT_BYTES_BY_TOOL;
	const tool = entry.message.role === "toolResult" ? entry.message.toolName : undefined;
	const threshold = (tool !== undefined && Object.hasOwn(byTool, tool) ? byTool[tool] : undefined) ?? global;
	return textBytes > threshold ? threshold : undefined;
}

/** Below this a change is not worth its break of the prompt cache. */
const WORTHWHILE_TOKENS = 500;

function suggest(rows: readonly Row[]): string | undefined {
	const largest = rows.find(({ shrinkId }) => shrinkId !== undefined);
	if (!largest || largest.tokens < WORTHWHILE_TOKENS) return undefined;
	return `mulligan_shrink of ${largest.what} ${largest.shrinkId} (~${largest.tokens} tokens)`;
}
