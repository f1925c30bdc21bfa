import type { SessionManager } from "@earendil-works/pi-coding-agent";
import { defaultsOf } from "../../src/config/defaults.ts";
import { DEFAULT_PLUGINS } from "../../src/default-set.ts";
import { createKernel, type Kernel } from "../../src/kernel/kernel.ts";
import type { Message, SessionEntry } from "../../src/kernel/messages.ts";
import type { MomentRules } from "../../src/kernel/moments.ts";
import type { Settings } from "../../src/kernel/plugin.ts";
import { Alignment } from "../../src/pi/align.ts";
import { loadPi, type PiVersion } from "../../src/testing/pi-versions.ts";
import { AT_ONCE, noScreen, SETTINGS } from "./screen.ts";

/**
 * A kernel with the default set over Pi's own session manager, without an agent loop: for thousands of random sessions
 * a second. The list of a request is what Pi builds of the branch, cloned, as Pi's events carry it.
 */
export class KernelSession {
	readonly manager: SessionManager;
	readonly kernel: Kernel;
	readonly #build: (manager: SessionManager) => Message[];
	readonly #notes: { customType: string; content: string; details: object }[];
	#alignment = new Alignment();
	#clock = 0;
	#calls = 0;
	#reusesIds = false;

	private constructor(parts: {
		manager: SessionManager;
		kernel: Kernel;
		build: (manager: SessionManager) => Message[];
		notes: { customType: string; content: string; details: object }[];
	}) {
		this.manager = parts.manager;
		this.kernel = parts.kernel;
		this.#build = parts.build;
		this.#notes = parts.notes;
	}

	/** `reusesIds`: the provider numbers its calls anew in each message. Every op is active at once unless `rules` say otherwise. */
	static async open(
		version: PiVersion,
		{ reusesIds = false, rules = AT_ONCE }: { reusesIds?: boolean; rules?: MomentRules } = {},
	): Promise<KernelSession> {
		const { agent } = await loadPi(version);
		const manager = agent.SessionManager.inMemory("/project");
		const notes: { customType: string; content: string; details: object }[] = [];
		let ids = 0;
		const sections = DEFAULT_PLUGINS.map(({ name, options }) => [name, options ? defaultsOf(options as never) : {}]);
		const settings: Settings = { ...SETTINGS, rewrites: rules, ...Object.fromEntries(sections) };
		Object.assign(settings.rewind as object, { maxDepth: 1000, maxRetriesPerPrompt: 1000 });
		const kernel = await createKernel({
			plugins: DEFAULT_PLUGINS.map((plugin) => ({ plugin, options: settings[plugin.name] })),
			settings,
			host: {
				append: (type, data) => void manager.appendCustomEntry(type, data),
				note: (note) => notes.push(note),
				label: (id, label) => void manager.appendLabelChange(id, label),
				notify: () => {},
				screen: noScreen,
				log: () => {},
				now: () => 0,
				newId: () => `marker-${++ids}`,
				raw: () => undefined,
			},
			rules,
			lastSeq: 0,
		});
		const build = (of: SessionManager) => of.buildSessionContext().messages as unknown as Message[];
		const session = new KernelSession({ manager, kernel, build, notes });
		session.#reusesIds = reusesIds;
		session.enter();
		return session;
	}

	enter(): void {
		const source = this.manager as never;
		this.kernel.enter(source, { cwd: "/project", model: "m", window: 1_000_000, promptTokens: 0, activeTools: [] });
	}

	user(text: string): void {
		this.storeNotes();
		this.#append({ role: "user", content: text });
	}

	say(text: string): void {
		this.#append({ ...assistant, content: [{ type: "text", text }] });
	}

	/** A response that was aborted while it called a tool: the call is never answered, and Pi never sends it. */
	breakOff(name: string): void {
		this.#startMessage();
		const calls = [{ type: "toolCall", id: this.#callId(), name, arguments: {} }];
		this.#append({ ...assistant, content: calls, stopReason: "aborted" });
	}

	/** An assistant message with calls of these tools, and their results of `size` characters. */
	batch(names: readonly string[], size: number): void {
		this.#startMessage();
		const calls = names.map((name) => ({ type: "toolCall", id: this.#callId(), name, arguments: { path: "a.ts" } }));
		this.#append({ ...assistant, content: calls });
		for (const { id, name } of calls) this.#result(id, name, `${id} ${"x".repeat(size)}`);
	}

	/** A message that calls one of our tools, beside sibling calls; the whole turn up to its notes. Returns its answer. */
	async op(name: string, params: object, siblings: readonly string[] = []): Promise<{ text: string; details: object }> {
		this.#startMessage();
		const id = this.#callId();
		const calls = [
			{ type: "toolCall", id, name, arguments: params },
			...siblings.map((sibling) => ({ type: "toolCall", id: this.#callId(), name: sibling, arguments: {} })),
		];
		this.#append({ ...assistant, content: calls });
		this.enter();
		this.kernel.moments.startTurn();
		const tool = this.kernel.tools.find(({ declaration }) => declaration.name === name);
		if (!tool) throw new Error(`no tool ${name}`);
		const answer = await tool.run({ toolCallId: id, params: params as never });
		this.enter();
		this.kernel.moments.settle();
		for (const call of calls) {
			const text = call.id === id ? `${answer.text}\n${this.kernel.moments.endingOf(id)?.text ?? ""}` : "sibling";
			this.#result(call.id, call.name, text, call.id === id ? answer.details : undefined);
		}
		this.storeNotes();
		return answer;
	}

	/** A compaction that keeps what stands from an entry on, with what waits riding it. Its notes are not stored yet. */
	async compact(firstKeptId: string): Promise<void> {
		this.enter();
		const { ops } = this.kernel.moments.beforeCompaction();
		this.manager.appendCompaction("SUMMARY", firstKeptId, 1);
		this.enter();
		this.kernel.moments.rideNow("compaction", ops);
	}

	/** The human changes the model between two turns. Its notes are not stored yet. */
	changeModel(): void {
		this.enter();
		this.kernel.moments.rideNow("model change");
	}

	/** Stores the notes that came since, as Pi does at the end of a turn, at once while idle, or not before the end of a run. */
	storeNotes(): void {
		for (const note of this.#notes.splice(0))
			this.manager.appendCustomMessageEntry(note.customType, note.content, true, note.details);
	}

	/** The list as Pi has it, without us. `without` leaves out messages that Pi does not send in this run. */
	original(without: (message: Message) => boolean = () => false): Message[] {
		return structuredClone(this.#build(this.manager)).filter((message) => !without(message));
	}

	/** The list that the model gets; the very same list where there is nothing to change. */
	request(original: Message[] = this.original()): Message[] {
		this.enter();
		return this.#alignment.apply(original, this.kernel.requestView().durable, this.kernel.branch) ?? original;
	}

	/** As a resumed process would see it: nothing remembered of earlier requests. */
	forget(): void {
		this.#alignment = new Alignment();
	}

	branch(): SessionEntry[] {
		return this.manager.getBranch() as unknown as SessionEntry[];
	}

	#startMessage(): void {
		if (this.#reusesIds) this.#calls = 0;
	}

	#callId(): string {
		return `call-${++this.#calls}`;
	}

	#result(toolCallId: string, toolName: string, text: string, details?: object): void {
		this.#append({
			role: "toolResult",
			toolCallId,
			toolName,
			content: [{ type: "text", text }],
			details,
			isError: false,
		});
	}

	#append(message: object): void {
		this.manager.appendMessage({ ...message, timestamp: ++this.#clock } as never);
	}
}

const assistant = {
	role: "assistant",
	api: "scripted",
	provider: "scripted",
	model: "m",
	stopReason: "stop",
	usage: {
		input: 0,
		output: 0,
		cacheRead: 0,
		cacheWrite: 0,
		totalTokens: 0,
		cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
	},
};
