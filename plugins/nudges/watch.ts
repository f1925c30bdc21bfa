import type { PluginApi } from "../../src/plugin.ts";
import { type BloatHit, bloatOf } from "./bloat.ts";
import { atRest, type Drift, endTurn, forgotten, NO_DRIFT, restAfter, type TurnMetric } from "./drift.ts";
import type { NudgesOptions } from "./options.ts";
import { driftLine } from "./prompt.ts";

export const METRIC = "mulligan:turn-metric";

type Api = PluginApi<NudgesOptions>;

/** Records each turn's growth, and says in the next request, once, that turns grow by much. */
export function watchDrift(api: Api): void {
	const { hooks, journal, options, session } = api;
	let drift: Drift = NO_DRIFT;
	let turn = newTurn();
	let cancelsBefore = 0;
	let dueTokens: number | undefined;
	let refusedPrompt: string | undefined;
	const prompt = () => session.latestUser()?.id ?? "";
	const cancels = () => journal.read("mulligan:cancel").length;
	const forget = () => {
		drift = forgotten(drift);
		dueTokens = undefined;
		cancelsBefore = cancels();
	};

	hooks.onView.tap("nudges:drift", (view) => {
		turn = newTurn();
		if (dueTokens === undefined) return;
		view.annotate(driftLine(dueTokens));
		dueTokens = undefined;
		drift = atRest(drift, options);
	});

	hooks.onToolResult.tap("nudges:drift", (result, call) => {
		const hit = bloatOf(result, call, options);
		if (hit) turn.bloatHits.push(hit);
		return result;
	});

	hooks.onOp.tap("nudges:drift", (event) => {
		if (event.status === "refused") {
			if (event.plugin === "rewind") refusedPrompt = prompt();
		} else if (event.status !== "dropped" && event.status !== "cancelled") {
			turn.hasActed = true;
			dueTokens = undefined;
		}
	});

	hooks.onTurnEnd.tap("nudges:drift", ({ turnIndex }) => {
		// What a cancel brings back is no output of this turn.
		const isExcused = turn.hasActed || cancels() !== cancelsBefore || refusedPrompt === prompt();
		cancelsBefore = cancels();
		const { agentTokens } = session;
		const ended = endTurn(drift, { turnIndex, agentTokens, bloatHits: turn.bloatHits, isExcused }, options);
		drift = ended.drift;
		dueTokens = ended.dueTokens;
		journal.append(METRIC, ended.metric);
	});

	hooks.onCompact.tap("nudges:drift", forget);
	hooks.onSession.tap("nudges:drift", ({ reason }) => {
		forget();
		if (reason !== "tree") drift = { ...drift, restTurns: restAfter(recorded(journal), options) };
	});
}

/** What happens between a request and the end of its turn. `hasActed`: the agent rewound or shrank. */
function newTurn(): { readonly bloatHits: BloatHit[]; hasActed: boolean } {
	return { bloatHits: [], hasActed: false };
}

function recorded(journal: Api["journal"]): readonly Pick<TurnMetric, "deltaTokens" | "bloatHit">[] {
	return journal.read(METRIC).map((record) => {
		const { deltaTokens, bloatHit } = record as Partial<TurnMetric>;
		return { deltaTokens: typeof deltaTokens === "number" ? deltaTokens : null, bloatHit: bloatHit === true };
	});
}
