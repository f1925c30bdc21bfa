import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { type LockOptions, lock } from "proper-lockfile";
import writeFileAtomic from "write-file-atomic";

/** SHA-256 (hex) by file, relative to the project's root with forward slashes. */
type Hashes = Readonly<Record<string, string>>;

interface Store {
	readonly version: 1;
	/** By the project's root, as it really is on disk. */
	readonly projects: Readonly<Record<string, Hashes>>;
}

export type Standing = "approved" | "changed" | "new";

const UNWRITTEN = Symbol.for("pi-mulligan.unwritten-approvals");

const EMPTY: Store = { version: 1, projects: {} };

/** SHA-256 of what a file holds, in hex. */
export function hashOf(bytes: Uint8Array): string {
	return createHash("sha256").update(bytes).digest("hex");
}

/**
 * What the human has approved of one project's code, kept in Pi's agent folder for all processes. A store that can't be
 * read counts as empty, one that can't be written leaves approvals to this process: both with a warning.
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
		this.#hashes = { ...this.#readOrNothing().projects[this.#root], ...this.#unwritten() };
	}

	/** Whether a file of the project may run as it is. */
	standing(file: string, hash: string): Standing {
		const approved = Object.hasOwn(this.#hashes, this.#key(file)) ? this.#hashes[this.#key(file)] : undefined;
		if (approved === undefined) return "new";
		return approved === hash ? "approved" : "changed";
	}

	/**
	 * Approve files as they are now; for this session at once, for later ones once it is written. Never rejects. Returns
	 * whether it is written: false leaves it to this process.
	 */
	async approve(files: readonly { readonly file: string; readonly hash: string }[]): Promise<boolean> {
		const added = Object.fromEntries(files.map(({ file, hash }) => [this.#key(file), hash]));
		this.#hashes = { ...this.#hashes, ...added };
		try {
			mkdirSync(dirname(this.#file), { recursive: true });
			const release = await lock(this.#file, LOCK);
			// A lock that is already gone must not make a store that was written count as lost.
			await this.#write(added).finally(() => release().catch(() => {}));
			return true;
		} catch (error) {
			Object.assign(this.#unwritten(), added);
			this.#warn(
				`${this.#file} cannot be written (${(error as Error).message}): what you approved counts until Pi ends.`,
			);
			return false;
		}
	}

	/** What could not be written of this project: kept with the process, since a reload evaluates this file anew. */
	#unwritten(): Record<string, string> {
		const process = globalThis as { [UNWRITTEN]?: Map<string, Record<string, string>> };
		process[UNWRITTEN] ??= new Map();
		const key = JSON.stringify([this.#file, this.#root]);
		const kept = process[UNWRITTEN].get(key) ?? {};
		process[UNWRITTEN].set(key, kept);
		return kept;
	}

	/** Adds to what the file holds by now: another process may have written since. Rejects where it can't be read. */
	async #write(added: Hashes): Promise<void> {
		const { projects } = this.#read() ?? this.#setAside();
		const mine = { ...projects[this.#root], ...added };
		const store: Store = { version: 1, projects: { ...projects, [this.#root]: mine } };
		await writeFileAtomic(this.#file, `${JSON.stringify(store, null, "\t")}\n`, { mode: 0o600 });
	}

	#readOrNothing(): Store {
		try {
			const store = this.#read();
			if (store) return store;
			const next = `The next approval keeps it as ${this.#file}.corrupt.`;
			this.#warn(`${this.#file} is no store of approvals: nothing counts as approved. ${next}`);
		} catch (error) {
			this.#warn(`${this.#file} cannot be read (${(error as Error).message}): nothing counts as approved.`);
		}
		return EMPTY;
	}

	/** What the file holds; undefined where that is no store. Throws where it is there and can't be read. */
	#read(): Store | undefined {
		let text: string;
		try {
			text = readFileSync(this.#file, "utf8");
		} catch (error) {
			if ((error as NodeJS.ErrnoException).code === "ENOENT") return EMPTY;
			throw error;
		}
		return parseStore(text);
	}

	#setAside(): Store {
		renameSync(this.#file, `${this.#file}.corrupt`);
		return EMPTY;
	}

	#key(file: string): string {
		return relative(this.#root, file).split(sep).join("/");
	}
}

const LOCK: LockOptions = {
	realpath: false,
	/** A process that was killed leaves its lock behind for this long. */
	stale: 5000,
	/** Half a minute in all: a process that holds the lock writes one small file. */
	retries: { retries: 60, factor: 1.2, minTimeout: 10, maxTimeout: 1000, randomize: true },
	// By default it throws from a timer, which would end Pi. The file is written whole in any case.
	onCompromised: () => {},
};

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
