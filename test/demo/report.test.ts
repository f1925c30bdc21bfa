import { describe, expect, it } from "vitest";
import { plainInk, type Report, type Row, render, terminalInk } from "../../scripts/demo/report.ts";
import { script } from "../../scripts/demo/script.ts";

const row = (does: string): Row => ({
	does,
	sent: { messages: 10, tokens: 123_456 },
	without: { messages: 12, tokens: 234_567 },
	cache: { read: 100_000, written: 23_456 },
});

const bill = { requests: 10, tokens: 1_234_560, read: 1_000_000, written: 234_560, weighted: 393_200 };

const report: Report = {
	rows: script.map((step) => row(step.does)),
	mulligan: bill,
	twin: bill,
	outputs: { grepBytes: 40 * 1024, logBytes: 15_000 },
	pi: "1.6.0",
	settings: '{"mulligan":{"rewrites":{"maxMoments":2,"flushShedTokens":0}}}',
	sessionFile: "/tmp/demo/session.jsonl",
	requestsFile: "/tmp/demo/requests.ndjson",
};

const lines = render(report, plainInk).split("\n");

describe("the report", () => {
	it("fits into 100 columns", () => {
		expect(lines.filter((line) => line.length > 100)).toEqual([]);
	});

	it("has a row for each request, numbered, and the totals of all", () => {
		expect(lines.filter((line) => /^ ?\d+ /.test(line))).toHaveLength(script.length);
		expect(lines.find((line) => line.includes("total"))).toMatch(/100 +120 +1,234,560 +2,345,670 +1,000,000 +234,560$/);
	});

	it("ends each row of the table in the same column", () => {
		const start = lines.findIndex((line) => line.startsWith(" #"));
		const table = lines.slice(start, start + script.length + 4);
		expect(new Set(table.map((line) => line.length)).size).toBe(1);
	});

	it("names the Pi version, the session file and the requests", () => {
		expect(lines[0]).toContain("Pi 1.6.0");
		expect(lines).toContain("  /tmp/demo/session.jsonl");
		expect(lines).toContain("  /tmp/demo/requests.ndjson");
	});

	it("has no terminal codes in plain ink, and else the same text", () => {
		const codes = new RegExp(`${String.fromCharCode(27)}\\[\\d+m`, "g");
		expect(lines.join("\n")).not.toMatch(codes);
		expect(render(report, terminalInk)).toMatch(codes);
		expect(render(report, terminalInk).replace(codes, "")).toBe(lines.join("\n"));
	});
});
