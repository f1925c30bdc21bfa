import type { Static, TSchema } from "typebox";
import { type ToolResultMessage, textOf } from "./kernel/messages.ts";
import type { Plugin, PluginApi, SessionReader } from "./kernel/plugin.ts";

/** A finished tool call that the model still sees. */
export interface ViewedCall {
	readonly id: string;
	readonly name: string;
	/** As the model gave them; empty where they are no object. */
	readonly args: Readonly<Record<string, unknown>>;
	/** The text of its result, as it was stored. */
	readonly text: string;
	readonly isError: boolean;
	/** The entry of its result. */
	readonly entryId: string;
}

/** What a nudge sees of the request that is about to be made. Tokens are plain estimates. */
export interface NudgeView<Options = unknown> {
	readonly tokens: number;
	/** The model's window; undefined where it is not known. */
	readonly window: number | undefined;
	/** Share of the window, from 0 to 1; undefined without a window. */
	readonly share: number | undefined;
	/** The nudge's own options: checked, defaulted, frozen. */
	readonly options: Options;
	readonly session: SessionReader;
	/** Finished calls since the latest user message, oldest first; of these tools only, where some are named. */
	calls(...tools: readonly string[]): readonly ViewedCall[];
	/** The same over the whole context. Walks it at each request that asks. */
	allCalls(...tools: readonly string[]): readonly ViewedCall[];
}

/** What `when` answers: whether the nudge's one event holds, or the names of the events that do. */
export type NudgeEvents = boolean | string | readonly string[] | undefined;

/** A nudge, in the words of its author. */
export interface Nudge<Options = unknown> extends Pick<Plugin, "name" | "mulligan" | "dependencies"> {
	/**
	 * What holds in this request. An event lasts as long as every request names it, and has one line; named again after
	 * a request that did not name it, it is another event.
	 */
	when(view: NudgeView<Options>): NudgeEvents;
	/** The line. It is read once, at the end of one request; `event` is the name that `when` gave it, or "". */
	readonly say: string | ((view: NudgeView<Options>, event: string) => string);
	/** Turns after a line in which there is none, whatever happens; 3 unless given. */
	readonly restTurns?: number;
}

const REST_TURNS = 3;

/**
 * A plugin that adds one line to one request when something starts to hold. Nothing of it is stored and it costs no
 * request. What holds already when a session is loaded has happened before. Throws where the definition is wrong.
 */
export function defineNudge<Schema extends TSchema>(
	nudge: Nudge<Static<Schema>> & { readonly options?: Schema },
): Plugin<Static<Schema>> {
	const { name, options, mulligan, dependencies } = nudge;
	refuseWrong(nudge);
	return {
		name,
		...(mulligan === undefined ? {} : { mulligan }),
		...(dependencies === undefined ? {} : { dependencies }),
		...(options === undefined ? {} : { options }),
		setup: (api) => attend(nudge, api),
	};
}

function attend<Options>(nudge: Nudge<Options>, api: PluginApi<Options>): void {
	const { name, restTurns = REST_TURNS } = nudge;
	let speech = SILENCE;
	const eventsNow = (view: NudgeView<Options>) => namesOf(nudge.when(view), name);

	api.hooks.onSession.tap(name, ({ reason }) => {
		const isLoaded = reason !== "tree" && api.session.newestContextEntry() !== undefined;
		if (isLoaded) speech = { ...speech, said: new Set(eventsNow(viewOf(api))) };
	});

	api.hooks.onView.tap(name, (draft) => {
		const view = viewOf(api);
		const { event, next } = speak(speech, eventsNow(view), restTurns);
		const line = event === undefined ? "" : lineOf(nudge, view, event);
		if (line) draft.annotate(line);
		speech = next;
	});

	api.hooks.onTurnEnd.tap(name, () => {
		speech = { ...speech, quietTurns: Math.max(0, speech.quietTurns - 1) };
	});
}

/** What is remembered of earlier requests. */
export interface Speech {
	/** Events that have had their line and still last. */
	readonly said: ReadonlySet<string>;
	/** Ends of turns to wait for before the next line. */
	readonly quietTurns: number;
}

export const SILENCE: Speech = { said: new Set(), quietTurns: 0 };

/** The event to speak of in a request that names these, if any: the first one without a line, unless the nudge rests. */
export function speak(
	{ said, quietTurns }: Speech,
	events: readonly string[],
	restTurns: number,
): { readonly event: string | undefined; readonly next: Speech } {
	const lasting = new Set(events.filter((event) => said.has(event)));
	const event = quietTurns > 0 ? undefined : events.find((name) => !said.has(name));
	if (event === undefined) return { event, next: { said: lasting, quietTurns } };
	// The turn of the line itself ends first.
	return { event, next: { said: lasting.add(event), quietTurns: restTurns + 1 } };
}

function namesOf(events: unknown, nudge: string): readonly string[] {
	if (events === true) return [""];
	if (events === false || events === undefined || events === null || events === "") return [];
	const names: unknown = typeof events === "string" ? [events] : events;
	if (Array.isArray(names) && names.every((name) => typeof name === "string")) return names;
	throw new TypeError(
		`"when" of the nudge "${nudge}" returned ${shown(events)}; return true, false, a name or a list of names`,
	);
}

function lineOf<Options>({ name, say }: Nudge<Options>, view: NudgeView<Options>, event: string): string {
	const line: unknown = typeof say === "function" ? say(view, event) : say;
	if (typeof line !== "string")
		throw new TypeError(`"say" of the nudge "${name}" returned ${shown(line)}; return a text`);
	return line.replace(/\s*\n\s*/g, " ").trim();
}

function refuseWrong({ name, when, say, restTurns = REST_TURNS }: Nudge<never>): void {
	const refuse = (what: string) => {
		throw new TypeError(`defineNudge(${shown(name)}): ${what}`);
	};
	if (typeof name !== "string" || name === "") refuse("a nudge needs a name");
	if (typeof when !== "function") refuse(`"when" is ${shown(when)}; give a function of the view`);
	if (typeof say !== "function" && (typeof say !== "string" || say.trim() === ""))
		refuse(`"say" is ${shown(say)}; give a line, or a function that returns one`);
	if (!Number.isInteger(restTurns) || restTurns < 0)
		refuse(`"restTurns" is ${shown(restTurns)}; give a whole number of turns from 0 on`);
}

function shown(value: unknown): string {
	return JSON.stringify(value) ?? String(value);
}

function viewOf<Options>({ session, options }: PluginApi<Options>): NudgeView<Options> {
	const callsAfter = (id: string | undefined) => (tools: readonly string[]) => {
		const entries = id === undefined ? session.context() : session.after(id);
		return entries.flatMap(({ id: entryId, message }) =>
			message.role === "toolResult" && session.isVisible(entryId) ? callOf(session, entryId, message, tools) : [],
		);
	};
	return {
		get tokens() {
			return session.viewTokens;
		},
		get window() {
			return session.window;
		},
		get share() {
			return session.share;
		},
		options,
		session,
		calls: (...tools) => callsAfter(session.latestUser()?.id)(tools),
		allCalls: (...tools) => callsAfter(undefined)(tools),
	};
}

function callOf(
	session: SessionReader,
	entryId: string,
	{ toolCallId: id, toolName: name, content, isError = false }: ToolResultMessage,
	tools: readonly string[],
): readonly ViewedCall[] {
	if (tools.length > 0 && !tools.includes(name)) return [];
	const given = session.groupOf(entryId)?.calls.find((call) => call.id === id)?.arguments;
	const args = typeof given === "object" && given !== null ? (given as Readonly<Record<string, unknown>>) : {};
	return [{ id, name, args, text: textOf(content), isError, entryId }];
}
