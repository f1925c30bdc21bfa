import { textOf } from "../../../src/testing/index.ts";
import { call, found, openStage, play, type Tell } from "../stage.ts";

const LARGE = 24 * 1024;

/** The three lines that the model reads without having called a tool of ours. */
export async function nudges(tell: Tell): Promise<void> {
	await using session = await openStage({}, { models: [{ id: "model-a" }, { id: "small", contextWindow: 24_000 }] });
	const last = (callId: string) => {
		const message = session.lastRequest.messages.find((one) => one.role === "toolResult" && one.toolCallId === callId);
		return textOf(found(message, "result")).split("\n").at(-1) ?? "";
	};
	const lineOf = (begin: RegExp) =>
		session.requests
			.flatMap(({ messages }) => textOf(found(messages.at(-1), "message")).split("\n"))
			.findLast((line) => begin.test(line)) ?? "";

	await play(session, [call.grep("g1")], [call.grep("g2", LARGE)]);
	tell("bloat", { when: "under a result of at least its threshold", text: last("g2") });
	tell("drift", { when: "at the end of the request after turns that grew", text: lineOf(/^Previous turn/) });
	await session.setModel("small");
	await play(session, [call.grep("g3", 16_000)], [call.grep("g4", 16_000)], [call.grep("g5", 16_000)]);
	tell("high water", { when: "at the end of the first request above the fraction", text: lineOf(/Context is at/) });
	for (const [tool, other] of [
		["mulligan_shrink", "mulligan_rewind"],
		["mulligan_rewind", "mulligan_shrink"],
	] as const) {
		await session.setModel("model-a");
		const active = session.session.getActiveToolNames();
		session.session.setActiveToolsByName(active.filter((name) => name !== other));
		await play(session, [call.grep(`only-${tool}`, LARGE)]);
		tell("bloat", { when: `the same where ${other} can't be called`, text: last(`only-${tool}`) });
		session.session.setActiveToolsByName(active);
	}
}
