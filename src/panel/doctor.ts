import type { OtherExtension } from "../pi/extensions.ts";
import type { Witnessed } from "../pi/witness.ts";
import { currentValue, isDefault, knobsOf, originOf } from "./knobs.ts";
import { counted, figure, plain, wrapped } from "./layout.ts";
import { anonymousPath } from "./paths.ts";
import type { PanelState, PluginState, SessionFigures, StandingOp } from "./state.ts";
import { isVariable } from "./target.ts";
import { reason } from "./trace.ts";

/** What the report says beyond the panel's state. */
export interface DoctorFacts {
	readonly extensions: readonly OtherExtension[];
	/** The request that was watched; undefined before one was. */
	readonly request: Witnessed | undefined;
	/** Pi's own context edits on the branch; undefined on a Pi that has none. */
	readonly contextEdits: number | undefined;
	readonly log: { readonly file: string | null; readonly problem?: string };
	/** Entries on the branch by type, and records of ours by custom type. */
	readonly entries: Readonly<Record<string, number>>;
}

/**
 * A report for an issue, in Markdown: versions, config, plugins and numbers. Nothing of prompts, results, notes, names
 * of checkpoints or values that somebody typed; paths without the home folder and the project.
 */
export function doctorLines(state: PanelState, facts: DoctorFacts, width: number): readonly string[] {
	const sections: readonly (readonly [string, readonly string[]])[] = [
		["Versions", versions(state)],
		["Config, the lowest source first", [...sources(state), ...settings(state), ...warnings(state)]],
		["Plugins, in their order", state.plugins.map(pluginText)],
		["Trust", trust(state)],
		["Other extensions", [...extensions(state, facts), ...rewriting(state, facts)]],
		["Log", [log(state, facts)]],
		["Session", session(state, facts)],
	];
	const lines = sections.flatMap(([title, items]) => [
		`**${title}**`,
		...items.flatMap((item) => wrapped(`- ${plain(item)}`, width, "  ")),
	]);
	return ["### /mulligan doctor", ...lines];
}

function versions({ host, config }: PanelState): readonly string[] {
	return [
		`mulligan ${host.version}, loaded from ${host.loadedFrom === "bundle" ? "its bundle" : "source"}, ${config.settings.enabled ? "on" : "off"}`,
		`Pi ${host.piVersion}, mode ${host.mode}; ${host.regime}`,
		`Node ${host.nodeVersion}, ${host.platform}`,
	];
}

function sources({ config, host }: PanelState): readonly string[] {
	if (config.sources.length === 0) return ["no source: all defaults"];
	return config.sources.map(({ file, scope, state }) => `${scope} ${anonymousPath(file, host)}: ${state}`);
}

/** The settings that differ: values only where they are a number, a switch or one of a few words. */
function settings({ config, schemas, host }: PanelState): readonly string[] {
	return knobsOf(schemas)
		.filter((knob) => !isDefault(knob, config))
		.map((knob) => {
			const value = currentValue(knob, config);
			const isHarmless = typeof value === "number" || typeof value === "boolean" || knob.schema.enum !== undefined;
			const origin = originOf(knob, config);
			const from = origin === undefined ? "" : `, from ${isVariable(origin) ? origin : anonymousPath(origin, host)}`;
			return `${knob.key}: ${isHarmless ? JSON.stringify(value) : "not its default"}${from}`;
		});
}

function warnings({ config, host }: PanelState): readonly string[] {
	return config.warnings.map(({ key, file, line }) => {
		const where = file === undefined ? "" : ` in ${anonymousPath(file, host)}${line === undefined ? "" : `:${line}`}`;
		return `warning about ${key}${where}`;
	});
}

/** The reason without what an error said: that may be anything. */
function pluginText({ name, state, why }: PluginState): string {
	return `${name}: ${state}${why === undefined ? "" : ` (${why.split(":")[0]})`}`;
}

function trust({ host, pending }: PanelState): readonly string[] {
	return [
		`Pi trusts the project: ${host.isProjectTrusted ? "yes" : "no"}`,
		...pending.map((file) => `waits for approval: ${anonymousPath(file, host)}`),
	];
}

function extensions({ host }: PanelState, { extensions }: DoctorFacts): readonly string[] {
	const known = extensions.map(({ path, knownBy, handles }) => {
		const what =
			handles === undefined
				? "it has no file that can be read"
				: handles.length === 0
					? "its file names no event that changes requests"
					: `its file names ${handles.join(", ")}`;
		return `${anonymousPath(path, host)} (${knownBy.join(", ")}): ${what}`;
	});
	return [
		...(known.length > 0 ? known : ["none is known"]),
		"Pi shows no extension the handlers of another: an extension that has neither tool nor command, and what a file imports, is not seen",
	];
}

function rewriting({ host }: PanelState, { request, contextEdits }: DoctorFacts): readonly string[] {
	const { added = 0, missing = 0, changed = 0, messages = 0 } = request ?? {};
	const differs = added + missing + changed > 0;
	const seen = differs
		? `the watched request reached mulligan with ${figure(added)} messages added, ${figure(missing)} missing and ${figure(changed)} changed of ${figure(messages)}: others, or Pi itself, change the list`
		: `the watched request reached mulligan as the session has it (${counted(messages, "message")})`;
	return [
		request ? seen : "the next request is watched: ask again after it",
		`what an extension that is loaded after mulligan does to a request can't be seen on Pi ${host.piVersion}`,
		...(contextEdits === undefined ? [] : [`${counted(contextEdits, "context edit")} of Pi on this branch`]),
	];
}

function log({ host }: PanelState, { log: { file, problem } }: DoctorFacts): string {
	if (file === null) return "none";
	return `${anonymousPath(file, host)}: ${problem === undefined ? "writable" : `not writable (${problem})`}`;
}

function session({ run, host }: PanelState, { entries }: DoctorFacts): readonly string[] {
	const { figures, moments, standing, checkpoints } = run;
	const of = (kind: StandingOp["kind"]) => standing.filter((op) => op.kind === kind).length;
	const { last } = moments;
	const lastText = last
		? `${last.heldBy === undefined ? "active" : "held back"} because ${reason(last, moments)}`
		: "none";
	return [
		`model ${host.model ?? "none"}; ${counted(figures.requests, "request")} since the session started here`,
		contextText(figures),
		`in force: ${counted(of("rewind"), "rewind")}, ${counted(of("shrink"), "shrink")}; ${figure(of("queued"))} queued, ~${counted(moments.queuedTokens, "token")}`,
		`moments: ${figure(moments.spent)} of ${figure(moments.max)} spent; the last: ${lastText}`,
		`checkpoints: ${figure(checkpoints.length)}`,
		`entries on the branch: ${Object.entries(entries)
			.map(([type, count]) => `${type} ${figure(count)}`)
			.join(", ")}`,
	];
}

function contextText(figures: SessionFigures): string {
	const { messages, hidden, changed, viewTokens, contextTokens, promptTokens, window, share, calibration } = figures;
	const fills = !window ? "window unknown" : `${Math.round((share ?? 0) * 100)} % of a window of ${figure(window)}`;
	const factor = calibration === undefined ? "uncalibrated" : `calibrated ×${calibration.toFixed(2)}`;
	return `${counted(messages, "message")} in the context, ${figure(hidden)} hidden, ${figure(changed)} changed; ~${figure(viewTokens)} of ~${counted(contextTokens, "token")} are sent, beside a prompt of ~${figure(promptTokens)}; ${fills}; ${factor}`;
}
