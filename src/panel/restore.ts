import type { TakenBack } from "../kernel/take-back.ts";
import { type Answer, answered, refused } from "./answer.ts";
import { counted } from "./layout.ts";
import type { PanelState, StandingOp } from "./state.ts";
import { cameBack } from "./undo.ts";

/** All that `restore` takes back; or why there is nothing. */
export function opsToRestore({ run }: PanelState): readonly StandingOp[] | Answer {
	return run.standing.length > 0
		? run.standing
		: refused("there is nothing to restore: no change is active or queued.");
}

/** What is said once all ops were taken back. */
export function restoredAnswer(ops: readonly StandingOp[], takenBack: TakenBack): Answer {
	const queued = ops.filter(({ kind }) => kind === "queued").length;
	const active = ops.length - queued;
	if (active === 0) return answered(`${counted(queued, "queued change")} dropped; nothing had changed.`);
	const dropped = queued === 0 ? "" : `, and ${counted(queued, "queued change")} dropped`;
	return answered(`${counted(active, "change")} taken back${dropped}: ${cameBack(takenBack)}`);
}
