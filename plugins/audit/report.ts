import { type Op, type PluginApi, reachesModel, type ViewedEntry } from "../../src/plugin.ts";
import { byKind } from "./contributors.ts";
import { largestLines, rows } from "./list.ts";
import type { AuditOptions } from "./options.ts";
import { largestRemovable, type Removable, shrinkable } from "./removable.ts";
import { standingLines } from "./standing.ts";

type Api = PluginApi<AuditOptions>;

export interface Question {
	/** How many of the largest messages are listed. */
	readonly top: number;
	/** The audit's own call; undefined where the human asks. */
	readonly toolCallId?: string;
	/** What is said of the question itself. */
	readonly remark?: string | undefined;
	/** What became active by it. */
	readonly activated?: readonly Op[];
}

const number = new Intl.NumberFormat("en-US");

/** What fills the context now, in paragraphs: sizes, the largest messages, what was changed, what could go. Writes nothing. */
export function reportOn(api: Api, question: Question): string {
	const { calibration = 1 } = api.session;
	const figure = (plainTokens: number) => number.format(Math.round(plainTokens * calibration));
	const view = api.session.viewed();
	const sent = view.filter(({ entry }) => reachesModel(entry.message));
	const ids = shrinkable(api, sent);
	const paragraphs = [
		[...totalLines(api, sent, question), ...sizeLines(api, sent, figure)],
		largestLines(api, sent, { top: question.top, ids, figure }),
		standingLines(api, view, figure),
		suggestionLines(api, largestRemovable(api, sent, { ids, toolCallId: question.toolCallId }), figure),
	];
	return paragraphs
		.filter((lines) => lines.length > 0)
		.map((lines) => lines.join("\n"))
		.join("\n\n");
}

function totalLines(
	api: Api,
	sent: readonly ViewedEntry[],
	{ activated = [], toolCallId, remark }: Question,
): readonly string[] {
	const { calibration = 1, promptTokens, window } = api.session;
	const messages = Math.round(sumOf(sent) * calibration);
	const total = Math.round((sumOf(sent) + promptTokens) * calibration);
	const share = window
		? ` of ${number.format(window)} tokens (${percent(total / window)})`
		: " tokens (window unknown)";
	return [
		`Mulligan audit: ~${number.format(total)}${share}, ~${number.format(messages)} of them in ${number.format(sent.length)} message(s).`,
		`Confidence: ${confidenceOf(api)}.${toolCallId === undefined ? "" : " This turn's results are not counted yet."}`,
		...(remark === undefined ? [] : [remark]),
		...(activated.length > 0 ? [`Activated now: ${activated.map(({ describe }) => describe).join(", ")}.`] : []),
	];
}

function confidenceOf({ options, session }: Api): string {
	if (session.requests === 0) return "low";
	if (session.calibration === undefined) return options.estimateConfidence;
	return `high (calibrated ×${session.calibration.toFixed(2)})`;
}

function sizeLines(
	{ session }: Api,
	sent: readonly ViewedEntry[],
	figure: (plain: number) => string,
): readonly string[] {
	const kinds = byKind(sent).map(
		({ kind, count, tokens }) => [figure(tokens), `${kind} (${number.format(count)})`] as const,
	);
	return rows([...kinds, [figure(session.promptTokens), "prompt and tools"]]);
}

function suggestionLines(api: Api, found: Removable | undefined, figure: (plain: number) => string): readonly string[] {
	if (!found) return [];
	const wait = wouldWait(api, found.tokens) ? " It would wait in the queue: the moments are spent." : "";
	const how =
		found.by === "shrink"
			? `${found.toolName} ${found.toolCallId}, ~${figure(found.tokens)} tokens. Once you have what you need from it, mulligan_shrink it.`
			: `your newest call (${found.toolNames.join(", ")}), ~${figure(found.tokens)} tokens. If it was no use, mulligan_rewind with last_tool_call_group.`;
	return [`Largest removable: ${how}${wait}`];
}

/** Whether a change of this size would only queue, for the budget is spent and it is too small for one more moment. */
function wouldWait({ moments, settings }: Api, plainTokens: number): boolean {
	const waits = moments.volumeTokens + plainTokens;
	return moments.spent >= moments.maxMoments && waits <= settings.rewrites.safetyValveTokens;
}

function sumOf(view: readonly ViewedEntry[]): number {
	return view.reduce((sum, { tokens }) => sum + tokens, 0);
}

function percent(share: number): string {
	return share > 0 && share < 0.005 ? "<1%" : `${Math.round(share * 100)}%`;
}
