import { messageOfError } from "../../kernel/isolate.ts";
import type { Scope } from "../sources/book.ts";
import { type Gate, NotApproved } from "../trust/gate.ts";
import { type Block, isRecord, type Problem, placeless } from "./block.ts";
import { snapshot } from "./snapshot.ts";

/** A file that takes longer hangs, and must not hang the session with it. */
const PATIENCE_MS = 10_000;

/** Who names a code file, and what it has to pass. */
export interface Passage {
	readonly gate: Gate;
	readonly saidBy: Scope;
	readonly patienceMs?: number;
}

/** What a code file exports, or why it does not. The plugins in it are the very objects, all else is a copy. */
export async function readCode(file: string, passage: Passage): Promise<Block | Problem> {
	const loaded = await load(file, passage);
	return "problem" in loaded ? loaded : copied(loaded.value);
}

/** The value that a code file exports, or why there is none. */
export async function load(
	file: string,
	{ gate, saidBy, patienceMs = PATIENCE_MS }: Passage,
): Promise<{ readonly value: unknown } | Problem> {
	try {
		return { value: await within(patienceMs, gate.load(file, saidBy)) };
	} catch (error) {
		return { problem: messageOfError(error), ...(error instanceof NotApproved ? { notRun: "unapproved" } : {}) };
	}
}

function copied(exported: unknown): Block | Problem {
	if (!isRecord(exported)) return placeless(exported);
	try {
		const { plugins, replace, ...sections } = exported;
		const lists = Object.entries({ plugins, replace }).filter(([, value]) => value !== undefined);
		return placeless({ ...(snapshot({ ...sections }) as object), ...Object.fromEntries(lists) });
	} catch (error) {
		return { problem: messageOfError(error) };
	}
}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
	let timer: NodeJS.Timeout | undefined;
	const tooLong = new Promise<never>((_resolve, reject) => {
		timer = setTimeout(() => reject(new Error(`it was still loading after ${ms / 1000} s`)), ms);
	});
	return Promise.race([work, tooLong]).finally(() => clearTimeout(timer));
}
