import { currentValue, isDefault, knobsOf, originOf, shownValue } from "./knobs.ts";
import { counted, figure, plain, table, wrapped } from "./layout.ts";
import { shownPath } from "./paths.ts";
import type { PanelState, PluginState, RunState } from "./state.ts";

/** The whole panel as lines for a terminal of so many columns. */
export function showLines(state: PanelState, width: number): readonly string[] {
	const paragraphs = [
		wrapped(headline(state), width),
		titled("Plugins, in their order:", state.config.settings.enabled ? state.plugins.map(pluginRow) : [], width),
		titled("Settings that differ from their default:", settingRows(state), width),
		...runParagraphs(state.run, width),
		titled("Waits for your approval (/mulligan trust):", pendingRows(state), width),
		titled("Warnings:", warningRows(state), width),
	];
	return paragraphs.filter((lines) => lines.length > 0).flatMap((lines, at) => (at === 0 ? lines : ["", ...lines]));
}

/** Whether mulligan is on, and if not, why and what to do. */
function headline({ config, host }: PanelState): string {
	const on = `Mulligan ${host.version} is on. /mulligan help lists what it takes.`;
	if (config.settings.enabled) return on;
	const origin = config.origins.get("enabled");
	if (origin?.startsWith("MULLIGAN_"))
		return `Mulligan ${host.version} is off: ${origin} is set in the environment. Unset it and start Pi again.`;
	const where = origin === undefined ? "" : ` in ${shownPath(origin, host)}`;
	return `Mulligan ${host.version} is off: "enabled" is false${where}. /mulligan on switches it on.`;
}

/** What can be taken back, numbered as `undo` counts. */
function standingRows({ standing }: Pick<RunState, "standing">): readonly (readonly string[])[] {
	return standing.map(({ kind, what }, at) => [String(at + 1), kind, plain(what)]);
}

function titled(title: string, rows: readonly (readonly string[])[], width: number): readonly string[] {
	return rows.length === 0 ? [] : [...wrapped(title, width, "  "), ...table(rows, width)];
}

function pluginRow({ name, state, why }: PluginState): readonly string[] {
	return [plain(name), why === undefined ? state : `${state}: ${plain(why)}`];
}

function settingRows({ config, schemas, host }: PanelState): readonly (readonly string[])[] {
	return knobsOf(schemas)
		.filter((knob) => !isDefault(knob, config))
		.map((knob) => {
			const origin = originOf(knob, config);
			const from = origin === undefined ? "" : `, from ${shownPath(origin, host)}`;
			const value = shownValue(currentValue(knob, config));
			return [knob.key, `${value} instead of ${shownValue(knob.schema.default)}${from}`];
		});
}

function runParagraphs(run: RunState, width: number): readonly (readonly string[])[] {
	const { moments, checkpoints, standing } = run;
	const usable = checkpoints.filter(({ isUsable }) => isUsable).map(({ name }) => plain(name));
	const queued = standing.filter(({ kind }) => kind === "queued").length;
	const waiting = queued === 0 ? "none queued" : `${figure(queued)} queued, ~${counted(moments.queuedTokens, "token")}`;
	return [
		titled("In force, the newest first (/mulligan undo N takes one back):", standingRows(run), width),
		[
			...wrapped(`Moments: ${figure(moments.spent)} of ${figure(moments.max)} spent, ${waiting}.`, width, "  "),
			...wrapped(`Checkpoints: ${usable.length === 0 ? "none" : usable.join(", ")}.`, width, "  "),
		],
	];
}

function pendingRows({ pending, host }: PanelState): readonly (readonly string[])[] {
	return pending.map((file) => [plain(shownPath(file, host))]);
}

function warningRows({ config }: PanelState): readonly (readonly string[])[] {
	return config.warnings.map(({ text }) => [plain(text)]);
}
