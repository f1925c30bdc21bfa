import type { ContextEntry } from "../kernel/branch.ts";
import type { Kernel, RunningPlugin } from "../kernel/kernel.ts";
import { isOwnNote, type Message, toolCallsOf } from "../kernel/messages.ts";
import type { JournalRecord, RewindBody } from "../kernel/records.ts";
import type { Standing } from "../kernel/take-back.ts";
import { contentTokens } from "../kernel/tokens.ts";
import { volumeOf } from "../kernel/volume.ts";
import { counted, figure } from "./layout.ts";
import type { PluginState, RunState, SessionFigures, StandingOp } from "./state.ts";

/** The plugins of the list in their order with what became of them, then those that are known and off. */
export function pluginStates({
	listed,
	running,
	builtIns,
}: {
	/** Names, in order. */
	readonly listed: readonly string[];
	/** Those of them that were set up; none while mulligan is disabled. */
	readonly running: readonly RunningPlugin[];
	readonly builtIns: readonly string[];
}): readonly PluginState[] {
	const known = new Set(builtIns);
	const inList = listed.map((name) => ({
		name,
		...stateOf(running.find((plugin) => plugin.name === name)?.off),
		isBuiltIn: known.has(name),
	}));
	const rest = builtIns.filter((name) => !listed.includes(name));
	return [...inList, ...rest.map((name) => ({ name, state: "off", isBuiltIn: true }) as const)];
}

function stateOf(off: string | undefined): Pick<PluginState, "state" | "why"> {
	if (off === undefined) return { state: "on" };
	return { state: off.startsWith("its set-up failed") ? "left out" : "switched off", why: off };
}

/** The kernel as the panel shows it. What costs a walk over the branch is worked out when it is asked for. */
export function runState(kernel: Kernel): RunState {
	const { branch, moments, session } = kernel;
	const { rules } = moments;
	return {
		get standing() {
			return kernel.standing().map((op) => standingOp(op, kernel));
		},
		get moments() {
			const queuedTokens = volumeOf(moments.waiting());
			const { flushShedTokens, safetyValveTokens, maxMoments: max } = rules;
			return { spent: moments.spent, max, queuedTokens, flushShedTokens, safetyValveTokens, last: moments.last };
		},
		get checkpoints() {
			return session.checkpoints().map(({ name, placeId }) => ({ name, isUsable: placeId !== undefined }));
		},
		get figures() {
			return figures(kernel);
		},
		get trace() {
			return kernel.lastTrace();
		},
		labelOf: (id) => labelOf(id, branch.entry(id)),
	};
}

function figures(kernel: Kernel): SessionFigures {
	const { branch, session } = kernel;
	const { hidden, replaced, tokens } = kernel.durable();
	const context = branch.context();
	return {
		requests: session.requests,
		messages: context.length,
		hidden: context.filter(({ id, message }) => hidden.has(id) && !isOwnNote(message)).length,
		changed: context.filter(({ id }) => replaced.has(id)).length,
		viewTokens: tokens,
		contextTokens: branch.contextTokens,
		promptTokens: session.promptTokens,
		window: session.window,
		share: session.share,
		calibration: session.calibration,
	};
}

function standingOp(op: Standing, kernel: Kernel): StandingOp {
	const { id } = op;
	if (op.kind === "waiting")
		return { id, kind: "queued", what: `${op.op.describe}, ~${counted(Math.max(0, op.op.shedTokens), "token")}` };
	if (op.kind === "rewind") return { id, kind: "rewind", what: rewindText(op.record, kernel) };
	const { pinnedEntryId } = op.record;
	const entry = kernel.branch.entry(pinnedEntryId);
	const inForce = kernel
		.standing()
		.find((other) => other.kind === "shrink" && other.record.pinnedEntryId === pinnedEntryId);
	if (inForce && inForce.id !== id)
		return { id, kind: "shrink", what: `${labelOf(pinnedEntryId, entry)}, a later shrink of it is in force` };
	const content = kernel.durable().replaced.get(pinnedEntryId);
	const sizes = entry && content ? `: ${figure(entry.tokens)} → ${figure(contentTokens(content))} tokens` : "";
	return { id, kind: "shrink", what: `${labelOf(pinnedEntryId, entry)}${sizes || ", not in force in the context"}` };
}

function rewindText({ granularity, checkpoint, hideEntryIds }: JournalRecord<RewindBody>, kernel: Kernel): string {
	const { branch } = kernel;
	const { hidden } = kernel.durable();
	const entries = hideEntryIds.filter((id) => hidden.has(id) && branch.inContext(id)).map((id) => branch.entry(id));
	const tokens = entries.reduce((sum, entry) => sum + (entry?.tokens ?? 0), 0);
	const where =
		granularity === "checkpoint" ? `checkpoint ${checkpoint ?? ""}`.trimEnd() : granularity.replaceAll("_", " ");
	const what =
		entries.length === 0
			? "not in force in the context"
			: `${counted(entries.length, "message")} hidden, ~${counted(tokens, "token")}`;
	return `${where}, ${what}`;
}

/** What an entry is, in a few words: never what it says. */
function labelOf(id: string, entry: ContextEntry | undefined): string {
	return entry ? kindOf(entry.message) : `entry ${id}`;
}

function kindOf(message: Message): string {
	switch (message.role) {
		case "toolResult":
			return `${message.toolName} ${message.toolCallId}`;
		case "assistant": {
			const names = toolCallsOf(message).map(({ name }) => name);
			return names.length === 0 ? "an answer" : `a call of ${names.join(", ")}`;
		}
		case "user":
			return "a prompt";
		case "bashExecution":
			return "a command of yours";
		case "custom":
			return `a ${message.customType} message`;
		default:
			return "a summary";
	}
}
