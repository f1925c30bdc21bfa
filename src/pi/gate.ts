import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import type { Candidate, Gate } from "../config/trust/gate.ts";
import { tellHuman } from "./host.ts";
import { modulesForUserCode, savedTrust } from "./user-code.ts";

/** The flag that approves all code of the project as it is now. */
export const TRUST_FLAG = "mulligan-trust";

/** How long a program that drives Pi may take to answer; a human at a terminal may take any time. */
const PATIENCE_MS = 60_000;

/** Whether the human has approved all code of the project, by a decision that Pi keeps or by the flag. */
export function isApproved(pi: ExtensionAPI, cwd: string): boolean {
	return pi.getFlag(TRUST_FLAG) === true || savedTrust(cwd) === true;
}

/** The session's gate. It opens when the first code asks for it: who has no code pays for nothing. */
export function gateOf(
	pi: ExtensionAPI,
	context: ExtensionContext,
	{ projectRoot, agentDir }: { readonly projectRoot: string; readonly agentDir: string },
): Gate {
	const { cwd } = context;
	const isProjectTrusted = context.isProjectTrusted();
	const ask = askerOf(context);
	let opening: Promise<Gate> | undefined;
	let opened: Gate | undefined;
	const open = async () => {
		const { openGate } = await import("../config/trust/gate.ts");
		opened = openGate({
			...{ agentDir, projectRoot, isProjectTrusted, ask },
			savedDecision: savedTrust(cwd),
			approveAll: pi.getFlag(TRUST_FLAG) === true,
			virtualModules: await modulesForUserCode(),
			warn: ({ text }) => tellHuman(context, `Mulligan: ${text}`, "warning"),
		});
		return opened;
	};
	const gate = () => {
		opening ??= open();
		return opening;
	};
	return {
		load: async (file, saidBy) => (await gate()).load(file, saidBy),
		prepare: async (files) => (await gate()).prepare(files),
		get pending() {
			return opened?.pending ?? [];
		},
		approve: async () => opened?.approve() ?? [],
	};
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
	const named = candidates
		.slice(0, MOST_NAMED)
		.map(({ path, standing }) => (standing === "changed" ? `${path} (changed since you approved it)` : path));
	const rest = candidates.length - named.length;
	return [
		"This project configures mulligan with code, which can do anything that you can:",
		[...named, ...(rest > 0 ? [`and ${rest} more`] : [])].join("\n"),
		"If you say no, it is left out, and the rest of mulligan works.",
	].join("\n\n");
}
