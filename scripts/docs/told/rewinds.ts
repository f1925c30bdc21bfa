import { AT_ONCE, answer, call, newestNote, note, openStage, play, row, type Tell } from "../stage.ts";

/** Rewinds that become active at once, their notes, and what the human sees of them. */
export async function rewinds(tell: Tell): Promise<void> {
	await using session = await openStage(AT_ONCE);
	const toldNote = (when: string) => tell("note", newestNote(session, when));

	await play(session, [call.grep("g1")], [call.rewind("r1")]);
	tell("rewind", answer(session, "r1", "it is active"));
	toldNote("what was hidden read and changed nothing");
	tell("transcript", row(session, "mulligan:rewind", { when: "a rewind is active" }));
	tell("transcript", row(session, "mulligan:note", { when: "its note, collapsed" }));
	tell("transcript", row(session, "mulligan:note", { when: "its note, expanded", expanded: true }));

	const work = [
		call.work("w1", "read", { path: "src/a.ts" }),
		call.work("w2", "write", { path: "src/b.ts" }),
		call.work("w3", "bash", { command: "npm install left-pad" }),
	];
	await play(session, work, [call.rewind("r2", { note: note("moved total into b.ts, which nothing imports") })]);
	tell("rewind", answer(session, "r2", "what it hides changed files or ran commands with effects"));
	toldNote("what was hidden left effects");

	await play(session, [call.grep("g3")], [call.rewind("r3")], [call.grep("g4")], [call.rewind("r4")]);
	tell("rewind", answer(session, "r4", "the second in a row at one prompt with the same `what_happened`"));

	await play(session, [call.grep("g5")], [call.rewind("r5", { granularity: "last_turn" })]);
	tell("rewind", answer(session, "r5", "it is active, of `last_turn`"));
	await play(session, [call.grep("g6")], [call.rewind("r6")]);
	tell("rewind refused", answer(session, "r6", "`rewind.maxDepth` rewinds are active"));
}

/** What a rewind is refused for. */
export async function refusedRewinds(tell: Tell): Promise<void> {
	await using session = await openStage(AT_ONCE, {
		models: [{ id: "model-a" }, { id: "small", contextWindow: 6_400 }],
	});
	const refused = (id: string, when: string) => tell("rewind refused", answer(session, id, when));
	const alone = (id: string, args?: Record<string, unknown>) => [call.rewind(id, args)];
	const toStart = { granularity: "checkpoint", checkpoint: "start" };

	await play(session, ...["a1", "a2", "a3", "a4", "a5", "a6"].map((id) => alone(id)));
	refused("a1", "`last_tool_call_group` with nothing before it");
	refused("a6", "`rewind.maxRetriesPerPrompt` rewinds have landed at the prompt, or found nothing");
	await play(session, alone("b1", { granularity: "last_turn" }));
	refused("b1", "`last_turn` with nothing before it");
	await session.prompt("/mulligan_checkpoint start");
	await play(session, alone("c1", toStart));
	refused("c1", "`checkpoint` with nothing after it");
	await play(session, alone("d1", { note: { ...note(" "), next: "" } }));
	refused("d1", "a field of the note is empty");
	await play(session, alone("d2", { granularity: "checkpoint", checkpoint: "Start!" }));
	refused("d2", "the checkpoint's name can be none");
	await play(session, alone("d3", { granularity: "checkpoint", checkpoint: "middle" }));
	refused("d3", "no such checkpoint");
	session.script("A summary.", "A summary.");
	await session.compact();
	await play(session, alone("e1", toStart));
	refused("e1", "a compaction has taken the checkpoint's place");
	await session.setModel("small");
	await play(session, [call.grep("f1", 20_000)], alone("f2"));
	refused("f2", "the context is at or above `rewind.abortContextFraction`");
}
