/** Messages that the report lists unless it is asked for another number. */
const USUAL_TOP = 8;
/** The most that it lists: the report itself must not fill the context. */
export const MOST = 100;

/** The number that a call of the tool asks for: fractions are floored, what is below 1 is the usual one. */
export function topOf(asked: number | undefined): number {
	const top = Math.floor(asked ?? USUAL_TOP);
	return top >= 1 ? Math.min(top, MOST) : USUAL_TOP;
}

/** What is said of a number that was asked for and is not taken; undefined where it is. */
export function remarkOn(asked: number | undefined): string | undefined {
	if (asked === undefined || (Math.floor(asked) >= 1 && asked <= MOST)) return undefined;
	return `top takes a whole number from 1 to ${MOST}; got ${asked}, so it is ${topOf(asked)}.`;
}

/** The number that the human typed after the command; undefined where it is none from 1 on. */
export function typedTop(args: string): number | undefined {
	const typed = args.trim();
	if (typed === "") return USUAL_TOP;
	return /^\d+$/.test(typed) && Number(typed) >= 1 ? topOf(Number(typed)) : undefined;
}
