import { type Answer, answered, refused } from "./answer.ts";
import type { Where } from "./command.ts";
import {
	currentValue,
	isDefault,
	type Knob,
	knobNamed,
	knobsOf,
	originOf,
	shownValue,
	takes,
	typedValue,
} from "./knobs.ts";
import { shownPath } from "./paths.ts";
import type { PanelState } from "./state.ts";
import { isVariable, overriding, type Target, targetFor } from "./target.ts";
import type { Written } from "./write.ts";

/** A change of a config that is about to be written. */
export interface Change {
	readonly target: Target;
	readonly path: readonly string[];
	/** Undefined takes it out of the file. */
	readonly value: unknown;
	/** What changes, in words: `rewind.maxDepth is 8 instead of 5`. */
	readonly what: string;
	/** Where a source says the same and counts more, so that the change has no effect. */
	readonly overriddenBy: string | undefined;
}

/** The word that takes a setting out of a file again. */
export const DEFAULT = "default";

/** The change that `set` asks for; or an answer: what a knob is now, or what is wrong. */
export function changeOf(
	state: PanelState,
	{ key, typed, where }: { readonly key: string; readonly typed: string; readonly where: Where },
): Change | Answer | { readonly unknown: string } {
	if (key === "") return refused("set takes a setting and a value, as in /mulligan set rewind.maxDepth 8.");
	const knob = knobNamed(key, state.schemas);
	if (!knob) return { unknown: key };
	if (typed === "") return described(knob, state);
	const taken = typed === DEFAULT ? { value: undefined } : typedValue(knob, typed);
	if ("wrong" in taken) return refused(taken.wrong);
	const target = targetFor(state, where);
	if ("why" in target) return refused(target.why);
	return {
		target,
		path: knob.path,
		value: taken.value,
		what: whatChanges(knob, taken.value, state),
		overriddenBy: overriding(state, originOf(knob, state.config), target),
	};
}

/** Names of all settings, for "did you mean". */
export function knobNames({ schemas }: PanelState): readonly string[] {
	return knobsOf(schemas).map(({ key }) => key);
}

/** What is said of a change once it was, or was not, written. `applies` tells when it counts. */
export function changeAnswer(
	change: Change,
	written: Written,
	{ state, applies }: { state: PanelState; applies: string },
): Answer {
	const file = shownPath(change.target.file, state.host);
	if (written.done === "failed") return refused(`${file} was not changed: ${written.problem}.`);
	if (written.done === "unchanged") return answered(unchangedText(change, file, state));
	const isNew = written.done === "created" ? ", which is new" : "";
	const effect = change.overriddenBy === undefined ? applies : overriddenText(change.overriddenBy, state);
	return answered(`${change.what}, in ${file}${isNew}. ${effect}`);
}

function unchangedText({ value, path, overriddenBy }: Change, file: string, state: PanelState): string {
	const key = path.join(".");
	const knob = knobNamed(key, state.schemas);
	const origin = knob && originOf(knob, state.config);
	if (value === undefined) {
		const from = origin === undefined ? "" : ` It comes from ${originText(origin, state)}.`;
		return `${file} does not set ${key}.${from}`;
	}
	const effect = overriddenBy === undefined ? "" : ` ${overriddenText(overriddenBy, state)}`;
	return `${file} says so already: ${key} is ${shownValue(value)}.${effect}`;
}

function originText(origin: string, { host }: PanelState): string {
	return isVariable(origin) ? `${origin} in the environment` : shownPath(origin, host);
}

function overriddenText(by: string, state: PanelState): string {
	return `It has no effect: ${originText(by, state)} says otherwise and counts more.`;
}

function whatChanges(knob: Knob, value: unknown, { config }: PanelState): string {
	const now = shownValue(currentValue(knob, config));
	if (value === undefined) return `${knob.key} is no longer set (it was ${now})`;
	if (JSON.stringify(value) === JSON.stringify(currentValue(knob, config))) return `${knob.key} is ${now}, as it was`;
	const next = shownValue(value);
	return next === now
		? `${knob.key} is another value that begins so: ${next}`
		: `${knob.key} is ${next} instead of ${now}`;
}

function described(knob: Knob, state: PanelState): Answer {
	const { config } = state;
	const origin = originOf(knob, config);
	const from = isDefault(knob, config)
		? "its default"
		: `from ${origin === undefined ? "the config" : originText(origin, state)}; its default is ${shownValue(knob.schema.default)}`;
	const description = knob.schema.description ? ` ${knob.schema.description}` : "";
	return answered(
		`${knob.key} is ${shownValue(currentValue(knob, config))}, ${from}. It takes ${takes(knob)}.${description}`,
	);
}
