import type { Kernel } from "../kernel/kernel.ts";
import type { NotifyLevel } from "../kernel/plugin.ts";
import type { Standing } from "../kernel/take-back.ts";

/** How providers word a request that they refuse for its form, by what is wrong with it. */
const REFUSALS: readonly (readonly [what: string, wording: RegExp])[] = [
	[
		"a tool call or its result stands alone",
		/tool_use_id|tool_use\W.*\btool_result|tool_result\W.*\btool_use|role\W+tool\W+must be a response|tool_calls\W+must be followed|no tool (?:call|output) found|toolResult blocks|function (?:response|call) (?:parts|turn)|function calls and responses/i,
	],
	[
		"the thinking of a response was changed",
		/invalid\W+signature\W.*thinking|thinking\W.*cannot be modified|expected\W+thinking\W|thought_signature/i,
	],
	["a reasoning item stands alone", /without its required (?:following|\W?reasoning)/i],
	[
		"the roles are out of order",
		/roles? must alternate|first message must|last message (?:cannot|must)|must (?:start|begin|end) with a user|assistant message prefill/i,
	],
	[
		"a message is empty",
		/content blocks must (?:be non-empty|contain non-whitespace)|must have non-empty content|content (?:must not|cannot|can't|should not) be empty/i,
	],
];

/** What a provider's error says is wrong with the form of the request; undefined for every other error. */
export function wrongForm(errorMessage: string): string | undefined {
	return REFUSALS.find(([, wording]) => wording.test(errorMessage))?.[0];
}

/** Longest part of a provider's error that the human is told. */
const QUOTED_CHARS = 200;

/**
 * Keeps a session answerable: where a provider refuses the form of a request, the changes of earlier context that no
 * response has been given over are taken back, and the human is told. Older ones are left in force, and named once.
 */
export class Refusals {
	readonly #kernel: Kernel;
	readonly #notify: (text: string, level: NotifyLevel) => void;
	#hasNamedOlder = false;

	constructor(kernel: Kernel, notify: (text: string, level: NotifyLevel) => void) {
		this.#kernel = kernel;
		this.#notify = notify;
	}

	/** A response ended in this error. */
	answer(errorMessage: string): void {
		const wrong = wrongForm(errorMessage);
		if (wrong === undefined) return;
		const advice = this.#takeBack(wrong) ?? this.#nameOlder();
		if (advice === undefined) return;
		const refused = `Mulligan: the provider refused the request (${wrong}: ${quoteOf(errorMessage)})`;
		this.#notify(`${refused}. ${advice}`, "warning");
	}

	#takeBack(wrong: string): string | undefined {
		const taken = this.#kernel.withdrawUntested(`the provider refused the request: ${wrong}`);
		if (taken.length === 0) return undefined;
		return `The last change of earlier context, ${namesOf(taken)}, is taken back: the next request has the originals. Send your message again.`;
	}

	#nameOlder(): string | undefined {
		const inForce = this.#kernel.standing().filter(({ kind }) => kind !== "waiting");
		if (inForce.length === 0 || this.#hasNamedOlder) return undefined;
		this.#hasNamedOlder = true;
		return `Still in force: ${namesOf(inForce)}, over which it has answered before; if it goes on refusing, /mulligan restore gives the model everything back.`;
	}
}

function quoteOf(errorMessage: string): string {
	const line = errorMessage.replace(/\s+/g, " ").trim();
	return line.length > QUOTED_CHARS ? `${line.slice(0, QUOTED_CHARS)} …` : line;
}

/** `1 rewind and 2 shrinks`. */
function namesOf(standing: readonly Standing[]): string {
	return ["rewind", "shrink"]
		.map((kind) => [standing.filter((each) => each.kind === kind).length, kind] as const)
		.filter(([count]) => count > 0)
		.map(([count, kind]) => `${count} ${kind}${count === 1 ? "" : "s"}`)
		.join(" and ");
}
