import { commanded, found, openStage, play, row, type Tell } from "../stage.ts";

/** What the human is told of checkpoints. */
export async function checkpoints(tell: Tell): Promise<void> {
	await using session = await openStage();
	const command = async (typed: string, when: string) => tell("checkpoint", await commanded(session, typed, when));
	const banner = (when: string) => {
		const lines = found(session.ui.widgets.get("mulligan:checkpoints"), "banner") as readonly string[];
		tell("banner", { when, text: lines.join("\n") });
	};

	await command("/mulligan_checkpoint start", "set before there is a message");
	await command("/mulligan_checkpoint_revoke start", "revoked, but none is active");
	await play(session);
	await command("/mulligan_checkpoint start", "set");
	tell("transcript", row(session, "mulligan:checkpoint", { when: "where the human set a checkpoint" }));
	banner("one is active");
	await command("/mulligan_checkpoint start", "set again under its name");
	await command("/mulligan_checkpoint Start!", "set under what can be no name");
	await command("/mulligan_checkpoint_revoke", "revoked without a name");
	await command("/mulligan_checkpoint_revoke other", "revoked, but none is active under the name");
	await command("/mulligan_checkpoint_revoke start", "revoked");
	for (let index = 1; index <= 11; index++) await session.prompt(`/mulligan_checkpoint n${index}`);
	banner("eleven are active");
}
