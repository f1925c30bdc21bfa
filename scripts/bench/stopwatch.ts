import type { AgentSession } from "@earendil-works/pi-coding-agent";

/** One turn of the agent: Pi's clone of the list for its request, and what our handlers took, in milliseconds. */
export interface Turn {
	readonly cloneMs: number;
	/** Milliseconds by event, all calls of the turn together. */
	readonly handlerMs: ReadonlyMap<string, number>;
}

interface OpenTurn extends Turn {
	cloneMs: number;
	readonly handlerMs: Map<string, number>;
}

type Handler = (event: unknown, context: unknown) => unknown;

/**
 * Times the handlers that an extension registered, awaited, where Pi keeps them; and the clone of the message list that
 * Pi makes right before it calls them.
 */
export class Stopwatch {
	readonly #turns: OpenTurn[] = [];
	#isInHandler = false;

	/** The turns that had a request, in order. */
	get turns(): readonly Turn[] {
		return this.#turns.filter(({ cloneMs }) => cloneMs > 0);
	}

	/** Time every handler of one extension from now on. */
	watchHandlers(session: AgentSession, extensionPath: string): void {
		const { extensions } = session.resourceLoader.getExtensions();
		const extension = extensions.find(({ resolvedPath }) => resolvedPath === extensionPath);
		if (!extension) throw new Error(`Pi has not loaded ${extensionPath}.`);
		const handlers = extension.handlers as unknown as Map<string, Handler[]>;
		for (const [event, registered] of handlers)
			handlers.set(
				event,
				registered.map((handler) => this.#timed(event, handler)),
			);
	}

	/** Time Pi's clones of a whole message list, until the returned function is called. */
	watchClones(): () => void {
		const clone = globalThis.structuredClone;
		globalThis.structuredClone = (value, options) => {
			const turn = this.#turns.at(-1);
			if (this.#isInHandler || !turn || turn.cloneMs > 0 || !isMessageList(value)) return clone(value, options);
			const start = performance.now();
			const copy = clone(value, options);
			turn.cloneMs = performance.now() - start;
			return copy;
		};
		return () => {
			globalThis.structuredClone = clone;
		};
	}

	#timed(event: string, handler: Handler): Handler {
		return async (payload, context) => {
			if (event === "turn_start") this.#turns.push({ cloneMs: 0, handlerMs: new Map() });
			const turn = this.#turns.at(-1);
			this.#isInHandler = true;
			const start = performance.now();
			try {
				return await handler(payload, context);
			} finally {
				const took = performance.now() - start;
				this.#isInHandler = false;
				turn?.handlerMs.set(event, (turn.handlerMs.get(event) ?? 0) + took);
			}
		};
	}
}

function isMessageList(value: unknown): boolean {
	return Array.isArray(value) && (value[0] as { readonly role?: unknown } | undefined)?.role !== undefined;
}
