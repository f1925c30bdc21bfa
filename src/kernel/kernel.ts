import { Branch, type BranchSource } from "./branch.ts";
import { createHooks, type FreshResult, type HookName, type Hooks, type TapGuard } from "./hooks.ts";
import { type Blame, Isolation, messageOfError, type Owner, owner } from "./isolate.ts";
import { Journal } from "./journal.ts";
import type { AssistantMessage, Message, Usage } from "./messages.ts";
import { type MomentRules, Moments } from "./moments.ts";
import type {
	CommandDefinition,
	NotifyLevel,
	Plugin,
	PluginApi,
	ResultLines,
	Screen,
	SessionReader,
	Settings,
	ToolAnswer,
	ToolCall,
	ToolDeclaration,
} from "./plugin.ts";
import { type Surroundings, sessionReader } from "./session.ts";
import { retire, type Standing, standing, type TakenBack, takeBack } from "./take-back.ts";
import { Calibration } from "./tokens.ts";
import { type RequestTrace, Trace } from "./trace.ts";
import { type DurableView, type ViewDraft, ViewKeeper } from "./view.ts";
import { volumeOf } from "./volume.ts";

/** What the kernel needs of Pi. */
export interface Host {
	/** Append a custom entry at the leaf. */
	append(type: string, data: object): void;
	/** Store a custom message after the current turn's results; it must not cause a request. */
	note(note: { readonly customType: string; readonly content: string; readonly details: object }): void;
	label(id: string, label: string | undefined): void;
	notify(text: string, level: NotifyLevel): void;
	log(line: string): void;
	now(): number;
	newId(): string;
	readonly screen: Screen;
	/** Pi's raw API for one plugin; each of its handlers runs inside `run`, which blames a throw and passes it on. */
	raw(who: Owner, run: <T>(hook: string, code: () => T | Promise<T>) => T | Promise<T>): unknown;
}

/** A plugin with its checked options. */
export interface PluginWithOptions {
	readonly plugin: Plugin;
	readonly options: unknown;
	/** What the plugin calls itself, where it stands in the place and under the name of another. */
	readonly ownName?: string;
}

export interface RegisteredTool {
	readonly declaration: ToolDeclaration;
	readonly render?: ResultLines | undefined;
	/** Never throws; answers a refusal instead. */
	run(call: ToolCall<never>): Promise<ToolAnswer>;
}

export interface RegisteredCommand {
	readonly name: string;
	readonly definition: CommandDefinition;
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

export const REFUSED = "Mulligan: refused — ";

interface Parts {
	readonly host: Host;
	readonly branch: Branch;
	readonly journal: Journal;
	readonly view: ViewKeeper;
	readonly moments: Moments;
	readonly calibration: Calibration;
	readonly isolation: Isolation;
	readonly hooks: Hooks;
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

	constructor(
		parts: Parts,
		registered: Pick<Kernel, "session" | "plugins" | "tools" | "commands">,
		surroundings: { current: Surroundings; requests: number },
	) {
		this.#parts = parts;
		this.#surroundings = surroundings;
		this.branch = parts.branch;
		this.hooks = parts.hooks;
		this.moments = parts.moments;
		this.session = registered.session;
		this.plugins = registered.plugins;
		this.tools = registered.tools;
		this.commands = registered.commands;
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
		return takeBack({ ...this.#parts, log: (line) => this.#parts.host.log(line) }, all, why);
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

/**
 * Sets up the plugins in their order and freezes the hooks. A plugin whose set-up fails is left out: its taps do
 * nothing, its tools and commands do not exist, and the human is told which and why.
 */
export async function createKernel({
	plugins,
	settings,
	host,
	rules,
	lastSeq,
}: {
	readonly plugins: readonly PluginWithOptions[];
	readonly settings: Settings;
	readonly host: Host;
	readonly rules: MomentRules;
	/** The highest `seq` of the session's records so far. */
	readonly lastSeq: number;
}): Promise<Kernel> {
	const nowhere: Surroundings = { cwd: "", model: "", window: undefined, promptTokens: 0, activeTools: [] };
	const surroundings = { current: nowhere, requests: 0 };
	let settingUp: Owner | undefined;
	const branch = new Branch();
	const log = (line: string) => host.log(line);
	const isolation = new Isolation((blame) => report(blame));
	const journal = new Journal({
		branch,
		sink: {
			append: (type, data) => {
				host.append(type, data);
				branch.refresh();
			},
		},
		report: log,
		now: () => host.now(),
		lastSeq,
	});
	const view = new ViewKeeper({ branch, journal, log });
	const moments = new Moments({ branch, journal, view, isolation, log, rules });
	const trace = new Trace(() => performance.now());
	const hooks = createHooks({
		isolation,
		setupOwner: () => settingUp,
		guards: { ...RULES, ...viewGuards(trace), ...view.guards(), ...moments.guard() },
		trace,
	});
	view.use(hooks);
	moments.use(hooks);
	const calibration = new Calibration();
	const parts: Parts = { host, branch, journal, view, moments, calibration, isolation, hooks, trace };
	const session = sessionReader({
		branch,
		journal,
		view,
		calibration,
		surroundings: () => surroundings.current,
		requests: () => surroundings.requests,
	});

	function report({ plugin, hook, error, switchedOff }: Blame): void {
		log(`${plugin} failed in ${hook}: ${messageOfError(error)}`);
		if (!switchedOff) return;
		view.invalidate(`${plugin} was switched off`);
		host.notify(
			`Mulligan: the plugin "${plugin}" is switched off for this session: it failed three times in a row in ${hook} (${messageOfError(error)}). Fix it or take it out of "plugins", then /reload.`,
			"warning",
		);
	}

	const tools = new Map<string, RegisteredTool & { readonly who: Owner }>();
	const commands = new Map<string, RegisteredCommand & { readonly who: Owner }>();
	const owners: Owner[] = [];
	for (const { plugin, options, ownName } of plugins) {
		const who = owner(plugin.name, ownName);
		owners.push(who);
		settingUp = who;
		const api = apiFor({ parts, who, plugin, options, settings, session, tools, commands });
		await isolation.run<void>(who, "setup", () => plugin.setup(api), {
			otherwise: (error) => {
				who.off = `its set-up failed: ${messageOfError(error)}`;
				host.notify(`Mulligan: the plugin "${plugin.name}" is left out: ${who.off}`, "warning");
			},
		});
		settingUp = undefined;
	}
	const stands = ({ who }: { readonly who: Owner }) => who.off === undefined;
	const registered = {
		session,
		plugins: owners,
		tools: [...tools.values()].filter(stands),
		commands: [...commands.values()].filter(stands),
	};
	return new Kernel(parts, registered, surroundings);
}

/** What a plugin may do, bound to its name. */
function apiFor({
	parts,
	who,
	plugin,
	options,
	settings,
	session,
	tools,
	commands,
}: {
	readonly parts: Parts;
	readonly who: Owner;
	readonly plugin: Plugin;
	readonly options: unknown;
	readonly settings: Settings;
	readonly session: PluginApi["session"];
	readonly tools: Map<string, RegisteredTool & { readonly who: Owner }>;
	readonly commands: Map<string, RegisteredCommand & { readonly who: Owner }>;
}): PluginApi {
	const { host, journal, moments, isolation, hooks, branch } = parts;
	const log = (line: string) => host.log(`${who.name}: ${line}`);
	return {
		options,
		settings,
		hooks,
		session,
		journal: {
			read: (type: string) => journal.read(type) as never,
			active: (type) => journal.active(type),
			append(type, body) {
				if (!plugin.records?.includes(type))
					throw new Error(`${who.name} writes ${type}, which it does not declare in "records"`);
				journal.append(type, body);
				return branch.leafId ?? "";
			},
			retire(markerId, why) {
				log(`retired ${markerId}: ${why}`);
				if (retire(parts, [markerId], why)) moments.offerRide("cancel");
			},
			memo: (derive) => journal.memo(derive),
			note: (note) => host.note(note),
			label(id, label) {
				host.label(id, label);
				branch.refresh();
			},
		},
		moments: {
			maxMoments: moments.rules.maxMoments,
			get spent() {
				return moments.spent;
			},
			submit: (op, tell) => moments.submit({ ...op, plugin: who.name }, tell),
			waiting: () => moments.waiting(),
			get volumeTokens() {
				return volumeOf(moments.waiting());
			},
			cancel: (opId) => moments.cancel(opId),
			drop: (opId, reason) => moments.drop(opId, reason),
			dropWhen: (reasonOf) => moments.dropWhen(who, reasonOf),
			audit: (toolCallId, report) => moments.audit(toolCallId, report),
		},
		screen: host.screen,
		newId: () => host.newId(),
		notify: (text, level = "info") => host.notify(text, level),
		log,
		tool(declaration, run, render) {
			const taken = tools.get(declaration.name);
			if (taken) throw new Error(`the tool ${declaration.name} belongs to the plugin "${taken.who.name}"`);
			tools.set(declaration.name, {
				who,
				declaration,
				render,
				run: safely({ who, isolation, moments, declaration, run }),
			});
		},
		command(name, definition) {
			const taken = commands.get(name);
			if (taken) throw new Error(`the command /${name} belongs to the plugin "${taken.who.name}"`);
			const run = async (args: string) => {
				await isolation.run<void>(who, `/${name}`, () => definition.run(args), {
					otherwise: (error) => host.notify(`Mulligan: /${name} failed: ${messageOfError(error)}`, "warning"),
				});
			};
			commands.set(name, { who, name, definition: { ...definition, run } });
		},
		refuse(reason, code) {
			hooks.onOp.call({ status: "refused", plugin: who.name, reason, code });
			return { text: `${REFUSED}${reason}`, details: { refused: code } };
		},
		pi: host.raw(who, (hook, code) =>
			isolation.run(who, hook, code, {
				otherwise: (error) => {
					throw error;
				},
			}),
		),
	};
}

/** A tool that always answers: a fault of the plugin is a refusal, and changes nothing. */
function safely<Params>({
	who,
	isolation,
	moments,
	declaration,
	run,
}: {
	readonly who: Owner;
	readonly isolation: Isolation;
	readonly moments: Moments;
	readonly declaration: ToolDeclaration;
	readonly run: (call: ToolCall<Params>) => ToolAnswer | Promise<ToolAnswer>;
}): RegisteredTool["run"] {
	return async (call) => {
		moments.noteRun(call.toolCallId);
		if (who.off !== undefined)
			return { text: `${REFUSED}the plugin "${who.name}" is switched off: ${who.off}.`, details: { refused: "off" } };
		return isolation.run<ToolAnswer>(who, declaration.name, () => run(call as ToolCall<Params>), {
			complaint: (answer) => (typeof answer?.text === "string" ? undefined : "answered without a text"),
			otherwise: (error) => ({
				text: `${REFUSED}the plugin "${who.name}" failed (${messageOfError(error)}); nothing was changed. Go on without it.`,
				details: { refused: "failed" },
			}),
		});
	};
}

const input: TapGuard["otherwise"] = (_who, [value]) => value;

/** The rules of the hooks whose values the kernel hands on. */
const RULES: Partial<Record<HookName, TapGuard>> = {
	onToolResult: {
		otherwise: input,
		complaint: (value, [result]) =>
			value === result || isFreshResult(value)
				? undefined
				: `returned ${typeof value}, no tool result; return the input`,
	},
	onAssistantMessage: {
		otherwise: input,
		complaint: (value, [message]) =>
			value === message || isAssistant(value)
				? undefined
				: `returned ${typeof value}, no assistant message; return the input`,
	},
};

/** Each tap of `onView` annotates a draft of its own, which counts only if the tap returns. */
function viewGuards(trace: Trace): Partial<Record<HookName, TapGuard>> {
	return {
		onView: {
			open: (who, [view]) => {
				const lines: string[] = [];
				const shared = view as ViewDraft;
				const draft: ViewDraft = {
					tokens: shared.tokens,
					get window() {
						return shared.window;
					},
					get share() {
						return shared.share;
					},
					has: shared.has,
					entries: shared.entries,
					annotate: (line) => lines.push(String(line)),
				};
				const done = () => {
					lines.forEach(shared.annotate);
					trace.annotated(who, lines);
				};
				return { args: [draft], done };
			},
		},
	};
}

function isFreshResult(value: unknown): value is FreshResult {
	return Array.isArray((value as Partial<FreshResult> | null | undefined)?.content);
}

function isAssistant(value: unknown): value is AssistantMessage {
	const message = value as Partial<Message> | null | undefined;
	return message?.role === "assistant" && "content" in message && Array.isArray(message.content);
}
