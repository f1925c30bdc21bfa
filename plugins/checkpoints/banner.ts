import type { PluginApi } from "../../src/plugin.ts";

/** The widget's name. */
export const BANNER = "mulligan:checkpoints";

/** Pi shows ten lines of a widget at most. */
const MOST_LINES = 10;

/** The lines above the editor; undefined while no checkpoint is active. */
export function bannerLines(names: readonly string[]): readonly string[] | undefined {
	if (names.length === 0) return undefined;
	if (names.length < MOST_LINES) return names.map(lineOf);
	const shown = names.slice(0, MOST_LINES - 1);
	return [...shown.map(lineOf), `… and ${names.length - shown.length} more: /mulligan`];
}

function lineOf(name: string): string {
	return `⚠ Mulligan checkpoint active: "${name}" (you set it). The agent may rewind across your subsequent prompts back to this point. Revoke: /mulligan_checkpoint_revoke ${name}`;
}

export interface Banner {
	/** Shows what is active now, but for a checkpoint that is just being consumed. */
	update(now?: { readonly consumed: string }): void;
	/** The same, whatever the screen shows: it may be another session's banner. */
	restart(): void;
}

/** Keeps the banner as the branch has it. A screen that shows the right lines already is left alone. */
export function bannerOf({ screen, session, settings }: Pick<PluginApi, "screen" | "session" | "settings">): Banner {
	const isWanted = settings.ui.activeCheckpointBanner;
	let shown: readonly string[] | undefined;

	const linesNow = (consumed?: string) => {
		if (!isWanted) return undefined;
		const usable = session.checkpoints().filter(({ name, placeId }) => placeId !== undefined && name !== consumed);
		return bannerLines(usable.map(({ name }) => name));
	};
	const show = (lines: readonly string[] | undefined) => {
		shown = lines;
		screen.widget(BANNER, lines);
	};
	const update: Banner["update"] = (now) => {
		const lines = linesNow(now?.consumed);
		if (lines?.join("\n") !== shown?.join("\n")) show(lines);
	};
	return { update, restart: () => show(linesNow()) };
}
