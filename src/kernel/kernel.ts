import { type ApiParts, apiFor } from "./api.ts";
import { Branch, type BranchSource, MIRROR_RECORD } from "./branch.ts";
import { guardsFor } from "./guards.ts";
import { createHooks, type Hooks } from "./hooks.ts";
import type { Host } from "./host.ts";
import { type Blame, Isolation, messageOfError, type Owner, owner } from "./isolate.ts";
import { Journal } from "./journal.ts";
import type { EntryId, Usage } from "./messages.ts";
import { type Owed, owedEdits, portionOf } from "./mirror.ts";
import { type MomentRules, Moments } from "./moments.ts";
import type { Plugin, SessionReader, Settings } from "./plugin.ts";
import { type RegisteredCommand, type RegisteredTool, Registry } from "./registry.ts";
import { type Surroundings, sessionReader } from "./session.ts";
import { type Standing, standing, type TakenBack, takeBack, untested, withdraw } from "./take-back.ts";
import { Calibration, type Learned } from "./tokens.ts";
import { type RequestTrace, Trace } from "./trace.ts";
import { type DurableView, type ViewDraft, ViewKeeper } from "./view.ts";

/** A plugin with its checked options. */
export interface PluginWithOptions {
	readonly plugin: Plugin;
	readonly options: unknown;
	/** What the plugin calls itself, where it stands in the place and under the name of another. */
	readonly ownName?: string;
}

/** A plugin of this session. */
export interface RunningPlugin {
	readonly name: string;
	/** Why it is off: its set-up failed, or it threw too often; undefined while it runs. */
	readonly off: string | undefined;
}

/** The view of one request: what is durable, and the lines for this request only. */
export interface RequestView {
	readonly durable: DurableView;
	readonly annotations: readonly string[];
}

interface Parts extends ApiParts {
	readonly calibration: Calibration;
	readonly trace: Trace;
}

/** One session's kernel: set up once, frozen, then driven by the host's events. */
export class Kernel {
	readonly branch: Branch;
	readonly hooks: Hooks;
	readonly moments: Moments;
	readonly session: SessionReader;
	/** The plugins in their order. */
	readonly plugins: readonly RunningPlugin[];
	readonly tools: readonly RegisteredTool[];
	readonly commands: readonly RegisteredCommand[];
	readonly #parts: Parts;
	readonly #surroundings: { current: Surroundings; requests: number };
	#owed: { readonly key: string; readonly owed: Owed } | undefined;

	constructor(
		parts: Parts,
		plugins: readonly RunningPlugin[],
		surroundings: { current: Surroundings; requests: number },
	) {
		this.#parts = parts;
		this.#surroundings = surroundings;
		this.branch = parts.branch;
		this.hooks = parts.hooks;
		this.moments = parts.moments;
		this.session = parts.session;
		this.plugins = plugins;
		this.tools = parts.registry.tools;
		this.commands = parts.registry.commands;
	}

	/** Take note of where the session stands; to be called before anything else at each event of the host. */
	enter(source: BranchSource, surroundings: Surroundings): void {
		this.#surroundings.current = surroundings;
		this.branch.sync(source);
	}

	/** The view of the branch as it is now; nothing of one request in it. */
	durable(): DurableView {
		return this.#parts.view.durable();
	}

	/** The view of the request that is about to be made. */
	requestView(): RequestView {
		const { view, trace } = this.#parts;
		this.#surroundings.requests++;
		view.retry();
		const durable = this.durable();
		const annotations: string[] = [];
		if (this.hooks.onView.isUsed()) this.hooks.onView.call(this.#viewDraft(durable, annotations));
		trace.keep({ view: durable, contributions: view.contributions, leafId: this.branch.leafId });
		return { durable, annotations };
	}

	/** What each plugin did to the last request; undefined before the first. */
	lastTrace(): RequestTrace | undefined {
		return this.#parts.trace.last(this.branch);
	}

	/** All that can be taken back, newest first. */
	standing(): readonly Standing[] {
		return standing(this.#parts);
	}

	/** Take these back, together, for the human; `why` goes to the log. */
	takeBack(all: readonly Standing[], why: string): TakenBack {
		return takeBack(this.#takingBack(), all, why);
	}

	/** Take back the active changes that no response has been given over, and activate nothing; returns them. */
	withdrawUntested(why: string): readonly Standing[] {
		const all = untested(this.#parts);
		withdraw(this.#takingBack(), all, why);
		return all;
	}

	#takingBack() {
		return { ...this.#parts, log: (line: string) => this.#parts.host.log(line) };
	}

	/**
	 * What is missing between the view and the edits that Pi applies itself, of the changes as many as one turn's end bears.
	 * Worked out anew only when one of them is another.
	 */
	owedEdits(): Owed {
		const { branch, journal } = this.#parts;
		const view = this.durable();
		const key = [journal.version(MARKERS), view.hidden.size, view.replaced.size, branch.editRevision].join();
		if (this.#owed?.key !== key) {
			const isRunning = (type: string) =>
				this.plugins.some(({ name, off }) => `mulligan:${name}` === type && off === undefined);
			const { changes, restores } = owedEdits({ branch, journal, view, isRunning });
			this.#owed = { key, owed: { changes: portionOf(changes, branch), restores } };
		}
		return this.#owed.owed;
	}

	/** The record that announces edits of these entries as ours. */
	mirrorRecord(targets: readonly EntryId[]): object {
		return this.#parts.journal.compose(MIRROR_RECORD, { targets });
	}

	/** Read what was appended since the last event. */
	refresh(): void {
		this.branch.refresh();
	}

	/** Learn what the model's tokens are worth from the usage that a response reports. */
	observeUsage(usage: Usage | undefined): void {
		const { model, promptTokens } = this.#surroundings.current;
		this.#parts.calibration.observe(model, this.durable().tokens + promptTokens, usage);
	}

	/** A plain estimate in the tokens of the model in use, once its worth is learned. */
	calibrated(plainTokens: number): number {
		return this.#parts.calibration.apply(this.#surroundings.current.model, plainTokens);
	}

	#viewDraft(durable: DurableView, annotations: string[]): ViewDraft {
		const surroundings = this.#surroundings.current;
		const { calibration, branch } = this.#parts;
		return {
			tokens: durable.tokens,
			get window() {
				return surroundings.window;
			},
			get share() {
				const { window, model, promptTokens } = surroundings;
				return window ? calibration.apply(model, durable.tokens + promptTokens) / window : undefined;
			},
			has: (id) => branch.inContext(id) && !durable.hidden.has(id),
			entries: () => branch.context().filter(({ id }) => !durable.hidden.has(id)),
			annotate: (line) => annotations.push(line),
		};
	}
}

interface KernelOptions {
	readonly settings: Settings;
	readonly host: Host;
	readonly rules: MomentRules;
	/** The highest `seq` of the session's records so far. */
	readonly lastSeq: number;
	/** What was learned of the models' tokens before; nothing unless given. */
	readonly learned?: Learned;
}

/** What decides on the edits that are owed, beside the view. */
const MARKERS = ["mulligan:rewind", "mulligan:shrink", "mulligan:cancel"];

/** Where the session stands before the host's first event. */
const NOWHERE: Surroundings = { cwd: "", model: "", window: undefined, promptTokens: 0, activeTools: [] };

/**
 * Sets up the plugins in their order and freezes the hooks. A plugin whose set-up fails is left out: its taps do
 * nothing, its tools and commands do not exist, and the human is told which and why.
 */
export async function createKernel({
	plugins,
	...options
}: KernelOptions & { readonly plugins: readonly PluginWithOptions[] }): Promise<Kernel> {
	const surroundings = { current: NOWHERE, requests: 0 };
	let settingUp: Owner | undefined;
	const parts = assemble(options, surroundings, () => settingUp);
	const owners: Owner[] = [];
	for (const each of plugins) {
		settingUp = owner(each.plugin.name, each.ownName);
		owners.push(settingUp);
		await setUp(parts, settingUp, each);
		settingUp = undefined;
	}
	return new Kernel(parts, owners, surroundings);
}

async function setUp(parts: Parts, who: Owner, { plugin, options }: PluginWithOptions): Promise<void> {
	const { host, isolation } = parts;
	const api = apiFor(parts, { who, plugin, options });
	await isolation.run<void>(who, "setup", () => plugin.setup(api), {
		otherwise: (error) => {
			who.off = `its set-up failed: ${messageOfError(error)}`;
			host.notify(`Mulligan: the plugin "${plugin.name}" is left out: ${who.off}`, "warning");
		},
	});
}

function assemble(
	{ settings, host, rules, lastSeq, learned }: KernelOptions,
	surroundings: { current: Surroundings; requests: number },
	setupOwner: () => Owner | undefined,
): Parts {
	const branch = new Branch();
	const log = (line: string) => host.log(line);
	const isolation = new Isolation((blame) => report(blame, { host, view }));
	const append = (type: string, data: object) => {
		host.append(type, data);
		branch.refresh();
	};
	const journal = new Journal({ branch, sink: { append }, report: log, now: () => host.now(), lastSeq });
	const view = new ViewKeeper({ branch, journal, log });
	const moments = new Moments({ branch, journal, view, isolation, log, rules });
	const trace = new Trace(() => performance.now());
	const guards = { ...guardsFor(trace), ...view.guards(), ...moments.guard() };
	const hooks = createHooks({ isolation, setupOwner, guards, trace });
	view.use(hooks);
	moments.use(hooks);
	const calibration = new Calibration(learned);
	const registry = new Registry({ host, isolation, moments });
	const now = { surroundings: () => surroundings.current, requests: () => surroundings.requests };
	const session = sessionReader({ branch, journal, view, calibration, ...now });
	return { host, branch, journal, view, moments, calibration, isolation, hooks, registry, session, settings, trace };
}

/** Logs a fault, and tells the human of the one that switched a plugin off. */
function report(
	{ plugin, hook, error, switchedOff }: Blame,
	{ host, view }: { readonly host: Host; readonly view: ViewKeeper },
): void {
	host.log(`${plugin} failed in ${hook}: ${messageOfError(error)}`);
	if (!switchedOff) return;
	view.invalidate(`${plugin} was switched off`);
	host.notify(
		`Mulligan: the plugin "${plugin}" is switched off for this session: it failed three times in a row in ${hook} (${messageOfError(error)}). Fix it or take it out of "plugins", then /reload.`,
		"warning",
	);
}
