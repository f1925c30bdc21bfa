import { describe, expect, test } from "vitest";
import { panelState } from "../../test/support/panel-state.ts";
import { pick } from "./picker.ts";

const state = panelState({
	plugins: [
		{ name: "rewind", state: "on", isBuiltIn: true },
		{ name: "nudges", state: "switched off", why: "threw", isBuiltIn: true },
		{ name: "tool-repair", state: "off", isBuiltIn: true },
	],
});

/** A human who picks these lines one after another, then leaves; and what they were shown. */
async function picking(...choices: readonly string[]) {
	const shown: (readonly string[])[] = [];
	const rest = [...choices];
	const switches = await pick(state, async (_title, options) => {
		shown.push(options);
		const choice = rest.shift();
		if (choice !== undefined && !options.includes(choice)) throw new Error(`no line ${choice}: ${options.join(" | ")}`);
		return choice;
	});
	return { switches: switches && Object.fromEntries(switches), shown };
}

describe("the picker", () => {
	test("shows each plugin with its state, and nothing to apply", async () => {
		const { switches, shown } = await picking();
		expect(shown).toEqual([["[x] rewind", "[x] nudges", "[ ] tool-repair"]]);
		expect(switches).toBeUndefined();
	});

	test("switches as often as one likes, and applies all at once", async () => {
		const { switches, shown } = await picking(
			"[x] rewind",
			"[ ] tool-repair",
			"apply and reload: rewind off, tool-repair on",
		);
		expect(shown.at(-1)).toEqual([
			"apply and reload: rewind off, tool-repair on",
			"[ ] rewind",
			"[x] nudges",
			"[x] tool-repair",
		]);
		expect(switches).toEqual({ rewind: false, "tool-repair": true });
	});

	test("has nothing to apply once all is as it was", async () => {
		const { shown } = await picking("[x] rewind", "[ ] rewind");
		expect(shown.at(-1)).toEqual(["[x] rewind", "[x] nudges", "[ ] tool-repair"]);
	});

	test("forgets what was switched when it is left", async () => {
		expect((await picking("[x] rewind")).switches).toBeUndefined();
	});
});
