import { textOf } from "../../../src/testing/index.ts";
import {
	AT_ONCE,
	answer,
	call,
	commanded,
	markerOf,
	notified,
	openStage,
	play,
	row,
	type Tell,
	withoutIds,
} from "../stage.ts";

/** Shrinks that become active at once, what they are refused for, and cancels. */
export async function shrinks(tell: Tell): Promise<void> {
	await using session = await openStage({ ...AT_ONCE, shrink: { notifyMaxChars: 40 } });

	await play(session, [call.grep("g1"), call.grep("g2")], [call.shrink("s1", "g1"), call.shrink("s2", "g2")]);
	tell("shrink", answer(session, "s1", "it is active, and another shrink of its message carries the orientation line"));
	tell("shrink", answer(session, "s2", "it is active; its last line orients the model, once a moment"));
	const seen = session.lastRequest.messages.find(({ role }) => role === "toolResult");
	tell("shrunk", { when: "the result, from the next request on", text: seen ? textOf(seen) : "" });
	tell("notification", notified(session, "a shrink is active"));
	tell("transcript", row(session, "mulligan:shrink", { when: "a shrink is active" }));

	const long = "total is used in src/a.ts, src/b.ts and src/c.ts, each time in cents";
	await play(session, [call.grep("g3")], [call.shrink("s3", "g3", long)]);
	tell("notification", notified(session, "its replacement is longer than `shrink.notifyMaxChars`, 40 here"));

	await play(session, [call.shrink("n1", "g1")]);
	tell(
		"shrink refused",
		answer(session, "n1", "the result is not of this prompt, not in view, or of this very message"),
	);
	await play(session, [call.grep("g4", 20)], [call.shrink("n2", "g4")]);
	tell("shrink refused", answer(session, "n2", "the replacement is not smaller"));
	await play(session, [call.shrink("n3", "g4", " "), call.shrink("n4", {})]);
	tell("shrink refused", answer(session, "n3", "the replacement is empty"));
	tell("shrink refused", answer(session, "n4", "the target names nothing"));

	await play(session, [call.grep("g5")], [call.rewind("r1")]);
	await play(session, [call.cancel("x1", { target: { by_tool_call_id: "g1" } })]);
	tell("cancel", answer(session, "x1", "a shrink is taken back"));
	await play(session, [call.cancel("x2", { target: { by_tool_call_id: "g5" } })]);
	tell("cancel", answer(session, "x2", "a rewind is taken back"));
	const again = { target: { by_tool_call_id: "g6" } };
	await play(
		session,
		[call.grep("g6")],
		[call.shrink("s6", "g6", long)],
		[call.shrink("s7", "g6")],
		[call.shrink("n5", "g6", long)],
		[call.audit("a6", { top: 0 })],
		[call.cancel("x6", again)],
	);
	tell("audit", withoutIds(answer(session, "a6", "one result was shrunk twice, and `top` was 0")));
	tell("shrink refused", answer(session, "n5", "the replacement is not smaller than an earlier one"));
	tell("cancel", answer(session, "x6", "a shrink of a result that was shrunk before is taken back"));
	tell("transcript", row(session, "mulligan:cancel", { when: "a rewind or a shrink is taken back" }));
	await play(session, [call.cancel("x3", { markerId: "unknown" }), call.cancel("x4", {})]);
	tell("cancel", answer(session, "x3", "nothing matches"));
	tell("cancel", answer(session, "x4", "neither `target` nor `markerId` is given"));

	await play(session, [call.grep("g7")], [call.shrink("s8", "g7", long), call.shrink("s9", "g7")]);
	await play(session, [call.cancel("x7", { markerId: markerOf(session, "s8") })]);
	tell("shrink", answer(session, "s8", "a later call of its message shrinks the same result"));
	tell("cancel", answer(session, "x7", "a shrink is taken back over which a later one stands"));
	await play(session, [call.grep("g8")], [call.shrink("s10", "g8"), call.rewind("r2", { granularity: "last_turn" })]);
	await play(session, [call.cancel("x8", { markerId: markerOf(session, "s10") })]);
	tell("shrink", answer(session, "s10", "a rewind of its message hides the result"));
	tell("cancel", answer(session, "x8", "a shrink is taken back whose result a rewind hides"));

	await play(session, [call.grep("g9")], [call.rewind("r3")], [call.rewind("r4", { granularity: "last_turn" })]);
	await play(session, [call.cancel("x9", { markerId: markerOf(session, "r4") })]);
	tell("cancel", answer(session, "x9", "a rewind is taken back, and another hides some of the same"));

	await using one = await openStage({ ...AT_ONCE, shrink: { maxActive: 1 } });
	await play(one, [call.grep("g1"), call.grep("g2")], [call.shrink("s1", "g1"), call.shrink("s2", "g2")]);
	tell("shrink", answer(one, "s1", "a later call of its message exceeds `shrink.maxActive`, 1 here"));

	await using budgeted = await openStage({ rewrites: { maxMoments: 1, flushShedTokens: 0 } });
	await play(budgeted, [call.grep("g1")], [call.shrink("s1", "g1", long)], [call.shrink("s2", "g1")]);
	tell("shrink", answer(budgeted, "s2", "it waits, and an earlier one of the same result is active"));
	await play(budgeted, [call.grep("g2")], [call.shrink("s3", "g2", long)], [call.shrink("s4", "g2")]);
	tell("audit command", withoutIds(await commanded(budgeted, "/mulligan_audit 1", "two shrinks of one result wait")));
}
