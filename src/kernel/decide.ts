/** A break of the prompt cache that happens anyway. */
export type FreeRide = "compaction" | "model change" | "cancel" | "resume";

/** All that the decision on the waiting ops depends on. Tokens are plain estimates, net of what replaces them. */
export interface Situation {
	/** Ops that wait, those of this turn included. */
	readonly waiting: number;
	readonly volumeTokens: number;
	/** Ops that were submitted in this turn, activated ones included. */
	readonly opsInTurn: number;
	/** An op has become active in this turn. */
	readonly isMoment: boolean;
	/** The model has called mulligan_audit in this turn. */
	readonly isAudited: boolean;
	readonly freeRide?: FreeRide | undefined;
	readonly spent: number;
	readonly maxMoments: number;
	readonly flushShedTokens: number;
	readonly safetyValveTokens: number;
}

export type Trigger = "same turn" | "volume" | "second op" | "audit" | "safety valve" | FreeRide;

export type Decision =
	| { readonly do: "wait" }
	| {
			readonly do: "activate";
			readonly trigger: Trigger;
			/** The prompt cache breaks anyway: nothing of the budget is spent. */
			readonly free: boolean;
	  };

/**
 * Whether the waiting ops become active now, all of them, or wait. Each activation breaks the prompt cache, so while
 * the budget lasts it must be worth a moment, and after that it must come for free.
 */
export function decide(now: Situation): Decision {
	const spend = (trigger: Trigger): Decision => ({ do: "activate", trigger, free: false });
	const ride = (trigger: Trigger): Decision => ({ do: "activate", trigger, free: true });
	if (now.waiting === 0) return { do: "wait" };
	if (now.isMoment) return ride("same turn");
	if (now.freeRide) return ride(now.freeRide);
	if (now.spent < now.maxMoments) {
		if (now.volumeTokens >= now.flushShedTokens) return spend("volume");
		if (now.opsInTurn > 1) return spend("second op");
		return now.isAudited ? spend("audit") : { do: "wait" };
	}
	if (now.isAudited) return ride("audit");
	return now.maxMoments > 0 && now.volumeTokens > now.safetyValveTokens ? spend("safety valve") : { do: "wait" };
}
