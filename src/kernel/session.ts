import type { Branch } from "./branch.ts";
import type { Journal } from "./journal.ts";
import { reachesModel, shownText, textOf } from "./messages.ts";
import type { Checkpoint, SessionReader } from "./plugin.ts";
import { findTarget, resultsOfSpan } from "./target.ts";
import { type Calibration, messageTokens } from "./tokens.ts";
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
	/** Names of the tools that the model can call now. */
	readonly activeTools: readonly string[];
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
	requests,
}: {
	readonly branch: Branch;
	readonly journal: Journal;
	readonly view: ViewKeeper;
	readonly calibration: Calibration;
	readonly surroundings: () => Surroundings;
	readonly requests: () => number;
}): SessionReader {
	let known: { readonly revision: number; readonly checkpoints: ReadonlyMap<string, Checkpoint> } | undefined;
	const checkpoints = () => {
		const revision = branch.labelRevision;
		if (known?.revision !== revision) known = { revision, checkpoints: checkpointsOf(branch) };
		return known.checkpoints;
	};
	const isVisible = (id: string) => {
		const entry = branch.inContext(id) ? branch.entry(id) : undefined;
		return entry !== undefined && reachesModel(entry.message) && !view.durable().hidden.has(id);
	};
	return {
		get cwd() {
			return surroundings().cwd;
		},
		get viewTokens() {
			return view.durable().tokens;
		},
		get agentTokens() {
			return view.durable().agentTokens;
		},
		get window() {
			return surroundings().window;
		},
		get promptTokens() {
			return surroundings().promptTokens;
		},
		get calibration() {
			return calibration.factor(surroundings().model);
		},
		get requests() {
			return requests();
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
		checkpoint: (name) => checkpoints().get(name),
		checkpoints: () => [...checkpoints().values()],
		viewed() {
			const { hidden, replaced } = view.durable();
			return branch.context().flatMap((entry) => {
				if (hidden.has(entry.id)) return [];
				const content = replaced.get(entry.id);
				const tokens = content === undefined ? entry.tokens : messageTokens(entry.message, content);
				const text = content === undefined ? shownText(entry.message) : textOf(content);
				return [{ entry, tokens, isReplaced: content !== undefined, textBytes: Buffer.byteLength(text) }];
			});
		},
		newestContextEntry: () => branch.context().at(-1),
		activeTools: () => surroundings().activeTools,
		notes(customType) {
			journal.watch(customType);
			return branch.customMessages(customType);
		},
	};
}

/** The checkpoints of a branch by name, oldest first. Of several entries with one name the newest tells the place. */
function checkpointsOf(branch: Branch): ReadonlyMap<string, Checkpoint> {
	const byName = new Map<string, Checkpoint>();
	for (const id of branch.ids()) {
		const label = branch.label(id);
		if (!label?.startsWith(CHECKPOINT_LABEL)) continue;
		const name = label.slice(CHECKPOINT_LABEL.length);
		const place = branch.contextAtOrBefore(id);
		const labelledIds = [...(byName.get(name)?.labelledIds ?? []), id];
		byName.delete(name);
		byName.set(name, { name, labelledIds, placeId: place && branch.inContext(place.id) ? place.id : undefined });
	}
	return byName;
}
