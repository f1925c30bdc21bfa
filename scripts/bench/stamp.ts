import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

/** Pi's loader gives an extension modules of its own: what they share with the process that measures is global. */
const STAMP = Symbol.for("pi-mulligan:bench:session-start");
const shared = globalThis as typeof globalThis & { [STAMP]?: number };

/** An extension that notes when a session starts. Loaded before another one, it tells when that one's own start began. */
export default function stamp(pi: ExtensionAPI): void {
	pi.on("session_start", () => {
		shared[STAMP] = performance.now();
	});
}

/** What the extension noted last, as `performance.now()` gave it. */
export function startedAt(): number {
	return shared[STAMP] ?? Number.NaN;
}
