import { isOpOf, type PluginApi, quoted } from "../../src/plugin.ts";
import { RECORD } from "./record.ts";

type Api = Pick<PluginApi, "journal" | "moments" | "session">;

/** What the human is told. It arrives in every mode. */
export interface Answer {
	readonly text: string;
	readonly level: "warning" | "answer";
}

const NAME = /^[a-z0-9_-]{1,40}$/;

/** Sets a checkpoint after the newest message, or moves it there, and warns the human of what that allows. */
export function set(api: Api, name: string): Answer {
	const { journal, session } = api;
	if (!NAME.test(name))
		return refused(
			`a checkpoint needs a name of 1 to 40 of a-z, 0-9, _ and -, as in /mulligan_checkpoint before-refactoring; got ${typed(name)}.`,
		);
	if (!session.newestContextEntry()) return refused("there is no message yet that the checkpoint could stand after.");
	const isMoved = session.checkpoint(name) !== undefined;
	const dropped = isMoved ? takeBack(api, name, "moved") : 0;
	journal.label(journal.append(RECORD, { name }), `mulligan:checkpoint:${name}`);
	const lines = [
		`Mulligan: the checkpoint "${name}" ${isMoved ? "has moved here" : "is set here"}.${told(dropped)}`,
		"You allow the agent to rewind once, without asking, back to this point: across all prompts that you send from now on.",
		`Revoke: /mulligan_checkpoint_revoke ${name}`,
	];
	return { text: lines.join("\n"), level: "warning" };
}

/** Takes a checkpoint back, and the rewinds to it that wait. */
export function revoke(api: Api, name: string): Answer {
	const { session } = api;
	if (name === "") return refused(`/mulligan_checkpoint_revoke takes the name of a checkpoint. ${activeNames(api)}`);
	if (!session.checkpoint(name))
		return refused(`no checkpoint ${quoted(name)} is active on this branch. ${activeNames(api)}`);
	const dropped = takeBack(api, name, "revoked");
	const text = `Mulligan: the checkpoint "${name}" is revoked; the agent can't rewind to it any more.${told(dropped)}`;
	return { text, level: "answer" };
}

/** Names that an answer lists; of the others only their number. */
const MOST_NAMED = 20;

function activeNames({ session }: Api): string {
	const names = session.checkpoints().map(({ name }) => name);
	if (names.length === 0) return "None is active.";
	const more = names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : "";
	return `Active: ${names.slice(0, MOST_NAMED).join(", ")}${more}.`;
}

function typed(text: string): string {
	return text === "" ? "nothing" : quoted(text);
}

function refused(reason: string): Answer {
	return { text: `Mulligan: refused — ${reason}`, level: "warning" };
}

/** Clears the label and drops the rewinds that wait to go there. Returns how many there were. */
function takeBack({ journal, moments, session }: Api, name: string, why: "moved" | "revoked"): number {
	for (const id of session.checkpoint(name)?.labelledIds ?? []) journal.label(id, undefined);
	const waiting = moments.waiting().filter((op) => isOpOf(op, "mulligan:rewind") && op.body.checkpoint === name);
	for (const { id } of waiting) moments.drop(id, `the user has ${why} the checkpoint "${name}"`);
	return waiting.length;
}

function told(dropped: number): string {
	return dropped === 0 ? "" : ` ${dropped} queued rewind(s) to where it was are dropped.`;
}
