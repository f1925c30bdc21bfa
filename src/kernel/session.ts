import type { Branch } from "./branch.ts";
import type { Journal } from "./journal.ts";
import type { SessionReader } from "./plugin.ts";
import { findTarget, resultsOfSpan } from "./target.ts";
import type { Calibration } from "./tokens.ts";
import type { ViewKeeper } from "./view.ts";

/** What changes from event to event: where the session runs, and on which model. */
export interface Surroundings {
	readonly cwd: string;
	/** Provider and id of the model. */
	readonly model: string;
	/** The model's window in tokens. */
	readonly window: number | undefined;
	/** Plain estimate of the prompt and the tool declarations, in tokens. */
	readonly promptTokens: number;
}

/** The label of a checkpoint, on its own custom entry or, from earlier versions, on a message. */
const CHECKPOINT_LABEL = "mulligan:checkpoint:";

/** The reader that plugins get: the branch, and the view of it as it is now. */
export function sessionReader({
	branch,
	journal,
	view,
	calibration,
	surroundings,
}: {
	readonly branch: Branch;
	readonly journal: Journal;
	readonly view: ViewKeeper;
	readonly calibration: Calibration;
	readonly surroundings: () => Surroundings;
}): SessionReader {
	const isVisible = (id: string) => branch.inContext(id) && !view.durable().hidden.has(id);
	return {
		get cwd() {
			return surroundings().cwd;
		},
		get viewTokens() {
			return view.durable().tokens;
		},
		get share() {
			const { model, window, promptTokens } = surroundings();
			return window ? calibration.apply(model, view.durable().tokens + promptTokens) / window : undefined;
		},
		context: () => branch.context(),
		after: (id) => branch.after(id),
		entry: (id) => branch.entry(id),
		inContext: (id) => branch.inContext(id),
		isVisible,
		isBefore: (a, b) => branch.isBefore(a, b),
		groupOf: (id) => branch.groupOf(id),
		groupOfCall: (toolCallId) => branch.groupOfCall(toolCallId),
		firstUser: () => branch.users[0],
		latestUser: () => branch.users.at(-1),
		resolve: (target, scope) =>
			findTarget(target, scope === "context" ? branch.context() : resultsOfSpan(branch, scope.span, isVisible)),
		checkpoint(name) {
			const label = `${CHECKPOINT_LABEL}${name}`;
			const labelledId = [...branch.ids()].findLast((id) => branch.label(id) === label);
			if (labelledId === undefined) return undefined;
			const place = branch.contextAtOrBefore(labelledId);
			return { labelledId, placeId: place && branch.inContext(place.id) ? place.id : undefined };
		},
		notes(customType) {
			journal.watch(customType);
			return branch.customMessages(customType);
		},
	};
}
