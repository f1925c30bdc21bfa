import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import {
	type Call,
	containsText,
	openSession,
	type PiVersion,
	piVersions,
	sessionLog,
	type TestSession,
} from "../../src/testing/index.ts";
import { ConfigFolders } from "../support/config.ts";
import { atOnce, bulk, call, wire } from "../support/mulligan.ts";

const settings = { mulligan: atOnce, compaction: { enabled: false } };
const tools = { grep: () => bulk("FRESH-RESULT") };
const models = [{ id: "model-a", contextWindow: 4_000_000 }];
const search: Call = { id: "own-1", name: "grep", args: {} };

/** What a session sends that this file's text is resumed in, with and without the extension; and the session with it. */
async function resumed(pi: PiVersion, text: string | Buffer, folders: ConfigFolders) {
	const put = (name: string) => {
		const file = join(folders.agentDir, name);
		writeFileSync(file, text);
		return file;
	};
	const ask = async (session: TestSession) => {
		session.otherwise("on");
		await session.prompt("and now?");
		return wire(session.lastRequest.messages);
	};
	const plain = await openSession({ pi, settings, tools, models, sessionFile: put("plain.jsonl"), extensionPaths: [] });
	const without = await ask(plain);
	await plain.dispose();
	const session = await openSession({ pi, settings, tools, models, sessionFile: put("resumed.jsonl") });
	return { session, without, sent: await ask(session) };
}

/** A shrink and a rewind at the end of whatever there is. */
async function work(session: TestSession): Promise<void> {
	session.script(
		{ calls: [search] },
		{ calls: [call.shrink("own-2", { by_tool_call_id: "own-1" }, "SHORT")] },
		{ calls: [{ ...search, id: "own-3" }] },
		{ calls: [call.rewind("own-4")] },
		"done",
	);
	await session.prompt("work");
	const { messages } = session.lastRequest;
	expect(containsText(messages, "SHORT")).toBe(true);
	expect(containsText(messages, "Rewound: the last tool call group")).toBe(true);
	expect(containsText(messages, "FRESH-RESULT")).toBe(false);
}

const corpus = fileURLToPath(new URL("../../../shared/corpus/", import.meta.url));
const sessions = existsSync(corpus)
	? ["", "edge"].flatMap((folder) =>
			readdirSync(join(corpus, folder))
				.filter((name) => name.endsWith(".jsonl"))
				.map((name) => join(folder, name)),
		)
	: [];

describe.each(piVersions())("with Pi $version", (pi) => {
	describe.runIf(sessions.length > 0)("a session that someone had", () => {
		test.each(sessions)(
			"%s: sends what it sends without the extension, and can be worked in",
			{ timeout: 60_000 },
			async (name) => {
				using folders = new ConfigFolders();
				const { session, without, sent } = await resumed(pi, readFileSync(join(corpus, name)), folders);
				await using _ = session;
				expect(sent).toEqual(without);
				expect(session.errors).toEqual([]);
				await work(session);
				expect(session.errors).toEqual([]);
			},
		);
	});

	const log = sessionLog();
	log.user("go");
	log.batch([{ id: "c1", name: "grep", result: bulk("FIRST") }]);
	log.assistant("done");
	log.user("more");
	log.batch([{ id: "c2", name: "grep", result: bulk("SECOND") }]);
	log.assistant("done again");
	const lines = [log.header, ...log.entries()].map((entry) => JSON.stringify(entry));

	test.each<[string, readonly string[]]>([
		["a torn last line", [...lines, '{"type":"message","id":"zz","par']],
		["two records on a line", [...lines.slice(0, 3), `${lines[3]}${lines[4]}`, ...lines.slice(5)]],
		["an empty line in it", [...lines.slice(0, 3), "", ...lines.slice(3)]],
		["CRLF ends", lines.map((line) => `${line}\r`)],
		["what is no JSON in it", [...lines.slice(0, 3), "<<<<<<< HEAD", ...lines.slice(3)]],
		["a line twice", [...lines, lines.at(-1) as string]],
		["a record of ours that is null", [...lines, record(log.leaf, null)]],
		["a record of ours that is a text", [...lines, record(log.leaf, "hide all")]],
		[
			"a record of ours from the future",
			[...lines, record(log.leaf, { schema: "pi-mulligan", v: 99, id: "x", hideEntryIds: ["*"] })],
		],
		[
			"an entry of a type that nobody knows",
			[
				...lines,
				JSON.stringify({ type: "hologram", id: "h", parentId: log.leaf, timestamp: new Date(0).toISOString() }),
			],
		],
	])("a file with %s sends what it sends without the extension, and can be worked in", async (_what, text) => {
		using folders = new ConfigFolders();
		const { session, without, sent } = await resumed(pi, `${text.join("\n")}\n`, folders);
		await using _ = session;
		expect(sent).toEqual(without);
		await work(session);
		expect(session.errors).toEqual([]);
	});
});

/** A line with a marker that an extension, or a human with an editor, has written wrongly. */
function record(parentId: string | null, data: unknown): string {
	return JSON.stringify({
		type: "custom",
		customType: "mulligan:rewind",
		data,
		id: "odd",
		parentId,
		timestamp: new Date(0).toISOString(),
	});
}
