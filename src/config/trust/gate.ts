import { isInside, realFolder } from "../sources/places.ts";

/** Lets a project's code run only if it may; the user's own always may. */
export interface Gate {
	/**
	 * Evaluate a code file (ts, mts, js, mjs, cjs) and give its default export, else its namespace. Rejects with
	 * NotApproved, or with the file's own error.
	 */
	load(file: string): Promise<unknown>;
	/** Ask the human once, where there is a UI, for all of these files that are not approved; to be called before `load`. */
	prepare(files: readonly string[]): Promise<void>;
	/** What was left out for want of approval. */
	readonly pending: readonly string[];
	/** Approve what is pending. Returns the files. */
	approve(): Promise<readonly string[]>;
}

/** Code of the project that nobody approved; its message says which and what to do. */
export class NotApproved extends Error {
	override readonly name = "NotApproved";
}

/** A gate for one session. */
export function openGate({
	projectRoot,
	isProjectTrusted,
	savedDecision,
	approveAll,
	ask,
	virtualModules,
}: {
	readonly projectRoot: string;
	readonly isProjectTrusted: boolean;
	/** Pi's saved decision on this project. */
	readonly savedDecision: boolean | null;
	readonly approveAll: boolean;
	readonly ask: ((files: readonly string[]) => Promise<boolean>) | undefined;
	/** What code may import with nothing installed, by specifier. */
	readonly virtualModules: Readonly<Record<string, unknown>>;
}): Gate {
	const approved = new Set<string>();
	const pending = new Set<string>();
	const isOpen = isProjectTrusted && (savedDecision === true || approveAll);
	const mayRun = (file: string) => isOpen || approved.has(file) || !isInside(realFolder(file), projectRoot);
	const approve = async () => {
		const files = [...pending];
		for (const file of files) approved.add(file);
		pending.clear();
		return files;
	};
	return {
		async load(file) {
			if (mayRun(file)) return evaluate(file, virtualModules);
			pending.add(file);
			throw new NotApproved(
				`${file} is code of this project and not approved, so it was not run. Approve it with /mulligan trust, or start Pi with --mulligan-trust.`,
			);
		},
		async prepare(files) {
			const unknown = files.filter((file) => !mayRun(file));
			if (!ask || unknown.length === 0) return;
			if (await ask(unknown)) for (const file of unknown) approved.add(file);
		},
		get pending() {
			return [...pending];
		},
		approve,
	};
}

async function evaluate(file: string, virtualModules: Readonly<Record<string, unknown>>): Promise<unknown> {
	const { createJiti } = await import("jiti");
	const options = { moduleCache: false, fsCache: false, tryNative: false, interopDefault: true, virtualModules };
	const jiti = createJiti(import.meta.url, options as Parameters<typeof createJiti>[1]);
	return jiti.import(file, { default: true });
}
