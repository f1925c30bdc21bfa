/** What the human is told. A refusal is a warning. */
export interface Answer {
	readonly text: string;
	readonly level: "warning" | "answer";
}

/** An answer that nothing was done, and why. */
export function refused(why: string): Answer {
	return { text: `Mulligan: refused — ${why}`, level: "warning" };
}

/** An answer that something was done. */
export function answered(text: string): Answer {
	return { text: `Mulligan: ${text}`, level: "answer" };
}
