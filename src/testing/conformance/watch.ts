import type { Plugin } from "../../plugin.ts";
import { essence } from "../compare.ts";
import { textOf } from "../messages.ts";
import type { ModelRequest, Step } from "../scripted-model.ts";
import type { TestSession } from "../test-session.ts";

/** One request, and whether earlier context may differ from the one before: an op became active, or Pi compacted or moved. */
export interface Watched {
	readonly request: ModelRequest;
	readonly mayChange: boolean;
}

/** A plugin that counts the ops that become active. */
export function opCounter(): { readonly plugin: Plugin<never>; count(): number } {
	let activated = 0;
	const plugin: Plugin<never> = {
		name: "conformance-ops",
		setup: ({ hooks }) =>
			hooks.onOp.tap("conformance-ops", ({ status }) => {
				if (status === "activated") activated++;
			}),
	};
	return { plugin, count: () => activated };
}

/** Sees what stood in a session at each of its requests. */
export class Watch {
	readonly watched: Watched[] = [];
	readonly #activated: () => number;
	#session: TestSession | undefined;
	#standing: number | undefined;

	constructor(activated: () => number) {
		this.#activated = activated;
	}

	/** The session to look at from now on; what it sends first must begin as what was sent last. */
	enter(session: TestSession): void {
		this.#session = session;
	}

	/** The same answer, given once what stands at its request was noted. */
	over(step: Step): Step {
		return (request) => {
			const standing = this.#activated() + this.#changes();
			this.watched.push({ request, mayChange: this.#standing !== undefined && standing !== this.#standing });
			this.#standing = standing;
			return typeof step === "function" ? step(request) : step;
		};
	}

	/** Entries that change what was sent before. */
	#changes(): number {
		const entries = this.#session?.branch() ?? [];
		return entries.filter(
			(entry) => entry.type === "compaction" || (entry.type === "custom" && entry.customType === "mulligan:cancel"),
		).length;
	}

	/** The messages of a request without what was added for it alone: no entry of the session says that. */
	lasting({ request }: Watched): ModelRequest["messages"] {
		const last = request.messages.at(-1);
		if (last?.role !== "user" || this.#isStored(textOf(last))) return request.messages;
		return request.messages.slice(0, -1);
	}

	#isStored(text: string): boolean {
		const needle = JSON.stringify(text).slice(1, -1);
		return (this.#session?.entries() ?? []).some((entry) => JSON.stringify(entry).includes(needle));
	}

	/** The first message that a request does not have where the one before had it; undefined where it begins as that did. */
	static brokenAt(before: ModelRequest["messages"], after: ModelRequest["messages"]): number | undefined {
		const index = before.findIndex((message, at) => {
			const now = after[at];
			return now === undefined || essence(now) !== essence(message);
		});
		return index < 0 ? undefined : index;
	}
}
