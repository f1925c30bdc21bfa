/** Messages that the report lists unless it is asked for another number. */
const USUAL_TOP = 8;
/** The most that it lists: the report itself must not fill the context. */
export const MOST = 100;

/** The number that a call of the tool asks for: fractions are floored, what is below 1 or no number is the usual one. */
export function topOf(asked: unknown): number {
	const top = typeof asked === "number" ? Math.floor(asked) : Number.NaN;
	return top >= 1 ? Math.min(top, MOST) : USUAL_TOP;
}

/** The number that the human typed after the command; undefined where it is none from 1 on. */
export function typedTop(args: string): number | undefined {
	const typed = args.trim();
	if (typed === "") return USUAL_TOP;
	return /^\d+$/.test(typed) && Number(typed) >= 1 ? topOf(Number(typed)) : undefined;
}
