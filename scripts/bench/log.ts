import { type Batch, type SessionLog, sessionLog } from "../../src/testing/index.ts";
import type { Shape } from "./cases.ts";
import { rewind, shrink } from "./markers.ts";

const MESSAGES_PER_PROMPT = 20;

/** A session of this shape: prompts of the human, each answered by tool calls one after the other, with markers spread over it. */
export function logOf({ messages, textBytes, markers }: Shape): SessionLog {
	const log = sessionLog();
	const text = texts(textBytes);
	const middle: string[] = [];
	let count = 0;
	let done = 0;
	let lastGroup: Batch | undefined;
	const isDue = () => {
		if (markers === "half") return done === 0 && count >= (messages * 3) / 4;
		return done < markers && count >= ((done + 1) * messages) / (markers + 1);
	};
	while (count < messages) {
		if (lastGroup && isDue()) {
			const number = done++;
			if (markers === "half") count += rewind(log, { number, hides: middle, checkpoint: "quarter" });
			else if (number % 2 === 0) count += rewind(log, { number, hides: [lastGroup.assistant, ...lastGroup.results] });
			else count += shrink(log, { number, result: lastGroup.results[0] ?? "" });
			lastGroup = undefined;
			continue;
		}
		const isPrompt =
			count === 0 || Math.floor(count / MESSAGES_PER_PROMPT) > Math.floor((count - 2) / MESSAGES_PER_PROMPT);
		const added = isPrompt ? [log.user(text())] : [];
		lastGroup = log.batch([{ name: "look", args: { path: `src/file-${count}.ts` }, result: text() }], { text: text() });
		added.push(lastGroup.assistant, ...lastGroup.results);
		count += added.length;
		if (count > messages / 4 && count <= (messages * 3) / 4) middle.push(...added);
	}
	return log;
}

/** Texts of this many bytes, no two alike. */
function texts(bytes: number): () => string {
	let number = 0;
	return () => {
		const head = `Text ${++number}: `;
		return head + "the quick brown fox jumps over the lazy dog, ".repeat(bytes / 45 + 1).slice(0, bytes - head.length);
	};
}
