import { appendFileSync } from "node:fs";
import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import type { Host } from "../kernel/host.ts";
import type { Owner } from "../kernel/isolate.ts";
import type { NotifyLevel } from "../kernel/plugin.ts";
import { screenOf } from "./screen.ts";

/** Pi as the kernel's host. `context` is the one of the event that is being handled: none is kept beyond it. */
export function hostOf({
	pi,
	context,
	logFile,
}: {
	readonly pi: ExtensionAPI;
	readonly context: () => ExtensionContext;
	readonly logFile: string | null;
}): Host {
	const notify: Host["notify"] = (text, level) => tellHuman(context(), text, level);
	return {
		append: (type, data) => pi.appendEntry(type, data),
		note: (note) => pi.sendMessage({ ...note, display: true }, { triggerTurn: false }),
		label: (id, label) => pi.setLabel(id, label),
		notify,
		screen: screenOf(pi, context),
		log: logTo(logFile, (text) => notify(text, "warning")),
		now: () => Date.now(),
		newId: () => crypto.randomUUID(),
		raw: (who, run) => rawApi(pi, who, run),
	};
}

/** Shows a text where the mode has a UI. Without one Pi drops it: warnings and answers go to standard error instead. */
export function tellHuman(context: ExtensionContext, text: string, level: NotifyLevel): void {
	if (context.hasUI) context.ui.notify(text, level === "warning" ? "warning" : "info");
	else if (level !== "info") process.stderr.write(`${text}\n`);
}

/** Appends JSON lines; an unwritable file is one warning, then silence. */
function logTo(file: string | null, warn: (text: string) => void): (line: string) => void {
	let isWritable = file !== null;
	return (line) => {
		if (file === null || !isWritable) return;
		try {
			appendFileSync(file, `${JSON.stringify({ ts: new Date().toISOString(), line })}\n`);
		} catch (error) {
			isWritable = false;
			warn(`Mulligan: the log file ${file} cannot be written (${(error as Error).message}); nothing is logged.`);
		}
	};
}

type AnyOn = (event: string, handler: (event: never, context: ExtensionContext) => unknown) => void;

/** Pi's `on` for events that not every version's types name; an event that a version does not know is never fired. */
export function onAnyEvent(pi: ExtensionAPI): AnyOn {
	return pi.on.bind(pi) as unknown as AnyOn;
}

/** Pi's API for one plugin. A handler of `tool_call` goes on after a switch-off: Pi lets it block a tool. */
function rawApi(pi: ExtensionAPI, who: Owner, run: Parameters<Host["raw"]>[1]): unknown {
	const on: AnyOn = (event, handler) =>
		onAnyEvent(pi)(event, (payload, context) => {
			if (who.off !== undefined && event !== "tool_call") return undefined;
			return run(`pi.on("${event}")`, () => handler(payload, context));
		});
	return new Proxy(pi, { get: (target, key) => (key === "on" ? on : Reflect.get(target, key)) });
}
