import type { Call } from "../../src/testing/index.ts";

/** A call of one of the task's tools, and how many characters the tool prints. */
export interface WorkCall extends Call {
	readonly chars: number;
}

/** One response of the model with calls. What is by mulligan is left out in the twin without it. */
export type Move =
	| { readonly by: "task"; readonly says: string; readonly calls: readonly WorkCall[] }
	| { readonly by: "mulligan"; readonly says: string; readonly calls: readonly Call[] };

/** A message of the human, and what the model does until it answers. */
export interface Prompt {
	readonly text: string;
	/** Name of a checkpoint that the human sets before. */
	readonly checkpoint?: string;
	readonly moves: readonly Move[];
	readonly answer: string;
}

/** A scripted task up to where it goes on as any other. */
export interface Scenario {
	readonly name: string;
	readonly prompts: readonly Prompt[];
}

/** Moves of a scripted model, by what they do; the ids of calls are the caller's. */
export const move = {
	read: (id: string, path: string, chars: number): Move =>
		task(`I need to see ${path} before I decide.`, [call.read(id, path, chars)]),
	bash: (id: string, command: string, chars: number): Move =>
		task(`Let me run ${command} and look at what it says.`, [call.bash(id, command, chars)]),
	edit: (id: string, path: string): Move => task(`Now I can change ${path}.`, [call.edit(id, path)]),
	/** Several calls in one message. */
	together: (says: string, calls: readonly WorkCall[]): Move => task(says, calls),
	rewind: (id: string, granularity: { granularity: string; checkpoint?: string }, note: Note): Move =>
		own("That led nowhere. I take it back.", [{ id, name: "mulligan_rewind", args: { note, ...granularity } }]),
	/** One message that shrinks the results of these calls, each by its own call. */
	shrink: (targets: readonly string[], replacement: string): Move =>
		own(
			"I have what I need of it.",
			targets.map((target) => ({
				id: `shrink-${target}`,
				name: "mulligan_shrink",
				args: { target: { by_tool_call_id: target }, replacement },
			})),
		),
};

export interface Note {
	readonly what_happened: string;
	readonly true_current_state: string;
	readonly next: string;
}

/** Calls of the task's tools. */
export const call = {
	read: (id: string, path: string, chars: number): WorkCall => ({ id, name: "read", args: { path }, chars }),
	bash: (id: string, command: string, chars: number): WorkCall => ({ id, name: "bash", args: { command }, chars }),
	edit: (id: string, path: string): WorkCall => {
		const edits = [{ oldText: "const total = lines.length;\n".repeat(6), newText: "const total = 0;\n".repeat(9) }];
		return { id, name: "edit", args: { path, edits }, chars: 200 };
	},
};

/** Prompts of ordinary work, five turns each at most: reads of 3.5 to 6 KB, an edit, a test run, an answer. */
export function goOn(turns: number, name = "later"): readonly Prompt[] {
	const prompts: Prompt[] = [];
	for (let done = 0; done < turns; done += TURNS_OF_PROMPT) {
		const id = (what: string) => `${name}-${prompts.length}-${what}`;
		const file = `src/orders/part-${prompts.length}.ts`;
		const moves = [
			move.read(id("read"), file, 6_000),
			move.edit(id("edit"), file),
			move.bash(id("test"), "npm test -- orders", 2_400),
			move.read(id("check"), file.replace(".ts", ".test.ts"), 3_500),
		];
		prompts.push({
			text: `Next, please make ${file} round its totals as well, and run its tests.`,
			moves: moves.slice(0, Math.min(TURNS_OF_PROMPT, turns - done) - 1),
			answer: `${file} rounds its totals now, and its tests pass.`,
		});
	}
	return prompts;
}

const TURNS_OF_PROMPT = 5;

/** What a call of the task prints: source lines, each with the call's needle. */
export function printed({ id, chars }: WorkCall): string {
	const lines = Array.from({ length: Math.ceil(chars / 40) }, (_, index) => {
		const file = `src/orders/line-${String(index % 97).padStart(2, "0")}.ts`;
		return `${file}:${index}: const total = sumOf(lines, ${index * 7}); // ${needleOf(id)}`;
	});
	return lines.join("\n").slice(0, chars);
}

/** A text that stands in what this call prints, and nowhere else. */
export function needleOf(id: string): string {
	return `[${id}]`;
}

function task(says: string, calls: readonly WorkCall[]): Move {
	return { by: "task", says, calls };
}

function own(says: string, calls: readonly Call[]): Move {
	return { by: "mulligan", says, calls };
}
