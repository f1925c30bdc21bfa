import { describe, expect, test } from "vitest";
import { Branch } from "../kernel/branch.ts";
import type { Content, Message, NestedCall, SessionEntry } from "../kernel/messages.ts";
import { type AnyMessage, type SessionLog, sessionLog, shape } from "../testing/index.ts";
import { applyToPreparation, type Preparation } from "./compaction.ts";

/** A session that Pi is about to compact: its live messages, cut before `prefixFrom`. */
function preparing<T>(build: (log: SessionLog) => T, { prefixFrom = Number.POSITIVE_INFINITY } = {}) {
	const log = sessionLog();
	const ids = build(log);
	const branch = new Branch();
	branch.sync({
		getLeafId: () => log.leaf,
		getEntry: (id) => log.entries().find((entry) => entry.id === id) as SessionEntry | undefined,
		getLabel: () => undefined,
	});
	const live = branch.context().map(({ message }) => message);
	const preparation: Preparation = {
		messagesToSummarize: live.slice(0, prefixFrom),
		turnPrefixMessages: live.slice(prefixFrom),
		fileOps: { read: new Set(), written: new Set(), edited: new Set() },
	};
	const apply = (
		edits: { readonly hidden?: readonly string[]; readonly replaced?: Readonly<Record<string, Content>> },
		keptFiles: readonly string[] = [],
	) =>
		applyToPreparation(preparation, {
			view: {
				hidden: new Set(edits.hidden),
				replaced: new Map(Object.entries(edits.replaced ?? {})),
				notes: [],
				tokens: 0,
				agentTokens: 0,
			},
			branch,
			keptFiles: new Set(keptFiles),
		});
	return { ids, live, preparation, apply };
}

const lines = (messages: readonly Message[]) => shape(messages as unknown as AnyMessage[]);
const text = (content: string): Content => [{ type: "text", text: content }];

const build = (log: SessionLog) => {
	log.user("go");
	const a = log.batch([{ id: "a", name: "read", result: "A" }]);
	const b = log.batch([{ id: "b", name: "read", result: "B" }]);
	log.user("on");
	const c = log.batch([{ id: "c", name: "read", result: "C" }]);
	const d = log.batch([{ id: "d", name: "read", result: "D" }]);
	const group = ({ assistant, results }: typeof a) => [assistant, ...results];
	return { a: group(a), b: group(b), c: group(c), d: group(d) };
};

describe("what Pi is about to summarise", () => {
	test("stays as it is, the lists too, where the view changes nothing", () => {
		const { preparation, apply } = preparing(build, { prefixFrom: 5 });
		const { messagesToSummarize, turnPrefixMessages } = preparation;
		apply({});
		expect(preparation.messagesToSummarize).toBe(messagesToSummarize);
		expect(preparation.turnPrefixMessages).toBe(turnPrefixMessages);
	});

	test("has nothing that is hidden and the short form of what is replaced, in both lists", () => {
		const { preparation, apply, ids } = preparing(build, { prefixFrom: 6 });
		apply({ hidden: [...ids.a, ...ids.c], replaced: { [ids.b[1] ?? ""]: text("B'"), [ids.d[1] ?? ""]: "D'" } });
		expect(lines(preparation.messagesToSummarize)).toEqual([
			"user: go",
			"assistant → read#b",
			"result read#b: B'",
			"user: on",
		]);
		expect(lines(preparation.turnPrefixMessages)).toEqual(["assistant → read#d", "result read#d: D'"]);
	});

	test("has the live messages where they are unchanged, and copies where not: the session stays as it is", () => {
		const { preparation, apply, ids, live } = preparing(build);
		const before = structuredClone(live);
		const content = [{ type: "text" as const, text: "B'" }];
		apply({ hidden: ids.a, replaced: { [ids.b[1] ?? ""]: content } });
		expect(preparation.messagesToSummarize.map((message) => live.indexOf(message))).toEqual([0, 3, -1, 5, 6, 7, 8, 9]);
		const copy = preparation.messagesToSummarize[2] as unknown as { content: { text: string }[]; toolName: string };
		copy.toolName = "OTHER";
		(copy.content[0] as { text: string }).text = "OTHER";
		expect(live).toEqual(before);
		expect(content).toEqual([{ type: "text", text: "B'" }]);
	});

	test("is found also where Pi hands out copies", () => {
		const { preparation, apply, ids } = preparing(build);
		preparation.messagesToSummarize = structuredClone(preparation.messagesToSummarize);
		apply({ hidden: ids.a, replaced: { [ids.b[1] ?? ""]: text("B'") } });
		expect(lines(preparation.messagesToSummarize).slice(0, 3)).toEqual([
			"user: go",
			"assistant → read#b",
			"result read#b: B'",
		]);
	});

	test("is told apart where two calls share an id", () => {
		const { preparation, apply, ids } = preparing((log) => {
			log.user("go");
			log.batch([{ id: "same", name: "read", result: "ONE" }]);
			const { assistant, results } = log.batch([{ id: "same", name: "read", result: "TWO" }]);
			return [assistant, ...results];
		});
		apply({ hidden: ids });
		expect(lines(preparation.messagesToSummarize)).toEqual([
			"user: go",
			"assistant → read#same",
			"result read#same: ONE",
		]);
	});
});

describe("the file lists", () => {
	const touching = (id: string, name: string, path: unknown) => ({
		id,
		name,
		args: { path } as Record<string, unknown>,
		result: "ok",
	});
	const files = ({ fileOps: { read, written, edited } }: Preparation) => ({
		read: [...read],
		written: [...written],
		edited: [...edited],
	});
	/** One hidden message with these calls, then one that stays with those, and the lists as Pi makes them of all. */
	function touched(hides: readonly (readonly [string, string])[], stays: readonly (readonly [string, string])[] = []) {
		const session = preparing((log) => {
			log.user("go");
			const hidden = log.batch(hides.map(([name, path], index) => touching(`h${index}`, name, path)));
			if (stays.length > 0) log.batch(stays.map(([name, path], index) => touching(`s${index}`, name, path)));
			return [hidden.assistant, ...hidden.results];
		});
		const { fileOps } = session.preparation;
		const lists: Record<string, Set<string>> = { read: fileOps.read, write: fileOps.written, edit: fileOps.edited };
		for (const [name, path] of [...hides, ...stays]) lists[name]?.add(path);
		return session;
	}

	test.each<
		[string, readonly (readonly [string, string])[], readonly (readonly [string, string])[], readonly string[], object]
	>([
		[
			"lose the files that only hidden calls touched",
			[
				["read", "r.ts"],
				["write", "w.ts"],
				["edit", "e.ts"],
			],
			[],
			[],
			{ read: [], written: [], edited: [] },
		],
		[
			"keep the files that calls that stay touched in the same way",
			[
				["read", "r.ts"],
				["write", "w.ts"],
				["edit", "e.ts"],
			],
			[
				["read", "r.ts"],
				["write", "w.ts"],
				["edit", "e.ts"],
			],
			[],
			{ read: ["r.ts"], written: ["w.ts"], edited: ["e.ts"] },
		],
		[
			"lose a file from the list of what was only done in hidden calls",
			[
				["read", "a.ts"],
				["edit", "a.ts"],
			],
			[["read", "a.ts"]],
			[],
			{ read: ["a.ts"], written: [], edited: [] },
		],
		[
			"keep the files that an earlier compaction named",
			[
				["read", "r.ts"],
				["edit", "e.ts"],
				["read", "gone.ts"],
			],
			[],
			["r.ts", "e.ts"],
			{ read: ["r.ts"], written: [], edited: ["e.ts"] },
		],
		[
			"take no notice of other tools",
			[
				["grep", "a.ts"],
				["read", "a.ts"],
			],
			[["bash", "a.ts"]],
			[],
			{ read: [], written: [], edited: [] },
		],
	])("%s", (_what, hides, stays, keptFiles, expected) => {
		const { preparation, apply, ids } = touched(hides, stays);
		apply({ hidden: ids }, keptFiles);
		expect(files(preparation)).toEqual(expected);
	});

	test("keep everything where only contents are replaced", () => {
		const { preparation, apply, ids } = touched([["read", "r.ts"]]);
		apply({ replaced: { [ids[1] ?? ""]: text("SHORT") } });
		expect(files(preparation)).toEqual({ read: ["r.ts"], written: [], edited: [] });
	});

	test("keep a file that a call in the cut turn touched", () => {
		const { preparation, apply, ids } = preparing(
			(log) => {
				log.user("go");
				const { assistant, results } = log.batch([touching("h", "read", "a.ts")]);
				log.batch([touching("s", "read", "a.ts")]);
				return [assistant, ...results];
			},
			{ prefixFrom: 3 },
		);
		preparation.fileOps.read.add("a.ts");
		apply({ hidden: ids });
		expect([...preparation.fileOps.read]).toEqual(["a.ts"]);
	});

	describe("with calls that a script made", () => {
		function nested(hides: readonly NestedCall[], stays: readonly NestedCall[]) {
			const session = preparing((log) => {
				log.user("go");
				const hidden = log.batch([{ id: "h", name: "script", result: "ok" }]);
				log.batch([{ id: "s", name: "script", result: "ok" }]);
				return [hidden.assistant, ...hidden.results];
			});
			for (const message of session.live) {
				if (message.role !== "toolResult") continue;
				const calls = message.toolCallId === "h" ? hides : stays;
				Object.assign(message, { nestedCalls: { calls } });
			}
			const { read, edited } = session.preparation.fileOps;
			read.add("a.ts");
			edited.add("b.ts");
			return session;
		}
		const [readsA, editsB]: readonly NestedCall[] = [
			{ name: "read", arguments: { path: "a.ts" } },
			{ name: "edit", arguments: { path: "b.ts" } },
		];

		test("lose what only hidden scripts touched", () => {
			const { preparation, apply, ids } = nested([readsA as NestedCall, editsB as NestedCall], [readsA as NestedCall]);
			apply({ hidden: ids });
			expect(files(preparation)).toEqual({ read: ["a.ts"], written: [], edited: [] });
		});

		test.each([undefined, null, "a.ts", {}, { path: 3 }])("take no notice of the arguments %j", (args) => {
			const { preparation, apply, ids } = nested([{ name: "read", arguments: args }], []);
			apply({ hidden: ids });
			expect(files(preparation)).toEqual({ read: ["a.ts"], written: [], edited: ["b.ts"] });
		});
	});
});
