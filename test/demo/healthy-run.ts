import type { Evidence } from "../../scripts/demo/checks.ts";
import type { SentMessage, SentRequest } from "../../scripts/demo/request.ts";
import { callId, note, replacement, type Step, type StepId, script } from "../../scripts/demo/script.ts";
import type { Needles } from "../../scripts/demo/workspace.ts";

const needles: Needles = { grep: ["k-0001", "k-0002"], log: ["run-01", "run-02"] };

/** What each call returned: the wide grep and the test log are long enough to pass for real ones. */
const outputs: Partial<Record<StepId, string>> = {
	"wide-grep": `${needles.grep.join("\n")}\n${"amount\n".repeat(5_000)}`,
	test: `${needles.log.join("\n")}\n${"ok 1\n".repeat(3_000)}`,
};

/** The evidence of a run in which every promise held. */
export function healthyRun(): Evidence {
	return {
		steps: script,
		requests: script.map((_, index) => requestAt(index)),
		stored: new Map(script.flatMap((step) => (step.call ? [[callId(step.id), outputOf(step.id)]] : []))),
		needles,
	};
}

/** The evidence of a twin that did the same work without mulligan. */
export function healthyTwin(): Evidence {
	const steps = script.filter((step) => !step.call?.name.startsWith("mulligan_"));
	return { ...healthyRun(), steps, requests: steps.map((_, index) => plainRequest(steps.slice(0, index))) };
}

/** What a step's call returned. */
export function outputOf(id: StepId): string {
	return outputs[id] ?? `result of ${id}`;
}

/** A message of the human or of the extension. */
export function userMessage(content: string): SentMessage {
	return { role: "user", content };
}

/** A result of a step's call. */
export function resultMessage(id: StepId, text: string): SentMessage {
	return { role: "toolResult", toolCallId: callId(id), toolName: "tool", content: [{ type: "text", text }] };
}

function groupOf(step: Step, text: string): SentMessage[] {
	if (step.call === undefined) return [{ role: "assistant", content: [{ type: "text", text: step.says }] }];
	const call = { type: "toolCall" as const, id: callId(step.id), ...step.call };
	return [{ role: "assistant", content: [{ type: "text", text: step.says }, call] }, resultMessage(step.id, text)];
}

function requestAt(index: number): SentRequest {
	const has = (id: StepId) => script.findIndex((step) => step.id === id) < index;
	const shrunk = has("shrink") && !has("cancel");
	const visible = script.slice(0, index).filter((step) => !(step.id === "wide-grep" && has("rewind")));
	const groups = visible.flatMap((step) => {
		const text =
			step.id === "test" && shrunk ? `<context-shrunk>\n${replacement}\n</context-shrunk>` : outputOf(step.id);
		const after = step.id === "rewind" ? [userMessage(Object.values(note).join("\n"))] : [];
		return [...groupOf(step, text), ...after];
	});
	return { messages: [userMessage("prompt"), ...groups] };
}

function plainRequest(steps: readonly Step[]): SentRequest {
	return { messages: [userMessage("prompt"), ...steps.flatMap((step) => groupOf(step, outputOf(step.id)))] };
}
