/** A place in a file as its reader counts: line and column from 1. */
export interface Place {
	readonly line: number;
	readonly column: number;
}

/** The way to a value from the root of a block: names and positions in lists. */
export type KeyPath = readonly (string | number)[];

/** What one file says of mulligan, and where in it a key stands; undefined where the format has no places. */
export interface Block {
	readonly value: unknown;
	placeOf(path: KeyPath): Place | undefined;
}

/** Why a file says nothing. */
export interface Problem {
	readonly problem: string;
	readonly place?: Place;
	/** It is code that did not run: nobody approved it, or mulligan is disabled from outside. */
	readonly notRun?: "unapproved" | "disabled";
}

/** The block under one key of another; undefined where the key is not there. */
export function within(block: Block, key: string): Block | undefined {
	if (!isRecord(block.value) || !Object.hasOwn(block.value, key)) return undefined;
	return { value: block.value[key], placeOf: (path) => block.placeOf([key, ...path]) };
}

/** A block of a format that has no places. */
export function placeless(value: unknown): Block {
	return { value, placeOf: () => undefined };
}

/** Line and column of an offset into a text. */
export function placeIn(text: string, offset: number): Place {
	const before = text.slice(0, offset).split("\n");
	return { line: before.length, column: (before.at(-1) ?? "").length + 1 };
}

export function isProblem(read: object): read is Problem {
	return "problem" in read;
}

export function isRecord(value: unknown): value is Record<string, unknown> {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** An object that a config may hold as data: what `{}` makes, and nothing with a class. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
	if (!isRecord(value)) return false;
	const prototype = Object.getPrototypeOf(value);
	return prototype === null || prototype === Object.prototype || Object.getPrototypeOf(prototype) === null;
}
