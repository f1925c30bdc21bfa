/** How many calls of one hook in a row a plugin may fail before it is switched off. */
const STRIKES = 3;

/** Who runs and how it fared: the kernel's book on one plugin. */
export interface Owner {
	readonly name: string;
	/** The plugin's name for itself, where the config puts it in another one's place; its taps may bear it. */
	readonly ownName: string;
	/** Why the plugin is switched off; undefined while it runs. */
	off: string | undefined;
	/** Failed calls in a row, by hook. */
	readonly strikes: Map<string, number>;
}

export interface Blame {
	readonly plugin: string;
	readonly hook: string;
	readonly error: unknown;
	/** The plugin was switched off by this failure. */
	readonly switchedOff: boolean;
}

/** How the outcome of one call is judged. */
export interface Verdict<T, Args extends readonly unknown[] = readonly unknown[]> {
	/** What stands in for a failed call. */
	otherwise(error: unknown, args: Args): T;
	/** What is wrong with a returned value; undefined: nothing. */
	complaint?(value: T, args: Args): string | undefined;
	/** Takes a good value. */
	accept?(value: T, args: Args): void;
	/** The hook cannot wait: a promise is a fault. */
	readonly isSync?: boolean;
}

export function owner(name: string, ownName = name): Owner {
	return { name, ownName, off: undefined, strikes: new Map() };
}

/**
 * Runs foreign code so that its faults stay its own. This holds the only `catch` around plugins: a throw, a rejected
 * promise and a value that breaks the hook's rule are blamed on the plugin and the hook, and answered by `otherwise`.
 */
export class Isolation {
	readonly #report: (blame: Blame) => void;

	constructor(report: (blame: Blame) => void) {
		this.#report = report;
	}

	/**
	 * Run one call of a plugin. The result is a promise exactly when the code returned one and may.
	 */
	run<T>(who: Owner, hook: string, code: () => T | Promise<T>, verdict: Verdict<T>): T | Promise<T> {
		return this.call(who, hook, code, [], verdict);
	}

	/** As `run`, with arguments: what judges a hook that is called for every message need not be made for each call. */
	call<T, Args extends readonly unknown[]>(
		who: Owner,
		hook: string,
		code: (...args: Args) => T | Promise<T>,
		args: Args,
		verdict: Verdict<T, Args>,
	): T | Promise<T> {
		try {
			const value = code(...args);
			if (!isThenable(value)) return this.#pass(who, hook, value, args, verdict);
			if (!verdict.isSync)
				return value.then(
					(settled) => this.#pass(who, hook, settled, args, verdict),
					(error) => this.#fail(who, hook, error, args, verdict),
				);
			value.then(undefined, () => {});
			return this.#fail(who, hook, new TypeError("returned a promise from a synchronous hook"), args, verdict);
		} catch (error) {
			return this.#fail(who, hook, error, args, verdict);
		}
	}

	#pass<T, Args extends readonly unknown[]>(
		who: Owner,
		hook: string,
		value: T,
		args: Args,
		verdict: Verdict<T, Args>,
	): T {
		const wrong = verdict.complaint?.(value, args);
		if (wrong !== undefined) return this.#fail(who, hook, new TypeError(wrong), args, verdict);
		if (who.strikes.size > 0) who.strikes.delete(hook);
		verdict.accept?.(value, args);
		return value;
	}

	#fail<T, Args extends readonly unknown[]>(
		who: Owner,
		hook: string,
		error: unknown,
		args: Args,
		verdict: Verdict<T, Args>,
	): T {
		this.#blame(who, hook, error);
		return verdict.otherwise(error, args);
	}

	#blame(who: Owner, hook: string, error: unknown): void {
		const strikes = (who.strikes.get(hook) ?? 0) + 1;
		who.strikes.set(hook, strikes);
		const switchedOff = strikes >= STRIKES && who.off === undefined;
		if (switchedOff) who.off = `threw in ${hook} ${STRIKES} times in a row`;
		this.#report({ plugin: who.name, hook, error, switchedOff });
	}
}

function isThenable<T>(value: T | Promise<T>): value is Promise<T> {
	return typeof value === "object" && value !== null && typeof (value as Promise<unknown>).then === "function";
}

/** An error's message; for other thrown values their text. */
export function messageOfError(error: unknown): string {
	return error instanceof Error ? error.message : String(error);
}
