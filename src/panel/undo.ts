import type { TakenBack } from "../kernel/take-back.ts";
import { type Answer, answered, refused } from "./answer.ts";
import { counted, figure, plain } from "./layout.ts";
import type { PanelState, StandingOp } from "./state.ts";

/** The nth op of those that the panel lists, the newest being 1; or why there is none. */
export function opToUndo({ run }: PanelState, nth: number): StandingOp | Answer {
	const { standing } = run;
	if (standing.length === 0) return refused("there is nothing to undo: no change is active or queued.");
	const op = standing[nth - 1];
	return (
		op ?? refused(`undo ${figure(nth)}: only ${counted(standing.length, "change")} can be undone, see /mulligan show.`)
	);
}

/** What is said once an op was taken back. */
export function undoneAnswer(op: StandingOp, takenBack: TakenBack): Answer {
	if (op.kind === "queued") return answered(`the queued ${plain(op.what)} is dropped; nothing had changed.`);
	return answered(`the ${op.kind} (${plain(op.what)}) is taken back: ${cameBack(takenBack)}`);
}

/** What the context is again, in words. */
export function cameBack({ returned, activated }: TakenBack): string {
	const tokens = returned.reduce((sum, entry) => sum + entry.tokens, 0);
	const back =
		returned.length === 0
			? "nothing of it was in force in the context, so the context stays as it is."
			: `from the next request ${counted(returned.length, "message")} of ~${counted(tokens, "token")} ${returned.length === 1 ? "is" : "are"} as before. Files are as they are.`;
	if (activated.length === 0) return back;
	const names = activated.map(({ describe }) => plain(describe)).join(", ");
	return `${back} What waited became active with it, since the prompt cache breaks anyway: ${names}.`;
}
