import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import type { Warning } from "../config/check.ts";
import { printable } from "../config/printable.ts";
import type { Candidate, Gate } from "../config/trust/gate.ts";
import { savedDecision } from "./trust.ts";
import { modulesForUserCode } from "./user-code.ts";

/** The flag that approves all code of the project as it is now. */
export const TRUST_FLAG = "mulligan-trust";

/** How long a program that drives Pi may take to answer; a human at a terminal may take any time. */
const PATIENCE_MS = 60_000;

/** A session's gate, and whether the human has approved all code of the project. */
export interface Guard {
	readonly gate: Gate;
	/** By a decision that Pi keeps, or by the flag. */
	isProjectApproved(): boolean;
}

/** Guards a session. The gate opens when the first code asks for it: who has no code pays for nothing. */
export function guardOf(
	pi: ExtensionAPI,
	context: ExtensionContext,
	options: {
		readonly projectRoot: string;
		readonly agentDir: string;
		readonly warn: (warning: Warning) => void;
	},
): Guard {
	const { agentDir, projectRoot, warn } = options;
	const { cwd } = context;
	const isProjectTrusted = context.isProjectTrusted();
	const approveAll = pi.getFlag(TRUST_FLAG) === true;
	const refused = refusedIn(context.sessionManager.getSessionId());
	const saved = once(() => savedDecision({ agentDir, cwd, projectRoot, warn: (text) => warn({ key: "trust", text }) }));
	let opened: Gate | undefined;
	const gate = once(async () => {
		const { openGate } = await import("../config/trust/gate.ts");
		opened = openGate({
			...{ agentDir, projectRoot, isProjectTrusted, approveAll, refused, warn },
			savedDecision: saved(),
			ask: askerOf(context),
			virtualModules: await modulesForUserCode(),
		});
		return opened;
	});
	return {
		isProjectApproved: () => approveAll || saved() === true,
		gate: {
			load: async (file, saidBy) => (await gate()).load(file, saidBy),
			prepare: async (files) => (await gate()).prepare(files),
			get pending() {
				return opened?.pending ?? [];
			},
			approve: async () => opened?.approve() ?? { files: [], isKept: true },
		},
	};
}

function once<T>(make: () => T): () => T {
	let made: { readonly value: T } | undefined;
	return () => {
		made ??= { value: make() };
		return made.value;
	};
}

/** A reload evaluates this file anew, so what must outlive it is kept with the process. */
const REFUSED = Symbol.for("pi-mulligan.refused");

/** What the human said no to, for as long as this process works on the session. */
function refusedIn(sessionId: string): Set<string> {
	const process = globalThis as { [REFUSED]?: Map<string, Set<string>> };
	process[REFUSED] ??= new Map();
	const refused = process[REFUSED].get(sessionId) ?? new Set();
	process[REFUSED].set(sessionId, refused);
	return refused;
}

/** Asks the human, while the session starts; undefined where there is no UI. */
function askerOf({
	hasUI,
	ui,
	mode,
}: ExtensionContext): ((candidates: readonly Candidate[]) => Promise<boolean>) | undefined {
	if (!hasUI) return undefined;
	return (candidates) =>
		ui.confirm(
			"Mulligan: run code of this project?",
			question(candidates),
			mode === "tui" ? {} : { timeout: PATIENCE_MS },
		);
}

/** More files than this are counted, not named. */
const MOST_NAMED = 15;

function question(candidates: readonly Candidate[]): string {
	const named = candidates.slice(0, MOST_NAMED).map(({ path, standing }) => {
		const name = printable(path);
		return standing === "changed" ? `${name} (changed since you approved it)` : name;
	});
	const rest = candidates.length - named.length;
	return [
		"This project configures mulligan with code, which can do anything that you can:",
		[...named, ...(rest > 0 ? [`and ${rest} more`] : [])].join("\n"),
		"If you say no, it is left out, and the rest of mulligan works.",
	].join("\n\n");
}
