import { describe, expect, test } from "vitest";
import { panelState, settingsWith } from "../../test/support/panel-state.ts";
import type { ContextEntry } from "../kernel/branch.ts";
import type { Op } from "../kernel/moments.ts";
import type { TakenBack } from "../kernel/take-back.ts";
import { noAudit } from "./audit.ts";
import { opsToRestore, restoredAnswer } from "./restore.ts";
import type { PanelState, StandingOp } from "./state.ts";
import { nothingToTrust, trustedAnswer } from "./trust.ts";
import { opToUndo, undoneAnswer } from "./undo.ts";

const queued: StandingOp = { id: "q", kind: "queued", what: "shrink of grep c3" };
const rewind: StandingOp = { id: "r", kind: "rewind", what: "last turn" };
const shrink: StandingOp = { id: "s", kind: "shrink", what: "grep c1" };
const standing = (...ops: readonly StandingOp[]): PanelState => panelState({ run: { standing: ops } });
const entry = (tokens: number) => ({ id: "e", tokens }) as ContextEntry;
const back = (...tokens: readonly number[]): TakenBack => ({ returned: tokens.map(entry), activated: [] });
const refusal = (why: string) => ({ text: `Mulligan: refused — ${why}`, level: "warning" });

describe("undo", () => {
	test("means the newest, or the nth that is listed", () => {
		expect(opToUndo(standing(queued, rewind), 1)).toBe(queued);
		expect(opToUndo(standing(queued, rewind), 2)).toBe(rewind);
	});

	test.each<[readonly StandingOp[], number, string]>([
		[[], 1, "there is nothing to undo: no change is active or queued."],
		[[rewind], 2, "undo 2: only 1 change can be undone, see /mulligan show."],
		[[queued, rewind], 9, "undo 9: only 2 changes can be undone, see /mulligan show."],
	])("of %j, %i is refused", (ops, nth, why) => {
		expect(opToUndo(standing(...ops), nth)).toEqual(refusal(why));
	});

	test.each<[StandingOp, TakenBack, string]>([
		[queued, back(), "the queued shrink of grep c3 is dropped; nothing had changed."],
		[
			rewind,
			back(100, 50),
			"the rewind (last turn) is taken back: from the next request 2 messages of ~150 tokens are as before. Files are as they are.",
		],
		[
			shrink,
			back(1),
			"the shrink (grep c1) is taken back: from the next request 1 message of ~1 token is as before. Files are as they are.",
		],
		[
			shrink,
			back(),
			"the shrink (grep c1) is taken back: nothing of it was in force in the context, so the context stays as it is.",
		],
		[
			shrink,
			{ returned: [entry(9)], activated: [{ describe: "shrink of ls c9" } as Op] },
			"the shrink (grep c1) is taken back: from the next request 1 message of ~9 tokens is as before. Files are as they are. What waited became active with it, since the prompt cache breaks anyway: shrink of ls c9.",
		],
	])("of $kind says what came back", (op, takenBack, text) => {
		expect(undoneAnswer(op, takenBack)).toEqual({ text: `Mulligan: ${text}`, level: "answer" });
	});
});

describe("restore", () => {
	test("means all, and is refused where there is nothing", () => {
		expect(opsToRestore(standing(queued, rewind))).toEqual([queued, rewind]);
		expect(opsToRestore(standing())).toEqual(refusal("there is nothing to restore: no change is active or queued."));
	});

	test.each<[readonly StandingOp[], TakenBack, string]>([
		[[queued], back(), "1 queued change dropped; nothing had changed."],
		[
			[queued, rewind, shrink],
			back(10, 10, 10),
			"2 changes taken back, and 1 queued change dropped: from the next request 3 messages of ~30 tokens are as before. Files are as they are.",
		],
		[
			[rewind],
			back(),
			"1 change taken back: nothing of it was in force in the context, so the context stays as it is.",
		],
	])("of %j says what came back", (ops, takenBack, text) => {
		expect(restoredAnswer(ops, takenBack).text).toBe(`Mulligan: ${text}`);
	});
});

describe("trust", () => {
	test("has nothing to do where nothing waits", () => {
		expect(nothingToTrust(panelState())?.text).toBe("Mulligan: no code of this project waits for your approval.");
	});

	test("is refused where Pi does not trust the project", () => {
		expect(nothingToTrust(panelState({ host: { isProjectTrusted: false } }))).toEqual(
			refusal("Pi does not trust this project, so nothing of it is read. Trust it in Pi first: /trust."),
		);
	});

	test("names what was approved", () => {
		const state = panelState({ pending: ["/home/ann/work/shop/mulligan.config.ts"] });
		expect(nothingToTrust(state)).toBeUndefined();
		expect(
			trustedAnswer({ files: state.pending, isKept: true }, { host: state.host, applies: "It counts." }).text,
		).toBe("Mulligan: 1 file approved as it is now: ~/work/shop/mulligan.config.ts. It counts.");
	});
});

test("trust says so where the approval could not be kept", () => {
	const state = panelState({ pending: ["/home/ann/work/shop/mulligan.config.ts"] });
	expect(trustedAnswer({ files: state.pending, isKept: false }, { host: state.host, applies: "It counts." }).text).toBe(
		"Mulligan: 1 file approved as it is now: ~/work/shop/mulligan.config.ts. It counts. The approval could not be kept: it counts until Pi ends, and then you are asked again.",
	);
});

test("trust is refused where what waited is gone", () => {
	expect(trustedAnswer({ files: [], isKept: true }, { host: panelState().host, applies: "It counts." })).toEqual(
		refusal("nothing was approved: what waited is no longer there."),
	);
});

describe("audit", () => {
	test("is refused without its plugin, with what to do", () => {
		const plugins = [{ name: "audit", state: "off", isBuiltIn: true }] as const;
		expect(noAudit(panelState({ plugins }))).toEqual(
			refusal("the plugin audit is off. /mulligan audit on switches it on."),
		);
	});

	test("is refused while mulligan is off", () => {
		const state = panelState({ config: { settings: settingsWith({ enabled: false }) } });
		expect(noAudit(state)).toEqual(refusal("mulligan is off. /mulligan on switches it on."));
	});
});
