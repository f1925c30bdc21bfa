import { blocksOf, resultOf, type SentRequest, textOf } from "./request.ts";
import { callId, note, replacement, type Step, type StepId } from "./script.ts";
import type { Needles } from "./workspace.ts";

/** What a run left to check. */
export interface Evidence {
	/** The steps that the model should have taken: one for each request. */
	readonly steps: readonly Step[];
	/** The payloads that the provider got, in order. */
	readonly requests: readonly SentRequest[];
	/** The text of each tool result in the session file, by tool call id. */
	readonly stored: ReadonlyMap<string, string>;
	readonly needles: Needles;
}

interface Exchange {
	/** The request's number, and what the model did in answer to it. */
	readonly name: string;
	readonly request: SentRequest;
	readonly step: Step;
}

const MIN_BYTES = { "wide-grep": 30 * 1024, test: 12 * 1024 };

/** Every promise that the run with mulligan broke, a sentence each that names the request; none: all held. */
export function findFaults(evidence: Evidence): string[] {
	const miscounted = countFaults(evidence);
	if (miscounted.length > 0) return miscounted;
	return [
		failedTools(evidence),
		brokenPairs(evidence),
		cutOutputs(evidence, "wide-grep", evidence.needles.grep),
		cutOutputs(evidence, "test", evidence.needles.log),
		leaks(span(evidence, "rewind"), evidence.needles.grep, "rewind"),
		missingNotes(span(evidence, "rewind")),
		leaks(span(evidence, "shrink", "cancel"), evidence.needles.log, "shrink"),
		wrongReplacements(span(evidence, "shrink", "cancel")),
		unrestored(evidence),
		lostOriginals(evidence),
	].flatMap(theFirst);
}

/** Every step at which the twin without mulligan did other work than the run with it. */
export function findTwinFaults(twin: Evidence, mulligan: Evidence): string[] {
	const miscounted = countFaults(twin);
	if (miscounted.length > 0) return miscounted.map((fault) => `the twin: ${fault}`);
	return twin.steps.flatMap((step) => {
		if (step.call === undefined || isSameResult(step.id, twin, mulligan)) return [];
		return [`the twin: "${step.does}" brought another result than in the run with mulligan`];
	});
}

/** Mulligan may add a reminder below a large result. */
function isSameResult(id: StepId, twin: Evidence, mulligan: Evidence): boolean {
	const plain = twin.stored.get(callId(id));
	return plain !== undefined && (mulligan.stored.get(callId(id))?.startsWith(plain) ?? false);
}

/** One fault tells it: what breaks in a request mostly breaks in all that follow. */
function theFirst([first, ...more]: readonly string[]): string[] {
	if (first === undefined) return [];
	return [more.length === 0 ? first : `${first} (and ${more.length} more like it)`];
}

function countFaults({ steps, requests }: Evidence): string[] {
	if (requests.length === steps.length) return [];
	const blocks = requests.flatMap((request) => request.messages).flatMap(blocksOf);
	const called = new Set(blocks.map((block) => (block.type === "toolCall" ? block.name : "")));
	const tools = new Set(steps.flatMap((step) => step.call?.name ?? []));
	const absent = [...tools].filter((tool) => !called.has(tool));
	const why = absent.length > 0 ? `; tools that were never called: ${absent.join(", ")}` : "";
	return [`${requests.length} requests reached the model instead of ${steps.length}${why}`];
}

function failedTools(evidence: Evidence): string[] {
	return exchanges(evidence).flatMap(({ name, request }) => {
		const failed = request.messages.filter((message) => message.isError);
		return failed.map((message) => `${name}: the call ${message.toolCallId} failed: ${textOf(message)}`);
	});
}

function brokenPairs(evidence: Evidence): string[] {
	return exchanges(evidence).flatMap(({ name, request }) => {
		const blocks = request.messages.flatMap(blocksOf);
		const calls = blocks.flatMap((block) => (block.type === "toolCall" ? block.id : []));
		const results = request.messages.flatMap((message) => message.toolCallId ?? []);
		const unpaired = [...calls.filter((id) => !results.includes(id)), ...results.filter((id) => !calls.includes(id))];
		return unpaired.map((id) => `${name}: the tool call ${id} and its result are not both there`);
	});
}

function cutOutputs(evidence: Evidence, id: keyof typeof MIN_BYTES, needles: readonly string[]): string[] {
	const { name, request } = bringing(evidence, id);
	const text = resultText(request, id) ?? "";
	const bytes = Buffer.byteLength(text);
	if (bytes < MIN_BYTES[id]) return [`${name}: the output of ${id} has ${bytes} bytes, less than ${MIN_BYTES[id]}`];
	const missing = needles.filter((needle) => !text.includes(needle));
	if (missing.length === 0) return [];
	return [`${name}: the output of ${id} arrived cut: ${missing.length} of ${needles.length} needles are missing`];
}

function leaks(hiding: readonly Exchange[], needles: readonly string[], hider: "rewind" | "shrink"): string[] {
	return hiding.flatMap(({ name, request }) => {
		const payload = JSON.stringify(request);
		const found = needles.filter((needle) => payload.includes(needle));
		if (found.length === 0) return [];
		const answer = `mulligan_${hider} had answered: ${resultText(request, hider) ?? "nothing"}`;
		return [
			`${name}: hidden text reached the model (${found.length} of ${needles.length} needles: ${found[0]}); ${answer}`,
		];
	});
}

/** Looks into the messages of the user's side alone: the rewind's own call holds the same words. */
function missingNotes(rewound: readonly Exchange[]): string[] {
	return rewound.flatMap(({ name, request }) => {
		const texts = request.messages.filter((message) => message.role === "user").map(textOf);
		const missing = Object.entries(note).filter(([, line]) => !texts.some((text) => text.includes(line)));
		if (missing.length === 0) return [];
		return [`${name}: the note of the rewind lacks ${missing.map(([field]) => field).join(", ")}`];
	});
}

function wrongReplacements(shrunk: readonly Exchange[]): string[] {
	return shrunk.flatMap(({ name, request }) => {
		const text = resultText(request, "test");
		if (text === `<context-shrunk>\n${replacement}\n</context-shrunk>`) return [];
		return [`${name}: the shrunk log is not the replacement: ${text?.slice(0, 80) ?? "it is not there"}`];
	});
}

function unrestored(evidence: Evidence): string[] {
	const original = resultText(bringing(evidence, "test").request, "test");
	return span(evidence, "cancel").flatMap(({ name, request }) => {
		if (resultText(request, "test") === original) return [];
		const answer = `mulligan_cancel had answered: ${resultText(request, "cancel") ?? "nothing"}`;
		return [`${name}: the cancelled shrink did not bring the log back byte for byte; ${answer}`];
	});
}

function lostOriginals(evidence: Evidence): string[] {
	return evidence.steps.flatMap((step) => {
		if (step.call === undefined) return [];
		const { name, request } = bringing(evidence, step.id);
		if (evidence.stored.get(callId(step.id)) === resultText(request, step.id)) return [];
		return [`${name}: the session file does not hold the original of what the model got for ${step.id}`];
	});
}

function exchanges({ requests, steps }: Evidence): Exchange[] {
	return steps.map((step, index) => {
		const request = requests[index] ?? { messages: [] };
		return { name: `request ${index + 1} (${step.does})`, request, step };
	});
}

/** The request that is the first to hold the result of a step. */
function bringing(evidence: Evidence, id: StepId): Exchange {
	const found = span(evidence, id)[0];
	if (found === undefined) throw new Error(`no request follows the step ${id}`);
	return found;
}

/** The requests from the result of a step on, up to that with which the model takes another. */
function span(evidence: Evidence, from: StepId, to?: StepId): Exchange[] {
	const all = exchanges(evidence);
	const indexOf = (id: StepId) => all.findIndex(({ step }) => step.id === id);
	return all.slice(indexOf(from) + 1, to === undefined ? all.length : indexOf(to) + 1);
}

function resultText(request: SentRequest, id: StepId): string | undefined {
	const result = resultOf(request, callId(id));
	return result && textOf(result);
}
