import { sessionLog } from "../../../src/testing/index.ts";
import { call, commanded, found, newestNote, openStage, play, type Tell } from "../stage.ts";

/** What /mulligan_audit says of other sessions than the one with a queue. */
export async function audits(tell: Tell): Promise<void> {
	await using session = await openStage({}, { models: [{ id: "endless", contextWindow: 0 }] });
	const audit = async (args: string, when: string) =>
		tell("audit command", await commanded(session, `/mulligan_audit ${args}`.trim(), when));
	await play(session, [
		call.work("c1", "write", { path: "src/a.ts", content: "export const total = 0;\n".repeat(1_000) }),
		call.grep("c2", 20_000),
		call.work("c3", "bash", { command: "npm test", chars: 20_000 }),
	]);
	session.otherwise("Done.");
	for (const prompt of ["And now?", "Go on.", "And then?"]) await session.prompt(prompt);
	await audit("2", "`/mulligan_audit 2` in a later prompt, the window unknown, once the provider's figures agree");
	const first = session.branch().find((entry) => entry.type === "message" && entry.message.role === "user");
	await session.navigateTree(found(first, "prompt").id);
	await audit("", "`/mulligan_audit` where there is no message");
}

/** What the model reads in a session that an earlier version wrote. */
export async function earlierVersions(tell: Tell): Promise<void> {
	const log = sessionLog();
	log.user("Where is total used?");
	const { assistant, results } = log.batch([{ name: "grep", result: "everything" }]);
	const header = { schema: "pi-mulligan", v: 1, kind: "rewind", seq: 1, ts: 1 };
	log.custom("mulligan:rewind", { ...header, id: "old", hideEntryIds: [assistant, ...results] });
	log.assistant("Done.");
	await using session = await openStage({}, { log });
	await play(session);
	tell("note", newestNote(session, "the marker of an earlier version stored none"));
}
