import {
	type Call,
	type ModelRequest,
	type OpenSessionOptions,
	openSession,
	type TestSession,
	textOf,
} from "../../src/testing/index.ts";

/** A situation of a real session, and the texts of ours that somebody reads in it. */
export interface Scene {
	/** When it is read, as a sentence without its full stop. */
	readonly when: string;
	readonly session?: Partial<OpenSessionOptions>;
	readonly play: (session: TestSession) => Promise<void>;
	/** What is read; the last result that our tools answered unless given. */
	readonly read?: (session: TestSession) => string | undefined;
}

const settings = (mulligan: object) => ({ settings: { mulligan } });
const AT_ONCE = { rewrites: { maxMoments: 9, flushShedTokens: 0 } };
const SPENT = { rewrites: { maxMoments: 1, flushShedTokens: 1e6 } };

const note = {
	what_happened: "grep over the whole repository: 40 KB of vendored code",
	true_current_state: "nothing has changed",
	next: "grep in src/money only",
};
let made = 0;
const id = () => `c${++made}`;
const grep = (callId = id()): Call => ({ id: callId, name: "grep", args: { pattern: "total" } });
const bash = (command: string, callId = id()): Call => ({ id: callId, name: "bash", args: { command } });
const rewind = (args: Record<string, unknown> = {}): Call => ({
	id: id(),
	name: "mulligan_rewind",
	args: { note, granularity: "last_tool_call_group", ...args },
});
const shrink = (args: Record<string, unknown> = {}): Call => ({
	id: id(),
	name: "mulligan_shrink",
	args: { target: { by_tool_name: "grep" }, replacement: "total is summed in src/money.ts:12", ...args },
});
const cancel = (args: Record<string, unknown>): Call => ({ id: id(), name: "mulligan_cancel", args });
const audit = (): Call => ({ id: id(), name: "mulligan_audit", args: {} });

/** One prompt whose responses make these calls, a message for each list. */
const run =
	(...batches: readonly (readonly Call[])[]) =>
	async (session: TestSession) => {
		session.script(...batches.map((calls) => ({ calls })), "done");
		await session.prompt("Where is total summed?");
	};

const command = (text: string) => async (session: TestSession) => {
	await run([grep()])(session);
	await session.prompt(text);
};

/** What our tools answered last. */
function lastAnswer(session: TestSession): string | undefined {
	const own = session.lastRequest.messages.filter(
		(message) => message.role === "toolResult" && message.toolName.startsWith("mulligan_"),
	);
	return own.map((message) => textOf(message)).at(-1);
}

const noteOf = (session: TestSession) =>
	session.lastRequest.messages.map((message) => textOf(message)).find((text) => text.startsWith("Rewound"));
const lastResult = (session: TestSession) =>
	session.lastRequest.messages
		.filter(({ role }) => role === "toolResult")
		.map((message) => textOf(message))
		.at(-1);
const lastLine = (text: string | undefined) => text?.split("\n").at(-1);
const tail = ({ messages }: ModelRequest) => messages.slice(-1).map(textOf).join();
const toldLast = (session: TestSession) => session.ui.notifications.at(-1)?.message;
const widget = (session: TestSession) =>
	(session.ui.widgets.get("mulligan:checkpoints") as readonly string[] | undefined)?.join("\n");

const open = (mulligan: object = AT_ONCE, more: Partial<OpenSessionOptions> = {}) => ({
	session: { ...settings(mulligan), ...more },
});

/** Scenes by the tool or part whose texts they show: what the model reads. */
export const MODEL_SCENES: Readonly<Record<string, readonly Scene[]>> = {
	mulligan_rewind: [
		{ when: "it becomes active in its turn", ...open(), play: run([grep()], [rewind()]) },
		{ when: "the note in place of what is hidden", ...open(), play: run([grep()], [rewind()]), read: noteOf },
		{ when: "it waits", ...open({}), play: run([grep()], [rewind()]) },
		{
			when: "the note of a rewind that waited, and whose span read and changed files",
			...open(SPENT, { models: [{ id: "model-a" }, { id: "model-b" }] }),
			play: async (session) => {
				await run([bash("sed -i s/a/b/ notes.txt")], [rewind({ granularity: "last_turn" })])(session);
				await session.setModel("model-b");
				session.script("ok");
				await session.prompt("go on");
			},
			read: noteOf,
		},
		{
			when: "what it hides has effects on disk",
			...open(),
			play: run([bash("touch notes.txt && git init -q")], [rewind()]),
		},
		{
			when: "the same happened before the last rewind at this prompt",
			...open(),
			play: run([grep()], [rewind()], [grep()], [rewind()]),
		},
		{ when: "refused: nothing is there to hide", ...open(), play: run([rewind()]) },
		{ when: "refused: the note is empty", ...open(), play: run([grep()], [rewind({ note: { ...note, next: " " } })]) },
		{
			when: "refused: no such checkpoint",
			...open(),
			play: run([grep()], [rewind({ granularity: "checkpoint", checkpoint: "start" })]),
		},
		{
			when: "refused: no name of a checkpoint",
			...open(),
			play: run([grep()], [rewind({ granularity: "checkpoint", checkpoint: "The start" })]),
		},
		{
			when: "refused: `rewind.maxDepth`",
			...open({ ...AT_ONCE, rewind: { maxDepth: 1 } }),
			play: run([grep()], [rewind()], [grep()], [rewind()]),
		},
		{
			when: "refused: `rewind.maxRetriesPerPrompt`",
			...open({ ...AT_ONCE, rewind: { maxRetriesPerPrompt: 1 } }),
			play: run([grep()], [rewind()], [grep()], [rewind()]),
		},
		{
			when: "refused: `rewind.abortContextFraction`",
			...open({ ...AT_ONCE, rewind: { abortContextFraction: 0.001 } }),
			play: run([grep()], [rewind()]),
		},
		{
			when: "refused: `rewind.enabled` is false",
			...open({ rewind: { enabled: false } }),
			play: run([grep()], [rewind()]),
		},
		{
			when: "refused: `rewrites.maxMoments` is 0",
			...open({ rewrites: { maxMoments: 0 } }),
			play: run([grep()], [rewind()]),
		},
	],
	mulligan_shrink: [
		{ when: "it becomes active in its turn, as the last shrink of it", ...open(), play: run([grep()], [shrink()]) },
		{
			when: "the result in its place",
			...open(),
			play: run([grep()], [shrink()]),
			read: (session) =>
				session.lastRequest.messages
					.map((message) => textOf(message))
					.find((text) => text.startsWith("<context-shrunk>")),
		},
		{ when: "it waits", ...open({}), play: run([grep()], [shrink()]) },
		{
			when: "it waits, the budget being spent",
			...open(SPENT),
			play: run([grep("a"), grep("b")], [shrink({ target: { by_tool_call_id: "a" } }), shrink()], [grep()], [shrink()]),
		},
		{ when: "refused: no such result in this prompt", ...open(), play: run([shrink()]) },
		{ when: "refused: no target", ...open(), play: run([grep()], [shrink({ target: {} })]) },
		{ when: "refused: no replacement", ...open(), play: run([grep()], [shrink({ replacement: " " })]) },
		{
			when: "refused: not smaller",
			...open(),
			play: run([grep()], [shrink({ replacement: "x".repeat(20_000) })]),
		},
		{
			when: "refused: `shrink.enabled` is false",
			...open({ shrink: { enabled: false } }),
			play: run([grep()], [shrink()]),
		},
	],
	mulligan_cancel: [
		{
			when: "a rewind is taken back",
			...open(),
			play: run([grep()], [rewind()], [cancel({ target: { by_tool_name: "grep" } })]),
		},
		{
			when: "a shrink is taken back",
			...open(),
			play: run([grep()], [shrink()], [cancel({ target: { by_tool_name: "grep" } })]),
		},
		{
			when: "an op that waits is taken back",
			...open({}),
			play: run([grep("c1")], [shrink()], [cancel({ target: { by_tool_name: "grep" } })]),
		},
		{ when: "nothing matches", ...open(), play: run([cancel({ markerId: "x" })]) },
		{ when: "refused: neither target nor marker", ...open(), play: run([cancel({})]) },
	],
	mulligan_audit: [
		{
			when: "the report, after it activated what waited",
			...open({}),
			play: run([grep("c1"), bash("seq 1 90", "c2")], [shrink(), audit()]),
		},
	],
	"Lines that nobody asked for": [
		{
			when: "under a large result",
			...open({ nudges: { bloatThresholdBytes: 4096, bloatThresholdBytesByTool: {} } }),
			play: run([grep()]),
			read: (session) => lastLine(lastResult(session)),
		},
		{
			when: "after turns that grew by much, at the end of one request",
			...open({ nudges: { driftThresholdTokens: 1000, bloatReminder: false } }),
			play: run([grep()], [grep()], [bash("true")]),
			read: (session) => session.requests.map(tail).find((text) => text.startsWith("Previous turn added")),
		},
		{
			when: "as the view crosses the high-water mark, at the end of one request",
			...open({ nudges: { highWaterFraction: 0.02, perTurnDrift: false, bloatReminder: false } }),
			play: run([grep()]),
			read: (session) => tail(session.lastRequest),
		},
	],
	"While mulligan is disabled": [
		{ when: "each of the tools and commands", ...open({ enabled: false }), play: run([audit()]) },
	],
};

/** Scenes by part: what the human reads. */
export const HUMAN_SCENES: Readonly<Record<string, readonly Scene[]>> = {
	Checkpoints: [
		{ when: "`/mulligan_checkpoint start`", ...open(), play: command("/mulligan_checkpoint start"), read: toldLast },
		{
			when: "above the editor, while it is active",
			...open(),
			play: command("/mulligan_checkpoint start"),
			read: widget,
		},
		{
			when: "`/mulligan_checkpoint_revoke start`",
			...open(),
			play: async (session) => {
				await command("/mulligan_checkpoint start")(session);
				await session.prompt("/mulligan_checkpoint_revoke start");
			},
			read: toldLast,
		},
		{ when: "a name that can't be one", ...open(), play: command("/mulligan_checkpoint My Start"), read: toldLast },
		{
			when: "before any message",
			...open(),
			play: (session) => session.prompt("/mulligan_checkpoint start"),
			read: toldLast,
		},
		{ when: "an unknown one", ...open(), play: command("/mulligan_checkpoint_revoke start"), read: toldLast },
	],
	Shrinks: [{ when: "one becomes active", ...open(), play: run([grep("c1")], [shrink()]), read: toldLast }],
	Status: [
		{
			when: "in the footer",
			...open({}),
			play: run([grep()], [shrink()]),
			read: (session) => session.ui.statuses.get("mulligan"),
		},
	],
};

const GREP_RESULT = Array.from({ length: 200 }, (_, line) => `vendor/lib.js:${line + 1}: total += price`).join("\n");

/** Plays a scene on the newest Pi and gives what is read in it, with what differs from run to run masked. */
export async function playScene({ when, session: options = {}, play, read = lastAnswer }: Scene): Promise<string> {
	await using session = await openSession({ tools: { grep: () => GREP_RESULT }, ...options });
	await play(session);
	const text = read(session);
	if (!text) throw new Error(`nothing is read in the scene "${when}"`);
	return MASKS.reduce((masked, [pattern, mask]) => masked.replace(pattern, mask), text);
}

/** What differs from run to run and from machine to machine: ids, and the size of Pi's prompt, which names folders. */
const MASKS = [
	[/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, "<id>"],
	[/\b[0-9a-f]{8}\b/g, "<id>"],
	[/(?<=audit: ~)[\d,]+/, "<n>"],
	[/[\d,]+(?= {2}prompt and tools)/, "<n>"],
] as const;
