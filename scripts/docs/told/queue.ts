import type { TestSession } from "../../../src/testing/index.ts";
import {
	answer,
	call,
	commanded,
	found,
	newestNote,
	openStage,
	play,
	row,
	type Tell,
	type Told,
	toolRow,
	withoutIds,
} from "../stage.ts";

/** Ops that wait under default settings, what becomes of them, and the audit that activates them. */
export async function queue(tell: Tell): Promise<void> {
	await using session = await openStage();
	await waits(session, tell);
	await isAudited(session, tell);
	await waitsForABreak(session, tell);
}

async function waits(session: TestSession, tell: Tell): Promise<void> {
	await play(session, [call.grep("g1")], [call.rewind("q1")]);
	tell("rewind", answer(session, "q1", "it waits"));
	await play(session, [call.grep("g2")], [call.shrink("q2", "g2")]);
	tell("shrink", answer(session, "q2", "it waits"));
	tell("transcript", row(session, "mulligan:queued", { when: "an op waits" }));
	tell("status", status(session, "ops wait"));
	await play(session, [call.cancel("x1", { target: { by_tool_call_id: "g2" } })]);
	tell("cancel", answer(session, "x1", "an op that waits is taken back"));
	tell("transcript", row(session, "mulligan:queued", { when: "an op that waits is taken back" }));
	const both = [call.shrink("q3", "g3"), call.cancel("x2", { target: { by_tool_call_id: "g3" } })];
	await play(session, [call.grep("g3")], both);
	tell("shrink", answer(session, "q3", "a cancel of the same message takes it back"));
}

async function isAudited(session: TestSession, tell: Tell): Promise<void> {
	const long = call.work("b1", "bash", { command: "npm test", chars: 20_000 });
	await play(session, [long], [call.audit("a1", { top: 4 })]);
	const report = withoutIds(
		answer(session, "a1", "asked for its 4 largest, after a long result, while a rewind waits"),
	);
	tell("audit", report);
	const rowOf = { name: "mulligan_audit", text: report.text };
	tell("transcript", toolRow(session, { ...rowOf, when: "an audit, collapsed", expanded: false }));
	tell("transcript", toolRow(session, { ...rowOf, when: "an audit, expanded", expanded: true }));
	tell("note", newestNote(session, "the rewind was asked for in an earlier turn"));
	tell("status", status(session, "something has left the view"));
}

async function waitsForABreak(session: TestSession, tell: Tell): Promise<void> {
	await play(session, [call.grep("g5")], [call.shrink("q5", "g5")]);
	tell("shrink", answer(session, "q5", "it waits, and the moments are spent"));
	tell("audit command", withoutIds(await commanded(session, "/mulligan_audit 2", "`/mulligan_audit 2`")));
	tell("audit command", await commanded(session, "/mulligan_audit many", "`/mulligan_audit many`"));
	session.otherwise("A summary.");
	await session.compact();
	tell("transcript", row(session, "mulligan:queued", { when: "an op that waits has become pointless" }));
}

/** Rewinds to a checkpoint that wait while the human changes the checkpoint. */
export async function consents(tell: Tell): Promise<void> {
	let session: TestSession | undefined;
	const revoke = async () => {
		const when = "revoked while a rewind to it waits";
		tell("checkpoint", await commanded(found(session, "session"), "/mulligan_checkpoint_revoke start", when));
		return "revoked";
	};
	session = await openStage({}, { tools: { revoke } });
	await using stage = session;
	const toStart = (id: string) => call.rewind(id, { granularity: "checkpoint", checkpoint: "start" });
	const dropped = (when: string) => tell("transcript", row(stage, "mulligan:queued", { when }));

	await play(stage);
	await stage.prompt("/mulligan_checkpoint start");
	await play(stage, [call.grep("g1")], [toStart("r1")]);
	const moved = "moved while a rewind to it waits";
	tell("checkpoint", await commanded(stage, "/mulligan_checkpoint start", moved));
	dropped("the human moves a checkpoint while a rewind to it waits");
	await play(stage, [call.grep("g2")], [toStart("r2")]);
	clearLabel(stage);
	await play(stage);
	dropped("the human has cleared a checkpoint's label in /tree while a rewind to it waits");
	await play(stage, [call.cancel("x1", { target: { by_tool_call_id: "g2" } })]);
	await stage.prompt("/mulligan_checkpoint start");
	await play(stage, [call.grep("g3")], [toStart("r3"), call.work("h1", "revoke")]);
	tell("rewind", answer(stage, "r3", "the human revokes the checkpoint while it is being decided"));
}

/** As the human does it in /tree. */
function clearLabel({ sessionManager, branch }: TestSession): void {
	const labelled = branch().findLast(({ id }) => sessionManager.getLabel(id) === "mulligan:checkpoint:start");
	sessionManager.appendLabelChange(found(labelled, "checkpoint").id, undefined);
}

function status(session: TestSession, when: string): Told {
	return { when, text: found(session.ui.statuses.get("mulligan"), "status") };
}
