import { type Evidence, findFaults, findTwinFaults } from "./checks.ts";
import { type Bill, billOf, headTokens, messagesTokens, simulateCache, sizeOf } from "./figures.ts";
import type { Row } from "./report.ts";
import type { SentRequest } from "./request.ts";
import type { Run } from "./run.ts";
import { callId, isMulligan, type Step, type StepId, script } from "./script.ts";
import { type PiModule, type Response, readBranch, responsesOf, storedResults } from "./session.ts";
import type { Needles } from "./workspace.ts";

export interface Comparison {
	readonly rows: readonly Row[];
	readonly mulligan: Bill;
	readonly twin: Bill;
	readonly outputs: { readonly grepBytes: number; readonly logBytes: number };
	/** The promises that were broken; none: the demo succeeded. */
	readonly faults: readonly string[];
}

/** Sets a run with mulligan against its twin without. */
export function compare(pi: PiModule, runs: { mulligan: Run; twin: Run; needles: Needles }): Comparison {
	const { mulligan, twin, needles } = runs;
	const branch = readBranch(pi, mulligan.session);
	const evidence: Evidence = { steps: script, requests: mulligan.requests, stored: storedResults(branch), needles };
	const twinEvidence: Evidence = {
		steps: script.filter((step) => !isMulligan(step)),
		requests: twin.requests,
		stored: storedResults(readBranch(pi, twin.session)),
		needles,
	};
	const bytes = (id: StepId) => Buffer.byteLength(evidence.stored.get(callId(id)) ?? "");
	return {
		rows: rowsOf(mulligan.requests, responsesOf(pi, branch), twin.requests[0]),
		mulligan: billOf(mulligan.requests),
		twin: billOf(twin.requests),
		outputs: { grepBytes: bytes("wide-grep"), logBytes: bytes("test") },
		faults: [...findFaults(evidence), ...findTwinFaults(twinEvidence, evidence)],
	};
}

function rowsOf(
	requests: readonly SentRequest[],
	responses: readonly Response[],
	bare: SentRequest = { messages: [] },
): Row[] {
	const cache = simulateCache(requests);
	return requests.map((request, index) => {
		const originals = responses[index]?.originals ?? [];
		return {
			does: stepOf(responses[index]).does,
			sent: sizeOf(request),
			without: { messages: originals.length, tokens: headTokens(bare) + messagesTokens(originals) },
			cache: cache[index] ?? { read: 0, written: 0 },
		};
	});
}

function stepOf(response: Response | undefined): Pick<Step, "does"> {
	const taken = script.find((step) => step.call && callId(step.id) === response?.toolCallId);
	return taken ?? script.find((step) => step.call === undefined) ?? { does: "" };
}
