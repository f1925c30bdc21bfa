/** How the markers of a session lie: so many rewinds and shrinks in turn, or one rewind that hides half of it. */
export type Markers = 0 | 5 | 32 | "half";

/** A session to measure. */
export interface Shape {
	readonly messages: number;
	readonly textBytes: number;
	readonly markers: Markers;
}

/** How often at most a session is resumed, and how many requests are made each time. */
export interface Effort {
	readonly resumes: number;
	readonly requests: number;
}

const sizes: readonly (Effort & Pick<Shape, "messages">)[] = [
	{ messages: 200, resumes: 3, requests: 30 },
	{ messages: 2_000, resumes: 3, requests: 24 },
	{ messages: 20_000, resumes: 3, requests: 6 },
];

/** Every session that is measured, small ones first. */
export function cases(): (Shape & Effort)[] {
	return sizes.flatMap((size) =>
		[200, 4_096].flatMap((textBytes) =>
			([0, 5, 32, "half"] as const).map((markers) => ({ ...size, textBytes, markers })),
		),
	);
}
