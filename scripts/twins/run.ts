import {
	type ModelRequest,
	openSession,
	type PiVersion,
	type Reply,
	type TestSession,
	textOf,
} from "../../src/testing/index.ts";
import type { Tokens } from "./bill.ts";
import { goOn, type Move, type Prompt, printed, type Scenario, type WorkCall } from "./scenario.ts";

/** A request, and whether the model's answer to it is one that both twins give. */
export interface Asked {
	readonly request: ModelRequest;
	readonly usage: Tokens;
	readonly isShared: boolean;
}

/** A rewind or shrink that became active. */
interface Activation {
	/** Index of the first request that shows it. */
	readonly request: number;
	/** The calls whose results it hid or replaced. */
	readonly calls: readonly string[];
}

/** What one of two twin sessions did. */
export interface Run {
	readonly asked: readonly Asked[];
	/** The stored text of each tool result, by call id. */
	readonly results: ReadonlyMap<string, string>;
	readonly activations: readonly Activation[];
	/** Ops that still wait at the end. */
	readonly waiting: number;
}

export interface Twins {
	readonly with: Run;
	readonly without: Run;
}

interface Occasion {
	readonly pi: PiVersion;
	/** Turns of ordinary work after the scenario. */
	readonly later: number;
}

/** Plays a scenario twice, on default settings: with mulligan, and without it and without the calls of its tools. */
export async function runTwins(scenario: Scenario, occasion: Occasion): Promise<Twins> {
	return {
		with: await run(scenario, { ...occasion, hasMulligan: true }),
		without: await run(scenario, { ...occasion, hasMulligan: false }),
	};
}

async function run(scenario: Scenario, { pi, later, hasMulligan }: Occasion & { hasMulligan: boolean }): Promise<Run> {
	const prompts = [...scenario.prompts, ...goOn(later)];
	await using session = await openSession({
		pi,
		persist: false,
		models: [{ id: "model-a", contextWindow: 200_000 }],
		tools: toolsOf(prompts),
		...(hasMulligan ? {} : { extensionPaths: [] }),
	});
	const isShared: boolean[] = [];
	for (const { text, checkpoint, moves, answer } of prompts) {
		const taken = moves.filter(({ by }) => hasMulligan || by === "task");
		if (hasMulligan && checkpoint) setCheckpoint(session, checkpoint);
		session.script(...taken.map(replyOf), answer);
		isShared.push(...taken.map(({ by }) => by === "task"), true);
		await session.prompt(text);
	}
	refuseOddities(session, isShared.length);
	return {
		asked: session.requests.map((request, index) => ({
			request,
			usage: request.usage as Tokens,
			isShared: isShared[index] ?? false,
		})),
		results: resultsOf(session),
		activations: activationsOf(session),
		waiting: waitingOf(session),
	};
}

/** The tools of the task: each prints what the scenario says of the call. */
function toolsOf(prompts: readonly Prompt[]) {
	const moves = prompts.flatMap((prompt) => prompt.moves);
	const calls = moves.flatMap((move) => (move.by === "task" ? move.calls : []));
	const byId = new Map(calls.map((call) => [call.id, call]));
	const print = (_args: object, { id }: { id: string }) => printed(byId.get(id) as WorkCall);
	return { read: print, bash: print, edit: print };
}

function replyOf({ says, calls }: Move): Reply {
	return { text: says, calls };
}

/** Sets a checkpoint as the human's command does. */
function setCheckpoint({ sessionManager }: TestSession, name: string): void {
	const record = { schema: "pi-mulligan", v: 1, kind: "checkpoint", seq: 0, ts: 0, name };
	const id = sessionManager.appendCustomEntry("mulligan:checkpoint", record);
	sessionManager.appendLabelChange(id, `mulligan:checkpoint:${name}`);
}

/** A run that did not go as scripted measures nothing. */
function refuseOddities({ errors, requests }: TestSession, expected: number): void {
	if (errors.length > 0) throw new Error(`An extension failed: ${JSON.stringify(errors)}`);
	if (requests.length !== expected) throw new Error(`${requests.length} requests, where ${expected} were scripted.`);
}

function resultsOf(session: TestSession): ReadonlyMap<string, string> {
	return new Map(
		session
			.branch()
			.flatMap((entry) =>
				entry.type === "message" && entry.message.role === "toolResult"
					? [[entry.message.toolCallId, textOf(entry.message)] as const]
					: [],
			),
	);
}

type Marker = { readonly hideEntryIds?: readonly string[]; readonly pinnedEntryId?: string };

/** The markers on the branch: each counts from the request that follows the responses before it. */
function activationsOf(session: TestSession): readonly Activation[] {
	const branch = session.branch();
	const callOf = new Map(
		branch.flatMap((entry) =>
			entry.type === "message" && entry.message.role === "toolResult" ? [[entry.id, entry.message.toolCallId]] : [],
		),
	);
	let request = 0;
	return branch.flatMap((entry): Activation[] => {
		if (entry.type === "message" && entry.message.role === "assistant") request++;
		if (entry.type !== "custom" || !MARKERS.has(entry.customType)) return [];
		const { hideEntryIds = [], pinnedEntryId } = entry.data as Marker;
		const ids = pinnedEntryId === undefined ? hideEntryIds : [pinnedEntryId];
		return [{ request, calls: ids.flatMap((id) => callOf.get(id) ?? []) }];
	});
}

const MARKERS: ReadonlySet<string> = new Set(["mulligan:rewind", "mulligan:shrink"]);

function waitingOf(session: TestSession): number {
	const status = new Map<string, string>();
	for (const entry of session.branch()) {
		if (entry.type !== "custom" || entry.customType !== "mulligan:queued") continue;
		const record = entry.data as { readonly id: string; readonly status: string };
		status.set(record.id, record.status);
	}
	return [...status.values()].filter((last) => last === "queued").length;
}
