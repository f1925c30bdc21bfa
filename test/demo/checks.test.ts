import { describe, expect, it } from "vitest";
import { type Evidence, findFaults, findTwinFaults } from "../../scripts/demo/checks.ts";
import type { SentMessage } from "../../scripts/demo/request.ts";
import { callId, type StepId } from "../../scripts/demo/script.ts";
import { healthyRun, healthyTwin, outputOf, resultMessage, userMessage } from "./healthy-run.ts";

type Messages = readonly SentMessage[];

/** A healthy run, of which one request (numbered from 1) carries other messages. */
function withRequest(number: number, change: (messages: Messages) => Messages): Evidence {
	const run = healthyRun();
	const requests = run.requests.map((request, index) =>
		index === number - 1 ? { ...request, messages: change(request.messages) } : request,
	);
	return { ...run, requests };
}

function withResult(id: StepId, text: string): (messages: Messages) => Messages {
	return (messages) =>
		messages.map((message) => (message.toolCallId === callId(id) ? resultMessage(id, text) : message));
}

function withStored(id: StepId, text: string | undefined): Evidence {
	const stored = new Map(healthyRun().stored);
	if (text === undefined) stored.delete(callId(id));
	else stored.set(callId(id), text);
	return { ...healthyRun(), stored };
}

const isNote = (message: SentMessage) => message.role === "user" && message.content !== "prompt";

const sabotages: readonly [what: string, broken: Evidence, fault: RegExp][] = [
	[
		"a request too few",
		{ ...healthyRun(), requests: healthyRun().requests.slice(0, 2) },
		/^2 requests reached the model instead of 10; tools that were never called: mulligan_rewind, .*mulligan_cancel$/,
	],
	[
		"a request too many",
		{ ...healthyRun(), requests: [...healthyRun().requests, { messages: [] }] },
		/^11 requests reached the model instead of 10$/,
	],
	[
		"a needle of the grep after the rewind",
		withRequest(6, (messages) => [...messages, userMessage("… k-0002 …")]),
		/^request 6 \(.*\): hidden text reached the model \(1 of 2 needles: k-0002\); mulligan_rewind had answered: result of rewind$/,
	],
	[
		"a needle of the grep in the system prompt",
		withRequest(10, (messages) => [{ role: "system", content: "k-0001" }, ...messages]),
		/^request 10 \(.*\): hidden text reached the model/,
	],
	[
		"the log in full while it is shrunk",
		withRequest(8, withResult("test", outputOf("test"))),
		/^request 8 \(.*\): hidden text reached the model \(2 of 2 needles: run-01\); mulligan_shrink had answered/,
	],
	[
		"another text in the place of the log",
		withRequest(9, withResult("test", "<context-shrunk>\nshort\n</context-shrunk>")),
		/^request 9 \(.*\): the shrunk log is not the replacement: <context-shrunk>/,
	],
	[
		"no log at all while it is shrunk",
		withRequest(9, (messages) => messages.filter((message) => message.toolCallId !== callId("test"))),
		/^request 9 \(.*\): the shrunk log is not the replacement: it is not there$/,
	],
	[
		"a byte less after the cancel",
		withRequest(10, withResult("test", outputOf("test").slice(0, -1))),
		/^request 10 \(.*\): the cancelled shrink did not bring the log back byte for byte; mulligan_cancel had answered/,
	],
	[
		"a request without the note",
		withRequest(5, (messages) => messages.filter((message) => !isNote(message))),
		/^request 5 \(.*\): the note of the rewind lacks what_happened, true_current_state, next$/,
	],
	[
		"a note of one field less",
		withRequest(3, (messages) =>
			messages.map((message) =>
				isNote(message) ? userMessage(String(message.content).replace(/\n[^\n]*$/, "")) : message,
			),
		),
		/^request 3 \(.*\): the note of the rewind lacks next$/,
	],
	[
		"a call without its result",
		withRequest(5, (messages) => messages.filter((message) => message.toolCallId !== callId("read"))),
		/^request 5 \(.*\): the tool call demo-read and its result are not both there$/,
	],
	[
		"a result without its call",
		withRequest(4, (messages) => [...messages, resultMessage("answer", "orphan")]),
		/^request 4 \(.*\): the tool call demo-answer and its result are not both there$/,
	],
	[
		"a grep that is too short",
		withRequest(2, withResult("wide-grep", "k-0001 k-0002")),
		/^request 2 \(.*\): the output of wide-grep has 13 bytes, less than 30720$/,
	],
	[
		"a grep that Pi cut",
		withRequest(2, withResult("wide-grep", outputOf("wide-grep").replace("k-0001", ""))),
		/^request 2 \(.*\): the output of wide-grep arrived cut: 1 of 2 needles are missing$/,
	],
	[
		"a test log that is too short",
		withRequest(7, withResult("test", "run-01 run-02")),
		/^request 7 \(.*\): the output of test has 13 bytes, less than 12288$/,
	],
	[
		"a tool that failed",
		withRequest(6, (messages) =>
			messages.map((message) => (message.toolCallId === callId("fix") ? { ...message, isError: true } : message)),
		),
		/^request 6 \(.*\): the call demo-fix failed: result of fix$/,
	],
	[
		"an original that is missing in the session file",
		withStored("wide-grep", undefined),
		/^request 2 \(.*\): the session file does not hold the original of what the model got for wide-grep$/,
	],
	[
		"an original that was changed in the session file",
		withStored("test", "<context-shrunk>"),
		/^request 7 \(.*\): the session file does not hold the original of what the model got for test$/,
	],
];

describe("findFaults", () => {
	it("finds none in a run that keeps every promise", () => {
		expect(findFaults(healthyRun())).toEqual([]);
	});

	it.each(sabotages)("names the request for %s", (_, broken, fault) => {
		expect(findFaults(broken)).toContainEqual(expect.stringMatching(fault));
	});

	it("tells a fault that lasts once, with the number of requests that follow", () => {
		const run = healthyRun();
		const requests = run.requests.map((request, index) =>
			index < 2 ? request : { messages: [...request.messages, userMessage("k-0001")] },
		);
		expect(findFaults({ ...run, requests })).toEqual([expect.stringMatching(/^request 3 .* \(and 7 more like it\)$/)]);
	});
});

describe("findTwinFaults", () => {
	it("finds none in a twin that did the same work", () => {
		expect(findTwinFaults(healthyTwin(), healthyRun())).toEqual([]);
	});

	it("lets mulligan add a line below a result", () => {
		const reminded = withStored("test", `${outputOf("test")}\nThat was long.`);
		expect(findTwinFaults(healthyTwin(), reminded)).toEqual([]);
	});

	it("names the step whose result differs", () => {
		const twin = { ...healthyTwin(), stored: withStored("read", "another file").stored };
		expect(findTwinFaults(twin, healthyRun())).toEqual([
			'the twin: "reads the file that rounds" brought another result than in the run with mulligan',
		]);
	});

	it("names the step whose result the twin does not have", () => {
		const twin = { ...healthyTwin(), stored: withStored("fix", undefined).stored };
		expect(findTwinFaults(twin, healthyRun())).toEqual([
			'the twin: "fixes it" brought another result than in the run with mulligan',
		]);
	});

	it("names a twin that sent another number of requests", () => {
		const twin = { ...healthyTwin(), requests: healthyTwin().requests.slice(1) };
		expect(findTwinFaults(twin, healthyRun())).toEqual(["the twin: 6 requests reached the model instead of 7"]);
	});
});
