import { definePlugin, isActivationOf } from "../../src/plugin.ts";
import { bannerOf } from "./banner.ts";
import { type Answer, revoke, set } from "./commands.ts";
import { checkpointLines, RECORD } from "./record.ts";

const COMMANDS = {
	mulligan_checkpoint: "Let the agent rewind to this point, across the prompts you send from now on",
	mulligan_checkpoint_revoke: "Take a checkpoint back: the agent may no longer rewind to it",
};

/** Checkpoints: places that only the human can set, to which the agent may then rewind across prompts. */
export const checkpoints = definePlugin({
	name: "checkpoints",
	commands: COMMANDS,
	records: [RECORD],
	setup(api) {
		const { hooks, screen, session } = api;
		const banner = bannerOf(api);

		const answer = ({ text, level }: Answer) => {
			api.notify(text, level);
			banner.update();
		};

		api.command("mulligan_checkpoint", {
			description: COMMANDS.mulligan_checkpoint,
			run: (args) => answer(set(api, args.trim())),
		});
		api.command("mulligan_checkpoint_revoke", {
			description: COMMANDS.mulligan_checkpoint_revoke,
			run: (args) => answer(revoke(api, args.trim())),
			complete: (prefix) =>
				session
					.checkpoints()
					.map(({ name }) => name)
					.filter((name) => name.startsWith(prefix.trimStart())),
		});
		screen.renderRecord(RECORD, checkpointLines);

		hooks.onSession.tap("checkpoints", () => banner.restart());
		hooks.onCompact.tap("checkpoints", () => banner.update());
		hooks.onTurnEnd.tap("checkpoints", () => banner.update());
		hooks.onView.tap("checkpoints", () => banner.update());
		hooks.onOp.tap("checkpoints", (event) => {
			const consumed = isActivationOf(event, "mulligan:rewind") ? event.record.checkpoint : undefined;
			// The rewind clears the label right after this tap.
			if (consumed !== undefined) banner.update({ consumed });
		});
	},
});
