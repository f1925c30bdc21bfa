import { describe, expect, test } from "vitest";
import { panelState, settingsWith } from "../../test/support/panel-state.ts";
import type { Op } from "../kernel/moments.ts";
import { type DoctorFacts, doctorLines } from "./doctor.ts";
import type { PanelState } from "./state.ts";

const facts: DoctorFacts = {
	extensions: [],
	request: undefined,
	contextEdits: undefined,
	log: { file: null },
	entries: { message: 12, "mulligan:rewind": 1 },
};
const report = (state: PanelState, more: Partial<DoctorFacts> = {}, width = 400) =>
	doctorLines(state, { ...facts, ...more }, width).join("\n");

test("the report of a session without config", () => {
	expect(report(panelState())).toBe(
		`### /mulligan doctor
**Versions**
- mulligan 2.0.0, loaded from its bundle, on
- Pi 1.6.0, mode tui; requests by context_with_system
- Node 24.0.0, linux x64
**Config, the lowest source first**
- no source: all defaults
**Plugins, in their order**
- checkpoints: on
- rewind: on
- shrink: on
- cancel: on
- nudges: on
- audit: on
**Trust**
- Pi trusts the project: yes
**Other extensions**
- none is known
- Pi shows no extension the handlers of another: an extension that has neither tool nor command, and what a file imports, is not seen
- the next request is watched: ask again after it
- what an extension that is loaded after mulligan does to a request can't be seen on Pi 1.6.0
**Log**
- none
**Session**
- model scripted/model-a; 7 requests since the session started here
- 41 messages in the context, 3 hidden, 1 changed; ~12,345 of ~20,000 tokens are sent, beside a prompt of ~1,900; 7 % of a window of 200,000; calibrated ×1.07
- in force: 0 rewinds, 0 shrinks; 0 queued, ~0 tokens
- moments: 0 of 1 spent; the last: none
- checkpoints: 0
- entries on the branch: message 12, mulligan:rewind 1`,
	);
});

describe("the report tells of", () => {
	test("sources with their state, settings, and warnings with their place", () => {
		const agent = "/home/ann/.pi/agent";
		const text = report(
			panelState({
				config: {
					settings: settingsWith({ rewind: { maxDepth: 8 }, audit: { estimateConfidence: "low" } }),
					origins: new Map([["rewind.maxDepth", `${agent}/settings.json`]]),
					sources: [
						{ file: `${agent}/settings.json`, scope: "user", state: "read" },
						{ file: "/home/ann/work/shop/mulligan.config.ts", scope: "project", state: "unapproved" },
						{ file: "MULLIGAN_LOG", scope: "environment", state: "read" },
					],
					warnings: [{ key: "shrink.maxActive", text: "…", file: `${agent}/settings.json`, line: 3 }],
				},
			}),
		);
		expect(text).toContain(`- user <agent>/settings.json: read
- project <project>/mulligan.config.ts: unapproved
- environment MULLIGAN_LOG: read
- rewind.maxDepth: 8, from <agent>/settings.json
- audit.estimateConfidence: "low"
- warning about shrink.maxActive in <agent>/settings.json:3`);
	});

	test("other extensions, by what is known of them", () => {
		const extensions = [
			{ path: "/home/ann/.pi/agent/extensions/a.ts", knownBy: ["2 tools", "extensions folder"], handles: ["context"] },
			{ path: "/home/ann/x.ts", knownBy: ["-e"], handles: [] },
			{ path: "npm:some-package", knownBy: ["package"], handles: undefined },
		];
		expect(
			report(panelState(), { extensions }),
		).toContain(`- <agent>/extensions/a.ts (2 tools, extensions folder): its file names context
- ~/x.ts (-e): its file names no event that changes requests
- npm:some-package (package): it has no file that can be read`);
	});

	test.each<[DoctorFacts["request"], string]>([
		[
			{ messages: 12, added: 0, missing: 0, changed: 0 },
			"the watched request reached mulligan as the session has it (12 messages)",
		],
		[
			{ messages: 12, added: 1, missing: 2, changed: 3 },
			"the watched request reached mulligan with 1 messages added, 2 missing and 3 changed of 12: others, or Pi itself, change the list",
		],
	])("the watched request: %j", (request, text) => {
		expect(report(panelState(), { request })).toContain(`- ${text}`);
	});

	test.each<[DoctorFacts["log"], string]>([
		[{ file: "/home/ann/.pi/agent/m.jsonl" }, "- <agent>/m.jsonl: writable"],
		[{ file: "/var/log/m.jsonl", problem: "EACCES" }, "- /var/log/m.jsonl: not writable (EACCES)"],
	])("the log: %j", (log, text) => {
		expect(report(panelState(), { log })).toContain(text);
	});

	test("Pi's context edits where it has them", () => {
		expect(report(panelState(), { contextEdits: 2 })).toContain("- 2 context edits of Pi on this branch");
	});
});

test("the report says nothing that somebody wrote, and names neither home nor project", () => {
	const secret = "SECRET";
	const op = { describe: secret } as Op;
	const state = panelState({
		plugins: [{ name: "mine", state: "left out", why: `its set-up failed: ${secret}`, isBuiltIn: false }],
		pending: ["/home/ann/work/shop/mulligan.config.ts"],
		config: {
			settings: settingsWith({
				log: { file: `/home/ann/${secret}.jsonl` },
				nudges: { bloatThresholdBytesByTool: { [secret]: 1 } },
			}),
			origins: new Map([["log.file", "/home/ann/work/shop/.mulliganrc"]]),
			warnings: [{ key: "log.file", text: secret, file: "/home/ann/work/shop/.mulliganrc" }],
			sources: [{ file: "/home/ann/work/shop/.mulliganrc", scope: "project", state: "unreadable", why: secret }],
		},
		run: {
			standing: [{ id: "1", kind: "rewind", what: secret }],
			checkpoints: [{ name: secret, isUsable: true }],
			moments: {
				...panelState().run.moments,
				last: { ops: [op], volumeTokens: 1, trigger: "audit", free: true },
			},
			trace: { number: 1, tokens: 1, plugins: [] },
			labelOf: () => secret,
		},
	});
	const text = report(state);
	expect(text).not.toContain(secret);
	expect(text).not.toMatch(/ann|shop/);
	expect(text).toContain("- mine: left out (its set-up failed)");
	expect(text).toContain("- log.file: not its default, from <project>/.mulliganrc");
});

test.each([40, 80, 120])("no line is longer than %i columns", (width) => {
	expect(
		Math.max(
			...report(panelState(), {}, width)
				.split("\n")
				.map((line) => line.length),
		),
	).toBeLessThanOrEqual(width);
});
