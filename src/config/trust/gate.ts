import { relative } from "node:path";
import type { Jiti } from "jiti";
import type { Warning } from "../check.ts";
import type { Content } from "../read/file.ts";
import type { Scope } from "../sources/book.ts";
import { Approvals, hashOf, type Standing } from "./approvals.ts";
import { openJiti, ProjectModules, type VirtualModules } from "./modules.ts";
import { type ScannedFile, scan } from "./scan.ts";
import { Territory } from "./territory.ts";

/** A file that wants to run, for the human to decide on. */
export interface Candidate {
	/** Relative to the project's folder. */
	readonly path: string;
	/** `changed`: the human approved another content of it. */
	readonly standing: Exclude<Standing, "approved">;
}

/** Lets a project's code run only if it may; the user's own always may. */
export interface Gate {
	/**
	 * Run a code file (config or plugin) and give its default export, else all of its exports. What the user's own config
	 * is or names runs, wherever it lies; what the project is or names only if it may. Rejects with NotApproved, or with the
	 * file's own error.
	 */
	load(file: string, saidBy: Scope): Promise<unknown>;
	/**
	 * Settle what these files of the project need, before any of them is loaded: asks the human once where there is
	 * something to ask.
	 */
	prepare(files: readonly string[]): Promise<void>;
	/** The files that were left out for want of approval. */
	readonly pending: readonly string[];
	/** Approve what is pending, as it is on disk now. It runs from the next session start on. */
	approve(): Promise<Approved>;
}

/** What was approved, and whether it is kept beyond this process. */
export interface Approved {
	readonly files: readonly string[];
	readonly isKept: boolean;
}

/** Code of the project that may not run; its message says which, why, and what to do. */
export class NotApproved extends Error {
	override readonly name = "NotApproved";
}

export interface GateOptions {
	readonly agentDir: string;
	/** The folder whose files are the project's. */
	readonly projectRoot: string;
	/** Pi runs with the project's own settings and extensions. */
	readonly isProjectTrusted: boolean;
	/** What the human once told Pi of this folder or one above it; null: nothing. */
	readonly savedDecision: boolean | null;
	/** The human wants all of it approved, and said so when starting Pi. */
	readonly approveAll: boolean;
	/** Puts the question to the human; undefined where nobody can be asked. */
	readonly ask: ((candidates: readonly Candidate[]) => Promise<boolean>) | undefined;
	/** What the human has said no to in this session, which is not asked again; the gate adds to it. */
	readonly refused?: Set<string>;
	readonly virtualModules: VirtualModules;
	readonly warn: (warning: Warning) => void;
}

type Rule = "all" | "approved" | "none";

const HOW = "Approve with /mulligan trust, or start Pi once with --mulligan-trust.";

export function openGate(options: GateOptions): Gate {
	return new ProjectGate(options);
}

/** Whose code of the project may run: all once the human has told Pi so for good, none where the project isn't trusted. */
function ruleOf({ isProjectTrusted, savedDecision }: GateOptions): Rule {
	if (!isProjectTrusted || savedDecision === false) return "none";
	return savedDecision === true ? "all" : "approved";
}

class ProjectGate implements Gate {
	readonly #options: GateOptions;
	readonly #rule: Rule;
	readonly #refused: Set<string>;
	readonly #territory: Territory;
	readonly #approvals: Approvals;
	readonly #pending = new Set<string>();
	/** Approved as they were met, by the human's word for all; not yet kept. */
	#met: ScannedFile[] = [];
	#jiti: Promise<Jiti> | undefined;
	#modules: ProjectModules | undefined;

	constructor(options: GateOptions) {
		this.#options = options;
		this.#rule = ruleOf(options);
		this.#refused = options.refused ?? new Set();
		this.#territory = new Territory(options.projectRoot);
		this.#approvals = new Approvals({
			agentDir: options.agentDir,
			root: this.#territory.root,
			warn: (text) => options.warn({ key: "trust", text }),
		});
	}

	get pending(): readonly string[] {
		return [...this.#pending];
	}

	async load(file: string, saidBy: Scope): Promise<unknown> {
		if (saidBy === "user") return defaultOf(await (await this.#openJiti()).import(file));
		const own = this.#territory.own(file);
		if (own === undefined) throw new NotApproved(`${file} is not run: it lies outside of the project that names it.`);
		if (this.#rule === "none")
			throw new NotApproved(`${file} is not run: the project is not trusted. Trust it in Pi (/trust) to change that.`);
		this.#modules ??= new ProjectModules({
			jiti: await this.#openJiti(),
			virtualModules: this.#options.virtualModules,
			own: (path) => this.#territory.own(path),
			check: (path, content) => this.#check(path, content),
		});
		return defaultOf(await this.#modules.import(own).finally(() => this.#keepMet()));
	}

	async prepare(files: readonly string[]): Promise<void> {
		if (this.#rule !== "approved" || files.length === 0) return;
		const waiting = (await this.#scan(files)).filter((found) => !found.isForeign && this.#candidate(found));
		if (waiting.length === 0) return;
		if (this.#options.approveAll) return void (await this.#approvals.approve(waiting));
		const unasked = waiting.filter((found) => !this.#refused.has(keyOf(found)));
		const isYes = unasked.length > 0 && (await this.#ask(unasked));
		if (isYes) await this.#approvals.approve(unasked);
		for (const found of waiting) if (!isYes || !unasked.includes(found)) this.#pending.add(found.file);
	}

	async approve(): Promise<Approved> {
		const files = (await this.#scan(this.pending)).filter(({ isForeign }) => !isForeign);
		const isKept = await this.#approvals.approve(files);
		this.#pending.clear();
		return { files: files.map(({ file }) => file), isKept };
	}

	/** No answer is a no. */
	async #ask(waiting: readonly ScannedFile[]): Promise<boolean> {
		const { ask } = this.#options;
		if (!ask) return false;
		const isYes = await ask(waiting.flatMap((found) => this.#candidate(found) ?? [])).catch(() => false);
		if (!isYes) for (const found of waiting) this.#refused.add(keyOf(found));
		return isYes;
	}

	#check(file: string, { bytes, isForeign }: Content): void {
		if (this.#territory.own(file) === undefined) return;
		if (isForeign) throw new NotApproved(`${file} is not run: it belongs to another user.`);
		if (this.#rule === "all") return;
		const found = { file, hash: hashOf(bytes), isForeign };
		const candidate = this.#candidate(found);
		if (!candidate) return;
		if (this.#options.approveAll) return void this.#met.push(found);
		this.#pending.add(file);
		const why = candidate.standing === "changed" ? "it has changed since it was approved" : "nobody has approved it";
		throw new NotApproved(`${file} is not run: ${why}. ${HOW}`);
	}

	async #keepMet(): Promise<void> {
		const met = this.#met;
		this.#met = [];
		if (met.length > 0) await this.#approvals.approve(met);
	}

	#candidate({ file, hash }: ScannedFile): Candidate | undefined {
		const standing = this.#approvals.standing(file, hash);
		return standing === "approved" ? undefined : { path: relative(this.#territory.root, file), standing };
	}

	async #scan(files: readonly string[]): Promise<readonly ScannedFile[]> {
		return scan(files, {
			jiti: await this.#openJiti(),
			own: (file) => this.#territory.own(file),
		});
	}

	#openJiti(): Promise<Jiti> {
		this.#jiti ??= openJiti(`${this.#territory.root}/`, this.#options.virtualModules);
		return this.#jiti;
	}
}

function keyOf({ file, hash }: ScannedFile): string {
	return `${hash} ${file}`;
}

function defaultOf(exports: unknown): unknown {
	const module = exports as { readonly default?: unknown } | null | undefined;
	return typeof module === "object" && module !== null && "default" in module ? module.default : exports;
}
