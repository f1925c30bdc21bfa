import type { Owner } from "./isolate.ts";
import type { NotifyLevel, Screen } from "./plugin.ts";

/** What the kernel needs of Pi. */
export interface Host {
	/** Append a custom entry at the leaf. */
	append(type: string, data: object): void;
	/** Store a custom message after the current turn's results; it must not cause a request. */
	note(note: { readonly customType: string; readonly content: string; readonly details: object }): void;
	label(id: string, label: string | undefined): void;
	notify(text: string, level: NotifyLevel): void;
	log(line: string): void;
	now(): number;
	newId(): string;
	readonly screen: Screen;
	/** Pi's raw API for one plugin; each of its handlers runs inside `run`, which blames a throw and passes it on. */
	raw(who: Owner, run: <T>(hook: string, code: () => T | Promise<T>) => T | Promise<T>): unknown;
}
