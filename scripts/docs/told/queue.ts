import type { TestSession } from "../../../src/testing/index.ts";
import { answer, call, commanded, found, newestNote, openStage, play, row, type Tell, toolRow } from "../stage.ts";

/** Ops that wait under default settings, what becomes of them, and the audit that activates them. */
export async function queue(tell: Tell): Promise<void> {
	let session: TestSession | undefined;
	const revoke = async () => {
		const human = found(session, "session");
		tell(
			"checkpoint",
			await commanded(human, "/mulligan_checkpoint_revoke start", "revoked while a rewind to it waits"),
		);
		return "revoked";
	};
	session = await openStage({}, { tools: { revoke } });
	await using stage = session;
	const status = (when: string) => tell("status", { when, text: found(stage.ui.statuses.get("mulligan"), "status") });

	await play(stage, [call.grep("g1")], [call.rewind("q1")]);
	tell("rewind", answer(stage, "q1", "it waits"));
	await play(stage, [call.grep("g2")], [call.shrink("q2", "g2")]);
	tell("shrink", answer(stage, "q2", "it waits"));
	tell("transcript", row(stage, "mulligan:queued", { when: "an op waits" }));
	status("ops wait");
	await play(stage, [call.cancel("x1", { target: { by_tool_call_id: "g2" } })]);
	tell("cancel", answer(stage, "x1", "an op that waits is taken back"));
	tell("transcript", row(stage, "mulligan:queued", { when: "an op that waits is taken back" }));
	await play(
		stage,
		[call.grep("g3")],
		[call.shrink("q3", "g3"), call.cancel("x2", { target: { by_tool_call_id: "g3" } })],
	);
	tell("shrink", answer(stage, "q3", "a cancel of the same message takes it back"));

	await stage.prompt("/mulligan_checkpoint start");
	await play(stage, [call.grep("g4")]);
	await play(stage, [call.rewind("q4", { granularity: "checkpoint", checkpoint: "start" }), call.work("h1", "revoke")]);
	tell("rewind", answer(stage, "q4", "the human revokes the checkpoint while it is being decided"));

	await play(stage, [call.work("b1", "bash", { command: "npm test", chars: 20_000 })], [call.audit("a1", { top: 4 })]);
	const report = withoutIds(answer(stage, "a1", "asked for its 4 largest, after a long result, while a rewind waits"));
	tell("audit", report);
	for (const expanded of [false, true])
		tell(
			"transcript",
			toolRow(stage, {
				name: "mulligan_audit",
				text: report.text,
				when: `an audit, ${expanded ? "expanded" : "collapsed"}`,
				expanded,
			}),
		);
	tell("note", newestNote(stage, "the rewind was asked for in an earlier turn"));
	status("something has left the view");

	await play(stage, [call.grep("g5")], [call.shrink("q5", "g5")]);
	tell("shrink", answer(stage, "q5", "it waits, and the moments are spent"));
	tell("audit command", withoutIds(await commanded(stage, "/mulligan_audit 2", "`/mulligan_audit 2`")));
	tell("audit command", await commanded(stage, "/mulligan_audit many", "`/mulligan_audit many`"));
	stage.otherwise("A summary.");
	await stage.compact();
	tell("transcript", row(stage, "mulligan:queued", { when: "an op that waits has become pointless" }));
}

/** A report with one id in place of Pi's random ones, of their length. */
function withoutIds<T extends { readonly text: string }>(told: T): T {
	return { ...told, text: told.text.replace(/^ {2}[0-9a-f]{8} (?=rewind|shrink)/gm, "  1a2b3c4d ") };
}
