import { type Learned, nothingLearned } from "../kernel/tokens.ts";

/** A reload evaluates this file anew, so what must outlive it is kept with the process. */
const LEARNED = Symbol.for("pi-mulligan.learned");

/** What this process has learned of the models' tokens in a session: a reload is no reason to learn it again. */
export function learnedIn(sessionId: string): Learned {
	const process = globalThis as { [LEARNED]?: Map<string, Learned> };
	process[LEARNED] ??= new Map();
	const learned = process[LEARNED].get(sessionId) ?? nothingLearned();
	process[LEARNED].set(sessionId, learned);
	return learned;
}
