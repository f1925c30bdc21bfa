import { effectsOf, type Span } from "./bash.ts";
import { displayPath, resolvePath } from "./paths.ts";

/** What a span of tool calls did: sorted, without duplicates, one line each, paths relative to the working directory. */
export interface Ledger {
	readonly filesRead: string[];
	readonly filesModified: string[];
	/** The commands that are not provably read-only. */
	readonly bashSideEffects: string[];
}

/** A tool call as the session holds it. */
export interface LedgerCall {
	readonly name: string;
	readonly arguments: unknown;
	/** The calls that a script-running tool made. */
	readonly nested?: readonly LedgerCall[];
	/** False if the call was blocked or failed before it ran. */
	readonly executed?: boolean;
}

const READING_TOOLS: ReadonlySet<string> = new Set(["read", "readfile", "view", "viewfile", "cat"]);
const WRITING_TOOLS: ReadonlySet<string> = new Set(["write", "writefile", "edit", "editfile", "multiedit"]);
const PATH_KEYS = ["path", "file_path", "filePath"];
const MAX_COMMAND_LENGTH = 300;
const LINE_BREAK = " ⏎ ";

interface Sums {
	readonly cwd: string;
	readonly read: Set<string>;
	readonly modified: Set<string>;
	readonly sideEffects: Set<string>;
}

/** Says what the calls did, from their arguments alone: what a result says is not consulted. */
export function ledgerOf(calls: readonly LedgerCall[], cwd: string): Ledger {
	const sums: Sums = { cwd, read: new Set(), modified: new Set(), sideEffects: new Set() };
	for (const call of executedCalls(calls)) add(call, sums);
	return {
		filesRead: [...sums.read].sort(),
		filesModified: [...sums.modified].sort(),
		bashSideEffects: [...sums.sideEffects].sort(),
	};
}

function* executedCalls(calls: readonly LedgerCall[]): Generator<LedgerCall> {
	const waiting = [...calls];
	for (let call = waiting.pop(); call !== undefined; call = waiting.pop()) {
		if (call.executed === false) continue;
		yield call;
		for (const nested of call.nested ?? []) waiting.push(nested);
	}
}

function add({ name, arguments: args }: LedgerCall, sums: Sums): void {
	if (!isRecord(args)) return;
	const tool = name.toLowerCase().replace(/[_-]/g, "");
	if (READING_TOOLS.has(tool)) addPaths(sums.read, pathsIn(args), sums.cwd);
	else if (WRITING_TOOLS.has(tool)) addPaths(sums.modified, pathsIn(args), sums.cwd);
	else if (typeof args.command !== "string") return;
	else if (tool === "bash") addBash(args.command, sums);
	else if (tool === "powershell") addSideEffect(args.command, [], sums);
}

function addBash(command: string, sums: Sums): void {
	const { files, isReadOnly, documents } = effectsOf(command, sums.cwd);
	for (const file of files) sums.modified.add(displayPath(file, sums.cwd));
	if (!isReadOnly) addSideEffect(command, documents, sums);
}

function addSideEffect(command: string, documents: readonly Span[], sums: Sums): void {
	const line = onOneLine(withoutDocuments(command, documents));
	if (line !== "") sums.sideEffects.add(line);
}

/** The paths of a call, and of the edits in it where they name their own. */
function pathsIn(args: Record<string, unknown>): string[] {
	const edits = Array.isArray(args.edits) ? args.edits.filter(isRecord) : [];
	return [args, ...edits].flatMap((record) => {
		const path = PATH_KEYS.map((key) => record[key]).find((value) => typeof value === "string");
		return typeof path === "string" ? [path] : [];
	});
}

/** Pi ignores an `@` before a path. */
function addPaths(into: Set<string>, paths: readonly string[], cwd: string): void {
	for (const path of paths) {
		const resolved = resolvePath(path.replace(/^@/, ""), cwd);
		if (resolved !== undefined) into.add(displayPath(resolved, cwd));
	}
}

function withoutDocuments(command: string, documents: readonly Span[]): string {
	let text = "";
	let at = 0;
	for (const { start, end } of documents) {
		text += `${command.slice(at, start)}…`;
		at = end;
	}
	return text + command.slice(at);
}

function onOneLine(text: string): string {
	const lines = text.replace(/\\\r?\n[ \t]*/g, "").split(/[\r\n]+/);
	const shown = lines.map((line) => line.replace(/\p{Cc}/gu, " ").trim()).filter((line) => line !== "");
	return shortened(shown.join(LINE_BREAK));
}

function shortened(line: string): string {
	if (line.length <= MAX_COMMAND_LENGTH) return line;
	return `${line.slice(0, MAX_COMMAND_LENGTH - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
}

function isRecord(value: unknown): value is Record<string, unknown> {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}
