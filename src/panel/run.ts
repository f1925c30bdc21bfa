import { closest } from "../config/closest.ts";
import { isCodeFile } from "../config/sources/places.ts";
import type { Approved } from "../config/trust/gate.ts";
import type { TakenBack } from "../kernel/take-back.ts";
import { type Answer, refused } from "./answer.ts";
import { noAudit } from "./audit.ts";
import { type Command, parse, SUB_COMMANDS, type Where } from "./command.ts";
import { type DoctorFacts, doctorLines } from "./doctor.ts";
import { valueIn } from "./edit.ts";
import { helpLines } from "./help.ts";
import { pick, type Select } from "./picker.ts";
import { opsToRestore, restoredAnswer } from "./restore.ts";
import { type Change, changeAnswer, changeOf, knobNames } from "./set.ts";
import { showLines } from "./show.ts";
import type { PanelState, StandingOp } from "./state.ts";
import { isListed, type ListInForce, listChange, type Switches } from "./switch.ts";
import { traceLines } from "./trace.ts";
import { nothingToTrust, trustedAnswer } from "./trust.ts";
import { opToUndo, undoneAnswer } from "./undo.ts";
import { textOf, write } from "./write.ts";

/** What the panel does to the world. */
export interface Effects {
	readonly state: PanelState;
	/** Columns of the screen. */
	readonly width: number;
	tell(answer: Answer): void;
	/** Has the human choose; undefined in a mode that has no terminal. */
	readonly select: Select | undefined;
	takeBack(ops: readonly StandingOp[]): TakenBack;
	/** The audit's own command; undefined where it does not run. */
	readonly audit: ((args: string) => Promise<void>) | undefined;
	/** Approve what waits. Returns the files, and whether the approval is kept. */
	approve(): Promise<Approved>;
	/** The facts of a report; watches the next request for the one after. */
	diagnose(): DoctorFacts;
	/** Whether Pi can reload now: it can't while the agent works. */
	readonly canReload: boolean;
	/** Pi's own reload, and then one of these. */
	reload(answers: { readonly reloaded: Answer; readonly refused: Answer }): Promise<void>;
}

/** Runs what was typed after `/mulligan`. */
export async function run(args: string, effects: Effects): Promise<void> {
	const { state } = effects;
	const names = state.plugins.map(({ name }) => name);
	const command = parse(args, names);
	const answer = await outcome(command, effects);
	if (answer) effects.tell(answer);
}

/** Does what a command asks for. Returns what is to be said, unless it was said already. */
async function outcome(command: Command, effects: Effects): Promise<Answer | undefined> {
	const { state, width } = effects;
	switch (command.do) {
		case "open":
			return open(effects);
		case "show":
			return lines(showLines(state, width));
		case "help":
			return lines(helpLines(width));
		case "trace":
			return lines(traceLines(state, width));
		case "doctor":
			return lines(doctorLines(state, effects.diagnose(), width));
		case "set":
			return set(command, effects);
		case "master":
			return set({ key: "enabled", typed: String(command.to), where: command.where }, effects);
		case "switch": {
			const to = command.to === "flip" ? !isListed(state, command.plugin) : command.to;
			return switchPlugins(new Map([[command.plugin, to]]), command.where, effects);
		}
		case "undo":
			return undo(command.nth, effects);
		case "restore":
			return restore(effects);
		case "audit":
			return effects.audit ? void (await effects.audit(command.args)) : noAudit(state);
		case "trust":
			return trust(effects);
		case "unknown":
			return unknown(
				command.word,
				[...Object.keys(SUB_COMMANDS), ...state.plugins.map(({ name }) => name)],
				"/mulligan help lists what it takes",
			);
		case "wrong":
			return refused(command.why);
	}
}

function lines(text: readonly string[]): Answer {
	return { text: text.join("\n"), level: "answer" };
}

async function unknown(word: string, known: readonly string[], help: string): Promise<Answer> {
	const meant = await closest(word, known);
	const hint = meant === undefined ? `${help}.` : `Did you mean ${meant}?`;
	return refused(`/mulligan does not know ${JSON.stringify(word)}. ${hint}`);
}

/** The whole panel; in a terminal then the picker. */
async function open(effects: Effects): Promise<Answer | undefined> {
	const { state, width, select } = effects;
	const panel = lines(showLines(state, width));
	if (!select || !state.config.settings.enabled) return panel;
	effects.tell(panel);
	const switches = await pick(state, select);
	return switches && switchPlugins(switches, undefined, effects);
}

async function set(
	asked: { readonly key: string; readonly typed: string; readonly where: Where },
	effects: Effects,
): Promise<Answer | undefined> {
	const change = changeOf(effects.state, asked);
	if ("unknown" in change)
		return unknown(change.unknown, knobNames(effects.state), "/mulligan set followed by Tab lists the settings");
	return "level" in change ? change : apply(change, effects);
}

async function switchPlugins(switches: Switches, where: Where, effects: Effects): Promise<Answer | undefined> {
	if (!effects.state.config.settings.enabled)
		return refused("mulligan is off. /mulligan on switches it on, and then its plugins can be switched.");
	const change = listChange(effects.state, switches, { list: await listInForce(effects.state), where });
	return "level" in change ? change : apply(change, effects);
}

/** The list of plugins as the config that has the last word says it. */
async function listInForce({ config }: PanelState): Promise<ListInForce> {
	const file = config.origins.get("plugins");
	if (file === undefined) return { entries: ["..."], file };
	if (isCodeFile(file)) return { entries: undefined, file };
	const at = /(^|[/\\])(settings|package)\.json$/.test(file) ? ["mulligan"] : [];
	const list = await valueIn((await textOf(file)) ?? "", ["plugins"], { format: formatOf(file), at });
	return { entries: Array.isArray(list) ? list : undefined, file };
}

function formatOf(file: string): "json" | "yaml" | "rc" {
	return file.endsWith(".json") ? "json" : /\.ya?ml$/.test(file) ? "yaml" : "rc";
}

async function apply(change: Change, effects: Effects): Promise<Answer | undefined> {
	const { state } = effects;
	const within = change.target.scope === "project" ? state.host.projectRoot : undefined;
	const written = await write(change.target, { path: change.path, value: change.value }, within);
	const answer = (applies: string) => changeAnswer(change, written, { state, applies });
	const isNews = written.done === "changed" || written.done === "created";
	return isNews && change.overriddenBy === undefined ? reload(answer, effects) : answer("");
}

/** Has Pi reload where it can, and tells when what was done counts. */
async function reload(answer: (applies: string) => Answer, effects: Effects): Promise<Answer | undefined> {
	const later = answer("It counts after /reload; Pi can't reload now.");
	if (!effects.canReload) return later;
	await effects.reload({ reloaded: answer("Pi has reloaded, and it counts."), refused: later });
	return undefined;
}

function undo(nth: number, { state, takeBack }: Effects): Answer {
	const op = opToUndo(state, nth);
	return "level" in op ? op : undoneAnswer(op, takeBack([op]));
}

function restore({ state, takeBack }: Effects): Answer {
	const ops = opsToRestore(state);
	return "level" in ops ? ops : restoredAnswer(ops, takeBack(ops));
}

async function trust(effects: Effects): Promise<Answer | undefined> {
	const { state } = effects;
	const nothing = nothingToTrust(state);
	if (nothing) return nothing;
	const approved = await effects.approve();
	return reload((applies) => trustedAnswer(approved, { host: state.host, applies }), effects);
}
