import { expect, test } from "vitest";
import { DEFAULT_PLUGINS } from "../../src/default-set.ts";
import { mulliganWith } from "../../src/extension.ts";
import type { Plugin } from "../../src/plugin.ts";
import {
	type Call,
	containsText,
	openSession,
	piVersions,
	type Reply,
	type TestSession,
} from "../../src/testing/index.ts";
import { call } from "../../test/support/mulligan.ts";
import { annotated, BLOAT, DRIFT, HIGH } from "../../test/support/nudges.ts";

const edges = piVersions().filter(({ name }) => name === "oldest" || name === "newest");
const TURNS = 200;
const BANNER = "mulligan:checkpoints";
const limits = { driftThresholdTokens: 300, driftWindowTurns: 3, bloatThresholdBytes: 1500, highWaterFraction: 0.15 };
const mulligan = {
	nudges: limits,
	rewind: { maxDepth: 1000, maxRetriesPerPrompt: 1000 },
	shrink: { maxActive: 1000 },
	rewrites: { maxMoments: 12, flushShedTokens: 600, safetyValveTokens: 2500 },
};
const tools = { dump: ({ bytes }: Record<string, unknown>) => "x".repeat(Number(bytes)) };

/** A model that grows, shrinks, rewinds, asks for what is refused, takes back and stops, by chance but the same each time. */
function restlessModel(seed: number): () => Reply {
	let state = seed;
	let calls = 0;
	const chance = () => {
		state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
		return state / 2_147_483_648;
	};
	const id = () => `c${++calls}`;
	const dump = () => call.tool(id(), "dump", { bytes: Math.floor(chance() * 3000) });
	const latest = { by_tool_name: "dump", occurrence: "last" };
	const kinds: readonly (() => readonly Call[])[] = [
		() => [call.shrink(id(), latest)],
		() => [call.shrink(id(), latest), dump()],
		() => [call.rewind(id())],
		() => [call.rewind(id()), dump()],
		() => [call.rewind(id(), { granularity: "checkpoint", checkpoint: "base" })],
		() => [call.cancel(id(), { target: latest })],
		() => [call.tool(id(), "mulligan_audit")],
		() => [],
		() => [],
		() => [],
		() => [dump(), dump()],
	];
	return () => {
		const draw = Math.floor(chance() * 3 * kinds.length);
		return { text: "so", calls: (kinds[draw] ?? (() => [dump()]))(), usage: {} };
	};
}

interface Turn {
	readonly deltaTokens: number | null;
	readonly hitTokens: number;
	/** The agent has acted on its context in it, or a rewind was refused since the prompt. */
	readonly isExcused: boolean;
}

/** What happened in each turn, by what is stored up to its metric. */
function turnsOf(session: TestSession): readonly Turn[] {
	const turns: Turn[] = [];
	let hasActed = false;
	let isRefused = false;
	let callIds: string[] = [];
	for (const entry of session.branch()) {
		if (entry.type === "message") {
			const { message } = entry;
			if (message.role === "user") isRefused = false;
			if (message.role === "assistant")
				callIds = message.content.flatMap((block) => (block.type === "toolCall" ? [block.id] : []));
			if (message.role !== "toolResult" || message.toolName !== "mulligan_rewind") continue;
			if ((message.details as { refused?: string }).refused !== undefined) isRefused = true;
		}
		if (entry.type !== "custom") continue;
		const data = entry.data as Record<string, unknown>;
		if (/mulligan:(rewind|shrink|cancel)/.test(entry.customType) || data.status === "queued") hasActed = true;
		if (entry.customType !== "mulligan:turn-metric") continue;
		const hits = data.bloatHits as readonly { toolCallId: string; tokens: number }[];
		expect(hits.every(({ toolCallId }) => callIds.includes(toolCallId))).toBe(true);
		turns.push({
			deltaTokens: data.deltaTokens as number | null,
			hitTokens: hits.reduce((sum, { tokens }) => sum + tokens, 0),
			isExcused: hasActed || isRefused,
		});
		hasActed = false;
	}
	return turns;
}

/** What the drift line names in each request that must carry one, by the contract's words. */
function driftDue(turns: readonly Turn[]): ReadonlyMap<number, string> {
	const due = new Map<number, string>();
	const growths: (number | null)[] = [];
	let lastLine = Number.NEGATIVE_INFINITY;
	for (const [index, { deltaTokens, hitTokens, isExcused }] of turns.entries()) {
		growths.push(isExcused && Number(deltaTokens) > 0 ? null : deltaTokens);
		const known = growths.slice(-limits.driftWindowTurns).filter((growth) => growth !== null);
		const mean = known.reduce((sum, growth) => sum + growth, 0) / known.length;
		const isLarge = deltaTokens === null ? hitTokens > 0 : deltaTokens >= 50 && mean >= limits.driftThresholdTokens;
		if (!isLarge || isExcused || index <= lastLine + limits.driftWindowTurns) continue;
		lastLine = index;
		due.set(index + 1, ((deltaTokens ?? hitTokens) / 1000).toFixed(1));
	}
	due.delete(turns.length);
	return due;
}

/** In which requests the view is above the fraction and was not so before. */
function crossings(shares: readonly number[]): readonly number[] {
	return shares.flatMap((share, index) => {
		const isAbove = share >= limits.highWaterFraction;
		return isAbove && (shares[index - 1] ?? 0) < limits.highWaterFraction ? [index] : [];
	});
}

test.each(edges)(
	"over 200 restless turns each line comes just where it is due, once, and leaves no trace, with Pi $version",
	async (pi) => {
		const shares: number[] = [];
		const probe = {
			name: "probe",
			setup: ({ hooks }) => hooks.onView.tap("probe", ({ share }) => void shares.push(share ?? 0)),
		} as Plugin;
		await using session = await openSession({
			pi,
			tools,
			extensionPaths: [],
			extensions: [(api) => mulliganWith([...DEFAULT_PLUGINS, probe], api)],
			settings: { mulligan, compaction: { enabled: false } },
		});
		session.otherwise(restlessModel(7));
		while (session.requests.length < TURNS) {
			await session.prompt("on with it");
			if (!session.ui.widgets.has(BANNER)) await session.prompt("/mulligan_checkpoint base");
		}

		const turns = turnsOf(session);
		expect(turns).toHaveLength(session.requests.length);
		const due = driftDue(turns);
		const lines = session.requests.map(annotated);
		const found = (pattern: RegExp) =>
			lines.flatMap((all, index) =>
				all.flatMap((line) => (pattern.test(line) ? [[index, pattern.exec(line)?.[1]]] : [])),
			);
		expect(found(DRIFT)).toEqual([...due]);
		expect(found(HIGH).map(([index]) => index)).toEqual(crossings(shares));

		// The run is no quiet one: every rule had something to say.
		const excused = turns.filter(({ isExcused }) => isExcused).length;
		expect(due.size).toBeGreaterThan(20);
		expect(excused).toBeGreaterThan(50);
		expect(crossings(shares).length).toBeGreaterThan(1);

		const isTold = (value: unknown) =>
			containsText(value, "Previous turn added") || containsText(value, "Context is at");
		for (const { messages } of session.requests) expect(isTold(messages.slice(0, -1))).toBe(false);
		expect(isTold(session.lines())).toBe(false);
		for (const entry of session.branch()) {
			if (entry.type !== "message" || entry.message.role !== "toolResult") continue;
			const reminders = entry.message.content.filter((block) => block.type === "text" && BLOAT.test(block.text));
			const isLarge = entry.message.toolName === "dump" && bytesOf(entry.message.content) >= limits.bloatThresholdBytes;
			expect(reminders).toHaveLength(isLarge ? 1 : 0);
		}
	},
);

/** Bytes of what the tool itself said. */
function bytesOf(content: readonly { readonly type: string; readonly text?: string }[]): number {
	return content[0]?.text?.length ?? 0;
}
