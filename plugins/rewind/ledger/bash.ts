import {
	type AndOr,
	type Assignment,
	type Case,
	type Command,
	forEachChild,
	type HereDoc,
	type If,
	type ParsedScript,
	type Pipeline,
	parse,
	type Redirect,
	type Redirection,
	type SyntaxNode,
} from "unbash";
import { ruleOf } from "./commands.ts";
import { isHarmlessVariable } from "./environment.ts";
import { parseOptions } from "./options.ts";
import { isDevice, isHarmlessDevice, resolvePath } from "./paths.ts";
import type { Invocation } from "./rules.ts";
import { type Argument, known, toArguments, UNKNOWN } from "./words.ts";

/** What a bash command did, as far as its text tells. */
interface BashEffects {
	/** The files it wrote, removed or moved, resolved. */
	readonly files: readonly string[];
	/** Whether it provably changed nothing. */
	readonly isReadOnly: boolean;
	/** Where its here-documents stand in the text, in their order. */
	readonly documents: readonly Span[];
}

/** A stretch of text, from `start` up to but not including `end`. */
export interface Span {
	readonly start: number;
	readonly end: number;
}

/** Deeper and longer scripts are not read: parsing costs their length at each level. */
const MAX_DEPTH = 16;
const MAX_LENGTH = 1 << 18;

const DIRECTORY_COMMANDS: ReadonlySet<string> = new Set(["cd", "pushd", "popd"]);

interface Findings {
	readonly files: Set<string>;
	readonly documents: Span[];
	isReadOnly: boolean;
}

interface Scope {
	/** The working directory, undefined where it can't be known. */
	directory: string | undefined;
	previous: string | undefined;
	readonly depth: number;
	readonly found: Findings;
}

/** Reads a bash command that starts in `directory`; what can't be parsed of it is not read-only and names no files. */
export function effectsOf(command: string, directory: string): BashEffects {
	const found: Findings = { files: new Set(), documents: [], isReadOnly: true };
	const scope: Scope = { directory, previous: undefined, depth: 0, found };
	try {
		readScript(command, scope);
	} catch {
		// The parser overflows the stack on some nestings.
		found.isReadOnly = false;
	}
	const documents = found.documents.sort((one, other) => one.start - other.start);
	return { files: [...found.files], isReadOnly: found.isReadOnly, documents };
}

function readScript(source: string, scope: Scope): void {
	if (source.length > MAX_LENGTH) scope.found.isReadOnly = false;
	else visitScript(parse(source), scope);
}

function visitScript(script: ParsedScript | undefined, scope: Scope): void {
	if (script === undefined || script.errors?.length || scope.depth > MAX_DEPTH) scope.found.isReadOnly = false;
	else visitAll(script.commands, scope);
}

function visitAll(nodes: readonly SyntaxNode[], scope: Scope): void {
	for (const node of nodes) visit(node, scope);
}

function visitChildren(node: SyntaxNode, scope: Scope): void {
	forEachChild(node, (child) => visit(child, scope));
}

function visit(node: SyntaxNode, scope: Scope): void {
	switch (node.type) {
		case "Statement":
			visit(node.command, node.background ? forked(scope) : scope);
			break;
		case "Pipeline":
			visitPipeline(node, scope);
			break;
		case "AndOr":
			visitAndOr(node, scope);
			break;
		case "Subshell":
		case "Coproc":
			visitChildren(node, forked(scope));
			break;
		case "If":
			visitIf(node, scope);
			break;
		case "Case":
			visitCase(node, scope);
			break;
		case "For":
		case "Select":
			visitAll(node.wordlist ?? [], scope);
			visitOptional([node.body], scope);
			break;
		case "While":
			visitOptional([node.clause, node.body], scope);
			break;
		case "ArithmeticFor":
			visitOptional([node.initialize, node.test, node.update, node.body].filter(isPresent), scope);
			break;
		case "Function":
			visitOptional([node.body], scope);
			break;
		case "Redirected":
			visitAll(node.redirects, scope);
			visit(node.command, scope);
			break;
		case "CommandExpansion":
		case "ArithmeticCommandExpansion":
		case "ProcessSubstitution":
			visitScript(node.script, deeper(scope));
			break;
		case "Command":
			visitCommand(node, scope);
			break;
		case "Assignment":
			visitAssignment(node, scope);
			break;
		case "Redirect":
			visitRedirect(node, scope);
			break;
		case "HereDoc":
			visitHereDoc(node, scope);
			break;
		default:
			visitChildren(node, scope);
	}
}

function isPresent<T>(value: T | undefined): value is T {
	return value !== undefined;
}

function forked(scope: Scope): Scope {
	return { ...scope };
}

function deeper(scope: Scope): Scope {
	return { ...scope, depth: scope.depth + 1 };
}

/** Each command of a pipeline of several has a shell of its own. */
function visitPipeline({ commands }: Pipeline, scope: Scope): void {
	for (const command of commands) visit(command, commands.length > 1 ? forked(scope) : scope);
}

/** Takes `a && b` to have run both; `b` of `a || b` to have run where `a` started. */
function visitAndOr({ commands, operators }: AndOr, scope: Scope): void {
	let before = forked(scope);
	for (const [at, command] of commands.entries()) {
		if (operators[at - 1] === "||") visitAlternative(command, before, scope);
		else {
			before = forked(scope);
			visit(command, scope);
		}
	}
}

function visitAlternative(command: SyntaxNode, before: Scope, scope: Scope): void {
	const alternative = forked(before);
	visit(command, alternative);
	const hasMoved = alternative.directory !== before.directory;
	if (hasMoved && alternative.directory !== scope.directory) scope.directory = undefined;
}

function visitIf(node: If, scope: Scope): void {
	visitAll([node.clause, ...node.elif.map(({ clause }) => clause)], scope);
	const bodies = [node.then, ...node.elif.map(({ then }) => then)].map((body) => [body]);
	visitBranches([...bodies, node.else === undefined ? [] : [node.else]], scope);
}

function visitCase(node: Case, scope: Scope): void {
	visitAll([node.word, ...node.items.flatMap(({ pattern }) => pattern)], scope);
	visitBranches([...node.items.map(({ body }) => [body]), []], scope);
}

/** Nodes that may not run at all, or at another place, as the bodies of loops and functions. */
function visitOptional(nodes: readonly SyntaxNode[], scope: Scope): void {
	visitBranches([nodes, []], scope);
}

/** One of the branches runs: where they end up apart, the directory is lost. */
function visitBranches(branches: readonly (readonly SyntaxNode[])[], scope: Scope): void {
	const ends = branches.map((branch) => {
		const own = forked(scope);
		visitAll(branch, own);
		return own.directory;
	});
	scope.directory = ends.every((end) => end === ends[0]) ? ends[0] : undefined;
}

function visitAssignment(node: Assignment, scope: Scope): void {
	const value = node.value.type === "Word" ? node.value.value : "";
	if (!isHarmlessVariable(node.name, value)) scope.found.isReadOnly = false;
	visitChildren(node, scope);
}

function visitRedirect(node: Redirect, scope: Scope): void {
	visitChildren(node, scope);
	if (node.operator === "<" || node.operator === "<&") return;
	const target = node.target === undefined ? UNKNOWN : (toArguments(node.target)[0] ?? UNKNOWN);
	const isCopy = node.operator === ">&" && target.isKnown && /^\d*-?$/.test(target.text);
	if (isCopy || (target.isKnown && isHarmlessDevice(target.text))) return;
	scope.found.isReadOnly = false;
	addFile(target, scope);
}

function visitHereDoc(node: HereDoc, scope: Scope): void {
	if (scope.depth === 0) scope.found.documents.push({ start: node.body.pos, end: node.closing?.end ?? node.body.end });
	visitChildren(node, scope);
}

function visitCommand(node: Command, scope: Scope): void {
	visitChildren(node, scope);
	if (node.name === undefined) return;
	const words = [node.name, ...node.args].flatMap(toArguments);
	run({ words, input: inputOf(node.redirects) }, scope);
}

/** The standard input that the text itself shows. */
function inputOf(redirects: readonly Redirection[]): Argument | undefined {
	const input = redirects.findLast(({ operator }) => operator.startsWith("<") && operator !== "<>");
	if (input?.type === "HereDoc") return documentText(input);
	if (input?.type === "HereString") return input.target && toArguments(input.target)[0];
	return input && UNKNOWN;
}

function documentText({ body, delimiter }: HereDoc): Argument {
	const isLiteral = delimiter?.quoted || (body.parts === undefined && !body.text.includes("\\"));
	return isLiteral ? known(body.text) : UNKNOWN;
}

interface Call {
	readonly words: readonly Argument[];
	readonly input: Argument | undefined;
}

function run({ words, input }: Call, scope: Scope): void {
	const [name, ...args] = words;
	if (name === undefined) return;
	const rule = name.isKnown && scope.depth <= MAX_DEPTH ? ruleOf(name.text) : {};
	if (!rule.isReadOnly?.(args)) scope.found.isReadOnly = false;
	for (const path of rule.writes?.(args) ?? []) addFile(path, scope);
	for (const invocation of rule.runs?.(args, input) ?? []) invoke({ ...invocation, input }, scope);
	if (name.isKnown && DIRECTORY_COMMANDS.has(name.text)) changeDirectory(words, scope);
}

function invoke(invocation: Invocation & Pick<Call, "input">, scope: Scope): void {
	const { words, script, directory, input, isInShell } = invocation;
	const inner = deeper(scope);
	if (directory !== undefined) inner.directory = entered(directory, scope);
	if (words !== undefined) run({ words, input }, inner);
	else if (script?.isKnown && inner.depth <= MAX_DEPTH) readScript(script.text, inner);
	else scope.found.isReadOnly = false;
	if (!isInShell) return;
	scope.directory = inner.directory;
	scope.previous = inner.previous;
}

/** Takes `cd` to succeed; where `popd` leads to is not kept. */
function changeDirectory([command, ...args]: readonly Argument[], scope: Scope): void {
	const [target = known("~")] = parseOptions(args).operands;
	const place = target.text === "-" ? scope.previous : entered(target, scope);
	scope.previous = scope.directory;
	scope.directory = command?.text === "popd" ? undefined : place;
}

function entered(target: Argument, scope: Scope): string | undefined {
	return target.isKnown ? resolvePath(target.text, scope.directory) : undefined;
}

function addFile(path: Argument, scope: Scope): void {
	const resolved = path.isKnown && !isDevice(path.text) ? resolvePath(path.text, scope.directory) : undefined;
	if (resolved !== undefined) scope.found.files.add(resolved);
}
