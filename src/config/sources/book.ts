import type { Warning } from "../check.ts";
import type { Block, Problem } from "../read/block.ts";

export type Scope = "user" | "project";

/** What one file says, and who speaks in it. */
export interface Source {
	readonly file: string;
	readonly scope: Scope;
	/** Code, which ran: the user's own, or approved. */
	readonly isCode: boolean;
	readonly block: Block;
}

/** What became of one place that config may come from. */
export interface SourceReport {
	/** A file, or the name of a variable of the environment. */
	readonly file: string;
	readonly scope: Scope | "environment";
	/**
	 * `untrusted`: Pi does not trust the project. `unapproved`: code that nobody approved. `shadowed`: another config of
	 * the same folder counts. `disabled`: code, which does not run under MULLIGAN_DISABLED.
	 */
	readonly state: "read" | "absent" | "untrusted" | "unapproved" | "unreadable" | "shadowed" | "disabled";
	readonly why?: string;
}

/** What was read so far, the lowest source first. */
export class SourceBook {
	readonly sources: Source[] = [];
	readonly reports: SourceReport[] = [];
	readonly warnings: Warning[] = [];

	take(source: Source): void {
		this.sources.push(source);
		this.reports.push({ file: source.file, scope: source.scope, state: "read" });
	}

	report(report: SourceReport): void {
		this.reports.push(report);
	}

	/** A file that says nothing, because of a problem; `lost` is what the human loses by it. */
	leave({ file, scope }: { readonly file: string; readonly scope: Scope }, problem: Problem, lost = "it is"): void {
		const { problem: why, place, notRun } = problem;
		this.report({ file, scope, state: notRun ?? "unreadable", why });
		if (notRun === "disabled") return;
		const at = place ? ` at line ${place.line} column ${place.column}` : "";
		const text = notRun ? why : `${file} cannot be read, so ${lost} ignored: ${why}${at}`;
		this.warn({ file, text, ...place });
	}

	warn(warning: Omit<Warning, "key">): void {
		this.warnings.push({ key: "mulligan", ...warning });
	}
}
