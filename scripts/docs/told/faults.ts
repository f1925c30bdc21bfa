import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { AT_ONCE, answer, call, notified, openStage, play, type Tell } from "../stage.ts";

const EXTENSION = fileURLToPath(new URL("../faulty.ts", import.meta.url));

/** What is said of a mulligan that is disabled, in part or as a whole. */
export async function disabled(tell: Tell): Promise<void> {
	{
		await using session = await openStage({ rewind: { enabled: false }, shrink: { enabled: false } });
		await play(session, [call.rewind("r1"), call.shrink("s1", "none")]);
		tell("rewind refused", answer(session, "r1", "`rewind.enabled` is false"));
		tell("shrink refused", answer(session, "s1", "`shrink.enabled` is false"));
	}
	{
		await using session = await openStage({ rewrites: { maxMoments: 0 } });
		await play(session, [call.rewind("r1"), call.shrink("s1", "none")]);
		tell("rewind refused", answer(session, "r1", "`rewrites.maxMoments` is 0"));
		tell("shrink refused", answer(session, "s1", "`rewrites.maxMoments` is 0"));
	}
	await using session = await openStage({ enabled: false });
	await play(session, [call.rewind("r1")]);
	tell("any tool", answer(session, "r1", "`enabled` is false; the commands answer the human the same"));
}

/** What is said where a plugin holds a batch back or fails, and where the session log can't be written. */
export async function faulty(tell: Tell): Promise<void> {
	await using session = await openStage(AT_ONCE, { extensionPaths: [EXTENSION], activeTools: ["faulty"] });
	tell("notification", notified(session, "a plugin's set-up failed"));
	await play(session, [call.grep("g1"), call.grep("g2")], [call.shrink("s1", "g1")], [call.rewind("r1")]);
	tell("shrink", answer(session, "s1", "a plugin (`holder`) holds the batch back"));
	tell("rewind", answer(session, "r1", "a plugin (`holder`) holds the batch back"));

	await play(session, ...["f1", "f2", "f3", "f4"].map((id) => [call.work(id, "faulty")]));
	tell("any tool", answer(session, "f1", "its plugin throws"));
	tell("any tool", answer(session, "f4", "its plugin is switched off"));
	tell("notification", notified(session, "a plugin has failed three times in a row"));
	await session.prompt("/faulty");
	tell("notification", notified(session, "a plugin's command failed"));

	session.sessionManager.appendCustomEntry = () => {
		throw new Error("ENOSPC: no space left on device, write");
	};
	await play(session, [call.grep("g3"), call.grep("g4")], [call.shrink("s2", "g3")], [call.rewind("r2")]);
	tell("shrink", answer(session, "s2", "the session file can't be written"));
	tell("rewind", answer(session, "r2", "the session file can't be written"));
}

/** What the human is told where a provider refuses a request for its form. */
export async function refusals(tell: Tell): Promise<void> {
	const error = "400 No tool output found for function call g1.";
	await using session = await openStage(AT_ONCE);
	session.script({ calls: [call.grep("g1")] }, { calls: [call.shrink("s1", "g1")] }, { error });
	await session.prompt("Where is total used?");
	tell("notification", notified(session, "the provider refuses the first request after a change"));
	await play(session, [call.grep("g2")], [call.shrink("s2", "g2")]);
	session.script({ error });
	await session.prompt("And now?");
	tell("notification", notified(session, "it refuses a later one; told once"));
}

/** What the human is told of settings that can't be taken. */
export async function settings(tell: Tell): Promise<void> {
	await using session = await openStage({
		rewrites: { maxMoments: "many" },
		audit: { estimateConfidence: "sure" },
		rewind: { protectedRoles: ["first:user", "all"], abortContextFraction: 90 },
		nudges: { bloatThresholdBytesByTool: { read: 0 } },
		shrink: true,
		log: { file: "/dev/null/mulligan.jsonl" },
	});
	const { notifications } = session.ui;
	const take = (when: string) => {
		const text = notifications.splice(0).map(({ message }) => message.replaceAll(session.agentDir, "~/.pi/agent"));
		tell("warning", { when, text: text.join("\n") });
	};
	take("values that are not taken, each a warning of its own");
	await play(session, [call.grep("g1")], [call.rewind("r1")], [call.audit("a1")]);
	take("the log file can't be written");
	writeFileSync(join(session.agentDir, "settings.json"), '{\n\t"mulligan": nope\n}');
	await session.reload();
	take("a settings file that does not parse");
}
