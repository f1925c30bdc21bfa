import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { lock } from "proper-lockfile";
import writeFileAtomic from "write-file-atomic";

/** SHA-256 (hex) by file, relative to the project's root with forward slashes. */
type Hashes = Readonly<Record<string, string>>;

interface Store {
	readonly version: 1;
	/** By the project's root, as it really is on disk. */
	readonly projects: Readonly<Record<string, Hashes>>;
}

export type Standing = "approved" | "changed" | "new";

const EMPTY: Store = { version: 1, projects: {} };

/** SHA-256 of what a file holds, in hex. */
export function hashOf(bytes: Uint8Array): string {
	return createHash("sha256").update(bytes).digest("hex");
}

/**
 * What the human has approved of one project's code, kept in Pi's agent folder for all processes. A store that can't be
 * read counts as empty, one that can't be written leaves approvals to this session: both with a warning.
 */
export class Approvals {
	readonly #file: string;
	readonly #root: string;
	readonly #warn: (text: string) => void;
	#hashes: Hashes;

	constructor(options: {
		readonly agentDir: string;
		/** The project's folder, as it really is on disk. */
		readonly root: string;
		readonly warn: (text: string) => void;
	}) {
		this.#file = join(options.agentDir, "mulligan", "approvals.json");
		this.#root = options.root;
		this.#warn = options.warn;
		this.#hashes = this.#read().projects[this.#root] ?? {};
	}

	/** Whether a file of the project may run as it is. */
	standing(file: string, hash: string): Standing {
		const approved = Object.hasOwn(this.#hashes, this.#key(file)) ? this.#hashes[this.#key(file)] : undefined;
		if (approved === undefined) return "new";
		return approved === hash ? "approved" : "changed";
	}

	/** Approve files as they are now; for this session at once, for later ones once it is written. Never rejects. */
	async approve(files: readonly { readonly file: string; readonly hash: string }[]): Promise<void> {
		const added = Object.fromEntries(files.map(({ file, hash }) => [this.#key(file), hash]));
		this.#hashes = { ...this.#hashes, ...added };
		try {
			mkdirSync(dirname(this.#file), { recursive: true });
			const release = await lock(this.#file, { realpath: false, stale: 10_000, retries: LOCK_RETRIES });
			try {
				await this.#write(added);
			} finally {
				await release();
			}
		} catch (error) {
			this.#warn(
				`${this.#file} cannot be written (${(error as Error).message}): what you approved counts for this session only.`,
			);
		}
	}

	/** Adds to what the file holds by now: another process may have written since. */
	async #write(added: Hashes): Promise<void> {
		const { projects } = this.#read({ keepCorrupt: true });
		const mine = { ...projects[this.#root], ...added };
		const store: Store = { version: 1, projects: { ...projects, [this.#root]: mine } };
		await writeFileAtomic(this.#file, `${JSON.stringify(store, null, "\t")}\n`, { mode: 0o600 });
	}

	#read({ keepCorrupt = false } = {}): Store {
		let text: string;
		try {
			text = readFileSync(this.#file, "utf8");
		} catch (error) {
			if ((error as NodeJS.ErrnoException).code !== "ENOENT")
				this.#warn(`${this.#file} cannot be read (${(error as Error).message}): nothing counts as approved.`);
			return EMPTY;
		}
		const store = parseStore(text);
		if (store) return store;
		if (keepCorrupt) renameSync(this.#file, `${this.#file}.corrupt`);
		else
			this.#warn(
				`${this.#file} is no store of approvals: nothing counts as approved. The next approval keeps it as ${this.#file}.corrupt.`,
			);
		return EMPTY;
	}

	#key(file: string): string {
		return relative(this.#root, file).split(sep).join("/");
	}
}

/** Half a minute in all: a process that holds the lock writes one small file. */
const LOCK_RETRIES = { retries: 60, factor: 1.2, minTimeout: 10, maxTimeout: 1000, randomize: true };

function parseStore(text: string): Store | undefined {
	let parsed: unknown;
	try {
		parsed = JSON.parse(text);
	} catch {
		return undefined;
	}
	const store = parsed as Partial<Store> | null;
	if (store?.version !== 1 || !isRecord(store.projects)) return undefined;
	const isHashes = (value: unknown) =>
		isRecord(value) && Object.values(value).every((hash) => typeof hash === "string");
	return Object.values(store.projects).every(isHashes) ? (store as Store) : undefined;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}
