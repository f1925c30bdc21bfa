/** The name among these that another one was probably meant to be; undefined where none is close. */
export async function closest(name: string, among: readonly string[]): Promise<string | undefined> {
	const { distance } = await import("fastest-levenshtein");
	const [nearest] = among
		.map((known) => ({ known, away: distance(known.toLowerCase(), name.toLowerCase()) }))
		.filter(({ known, away }) => away <= Math.max(1, Math.floor(known.length / 4)))
		.sort((a, b) => a.away - b.away);
	return nearest?.known;
}
