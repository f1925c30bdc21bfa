import type { ExtensionAPI, ExtensionCommandContext } from "@earendil-works/pi-coding-agent";
import type { NotifyLevel } from "../kernel/plugin.ts";
import { tellHuman } from "./host.ts";

type Speaker = (text: string, level: NotifyLevel) => void;

/** A reload evaluates the extension anew: only what hangs here is shared by what was and what comes. */
const shared = globalThis as { [SPEAKER]?: Speaker | undefined };
const SPEAKER = Symbol.for("pi-mulligan:speaker");

/** Let what reloads Pi speak through the session that comes after. To be called in the extension's factory. */
export function lendVoice(pi: ExtensionAPI): void {
	pi.on("session_start", (_event, context) => {
		shared[SPEAKER] = (text, level) => tellHuman(context, text, level);
	});
}

/**
 * Reloads Pi, then tells that it has: a terminal forgets what was told before. Where Pi refuses to reload, the session
 * goes on and tells that. The context must not be used afterwards.
 */
export async function reloadAndTell(
	context: ExtensionCommandContext,
	texts: { readonly reloaded: string; readonly refused: string },
	level: NotifyLevel,
): Promise<void> {
	shared[SPEAKER] = undefined;
	await context.reload();
	const speaker = shared[SPEAKER] as Speaker | undefined;
	if (speaker) speaker(texts.reloaded, level);
	else tellHuman(context, texts.refused, level);
}
