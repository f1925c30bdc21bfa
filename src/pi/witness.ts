import { type Branch, type ContextEntry, keyOf } from "../kernel/branch.ts";
import type { Message } from "../kernel/messages.ts";
import { messageTokens } from "../kernel/tokens.ts";

/** How a request's list, as it reached us, differs from the session's branch; in messages. */
export interface Witnessed {
	readonly messages: number;
	readonly added: number;
	readonly missing: number;
	readonly changed: number;
}

/** Looks at one request's list when it was asked to: walking the list costs too much for each. */
export class Witness {
	#isWatching = false;
	#seen: Witnessed | undefined;

	/** What was seen of the request that was watched last. */
	get seen(): Witnessed | undefined {
		return this.#seen;
	}

	/** Look at the next request. */
	watch(): void {
		this.#isWatching = true;
	}

	/** A request's list has arrived. */
	look(messages: readonly Message[], branch: Branch): void {
		if (!this.#isWatching) return;
		this.#isWatching = false;
		this.#seen = difference(messages, branch.context());
	}
}

/** Compares by what identifies a message, and the sizes of those that are the same. System messages are Pi's own. */
export function difference(messages: readonly Message[], context: readonly ContextEntry[]): Witnessed {
	const expected = new Map<string, ContextEntry[]>();
	for (const entry of context) {
		const key = keyOf(entry.message);
		expected.set(key, [...(expected.get(key) ?? []), entry]);
	}
	const found = messages
		.filter(({ role }) => role !== "system")
		.map((message) => ({ message, entry: expected.get(keyOf(message))?.shift() }));
	return {
		messages: found.length,
		added: found.filter(({ entry }) => !entry).length,
		missing: [...expected.values()].flat().length,
		changed: found.filter(({ message, entry }) => entry && messageTokens(message) !== entry.tokens).length,
	};
}
