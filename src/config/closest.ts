import { placeText, type UnknownKey, type Warning, warningAt } from "./check.ts";

/** One warning for each unknown key that is close to a known one; the others are ignored in silence. */
export async function hintsFor(unknown: readonly UnknownKey[]): Promise<readonly Warning[]> {
	const hints = await Promise.all(unknown.map(async (key) => [key, await closest(nameOf(key), key.known)] as const));
	return hints.flatMap(([{ spot }, known]) => {
		if (known === undefined) return [];
		const text = `${spot.key} in ${placeText(spot)} is not known and ignored; did you mean "${known}"?`;
		return [warningAt(spot, text, { didYouMean: known })];
	});
}

/** The name among these that another one was probably meant to be; undefined where none is close. */
export async function closest(name: string, among: readonly string[]): Promise<string | undefined> {
	const { distance } = await import("fastest-levenshtein");
	const [nearest] = among
		.map((known) => ({ known, away: distance(known.toLowerCase(), name.toLowerCase()) }))
		.filter(({ known, away }) => away <= Math.max(1, Math.floor(known.length / 4)))
		.sort((a, b) => a.away - b.away);
	return nearest?.known;
}

function nameOf({ spot }: UnknownKey): string {
	return String(spot.path.at(-1));
}
