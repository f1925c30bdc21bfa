import type { ToolCall } from "@earendil-works/pi-ai";

/** One response of the scripted model: what it says and the one tool that it calls. The last step calls none. */
export interface Step {
	readonly id: StepId;
	/** What the model does, as the report's table names it. */
	readonly does: string;
	readonly says: string;
	readonly call?: { readonly name: string; readonly arguments: ToolCall["arguments"] };
}

export type StepId =
	| "wide-grep"
	| "rewind"
	| "narrow-grep"
	| "read"
	| "fix"
	| "test"
	| "shrink"
	| "changelog"
	| "cancel"
	| "answer";

/** The one prompt of the demo. */
export const prompt = "Invoice totals are sometimes one cent short. Find out why, fix it and run the tests.";

/** What the model leaves for itself when it rewinds. */
export const note = {
	what_happened: "A grep for 'amount' over the whole repository matched nearly every module and told nothing.",
	true_current_state: "Nothing is changed yet. Amounts are in cents, and only src/money rounds them.",
	next: "Look for roundCents in src/money alone.",
};

/** What stands in for the test log while it is shrunk. */
export const replacement = "All 168 rounding tests pass in 6 suites; no failure, nothing skipped.";

/** The model's responses, in order: the work, with three steps of mulligan in between. */
export const script: readonly Step[] = [
	{
		id: "wide-grep",
		does: "greps the whole repository",
		says: "I will look where amounts are handled.",
		call: { name: "bash", arguments: { command: "grep -rni amount . | sort" } },
	},
	{
		id: "rewind",
		does: "mulligan_rewind: that was too wide",
		says: "Far too wide. I take that back.",
		call: { name: "mulligan_rewind", arguments: { note, granularity: "last_tool_call_group" } },
	},
	{
		id: "narrow-grep",
		does: "greps again, in src/money alone",
		says: "Only the rounding matters.",
		call: { name: "bash", arguments: { command: "grep -rn roundCents src/money | sort" } },
	},
	{
		id: "read",
		does: "reads the file that rounds",
		says: "Let me see how it rounds.",
		call: { name: "read", arguments: { path: "src/money/round.ts" } },
	},
	{
		id: "fix",
		does: "fixes it",
		says: "It cuts the fraction off. I make it round.",
		call: {
			name: "edit",
			arguments: {
				path: "src/money/round.ts",
				edits: [{ oldText: "return Math.floor(cents);", newText: "return Math.round(cents);" }],
			},
		},
	},
	{
		id: "test",
		does: "runs the tests (a long log)",
		says: "Now the tests.",
		call: { name: "bash", arguments: { command: "node test/run.mjs" } },
	},
	{
		id: "shrink",
		does: "mulligan_shrink: the log in a line",
		says: "All green. The log is not needed any more.",
		call: {
			name: "mulligan_shrink",
			arguments: {
				target: { by_tool_name: "bash", occurrence: "last" },
				replacement,
				reason: "The log is long and says only that all is well.",
			},
		},
	},
	{
		id: "changelog",
		does: "writes the changelog",
		says: "The changelog should say so.",
		call: {
			name: "edit",
			arguments: {
				path: "CHANGELOG.md",
				edits: [{ oldText: "## Unreleased", newText: "## Unreleased\n\n- Totals are rounded, no longer cut." }],
			},
		},
	},
	{
		id: "cancel",
		does: "mulligan_cancel: wants the log again",
		says: "I want to quote the log, so I take the shrink back.",
		call: { name: "mulligan_cancel", arguments: { target: { by_tool_name: "bash", occurrence: "last" } } },
	},
	{
		id: "answer",
		does: "answers",
		says: "roundCents cut the fraction off; it rounds now. 168 of 168 tests pass.",
	},
];

/** Whether a step is a call of one of mulligan's tools. */
export function isMulligan(step: Step): boolean {
	return step.call?.name.startsWith("mulligan_") ?? false;
}

/** The id of a step's tool call, in requests and in the session file. */
export function callId(id: StepId): string {
	return `demo-${id}`;
}
