import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { newestPi } from "../../src/testing/index.ts";
import { runPi } from "../support/cli.ts";
import { atOnce } from "../support/mulligan.ts";

interface Body {
	readonly messages: readonly object[];
	readonly thread?: { readonly type: string; readonly previous_message_id?: string };
}

/** A block of a response, as Anthropic's API streams it. */
type Block = { readonly text: string } | { readonly id: string; readonly name: string; readonly input: object };

const script: readonly Block[] = [
	{ id: "toolu_1", name: "bash", input: { command: "seq -s, 1 400" } },
	{ id: "toolu_2", name: "mulligan_shrink", input: { target: { by_tool_name: "bash" }, replacement: "SHORT" } },
	{ text: "done" },
];

function stream(response: ServerResponse, number: number, block: Block): void {
	const send = (type: string, data: object) =>
		response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
	const usage = { input_tokens: 10, output_tokens: 5, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 };
	response.writeHead(200, { "content-type": "text/event-stream" });
	const message = {
		id: `msg_${number}`,
		type: "message",
		role: "assistant",
		model: "m",
		content: [],
		stop_reason: null,
		usage,
	};
	send("message_start", { message });
	if ("text" in block) {
		send("content_block_start", { index: 0, content_block: { type: "text", text: "" } });
		send("content_block_delta", { index: 0, delta: { type: "text_delta", text: block.text } });
	} else {
		const { input, ...tool } = block;
		send("content_block_start", { index: 0, content_block: { type: "tool_use", ...tool, input: {} } });
		send("content_block_delta", { index: 0, delta: { type: "input_json_delta", partial_json: JSON.stringify(input) } });
	}
	send("content_block_stop", { index: 0 });
	send("message_delta", { delta: { stop_reason: "text" in block ? "end_turn" : "tool_use" }, usage });
	send("message_stop", {});
	response.end();
}

test("on the wire a thread that goes on sends only what is new, and a moment starts another with the view", async ({
	onTestFinished,
}) => {
	const bodies: Body[] = [];
	const server = createServer((request, response) => {
		let text = "";
		request.on("data", (chunk) => {
			text += chunk;
		});
		request.on("end", () => {
			bodies.push(JSON.parse(text));
			stream(response, bodies.length, script[bodies.length - 1] ?? { text: "more" });
		});
	});
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	onTestFinished(() => void server.close());
	const agentDir = mkdtempSync(join(tmpdir(), "mulligan-agent-"));
	onTestFinished(() => rmSync(agentDir, { recursive: true, force: true }));
	const model = {
		...{ id: "m", name: "m", reasoning: false, input: ["text"], contextWindow: 200_000, maxTokens: 4096 },
		cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
		compat: { supportsMessageThreads: true },
	};
	const local = {
		baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
		...{ apiKey: "none", api: "anthropic-messages", models: [model] },
	};
	writeFileSync(join(agentDir, "models.json"), JSON.stringify({ providers: { local } }));

	using run = await runPi({
		pi: newestPi(),
		agentDir,
		extensions: [fileURLToPath(new URL("../..", import.meta.url))],
		settings: { mulligan: atOnce },
		args: ["--model", "local/m"],
		prompt: "go",
	});
	expect([run.code, run.stdout]).toEqual([0, "done\n"]);
	expect(bodies.map(({ thread }) => thread?.type)).toEqual(["create", "continue", "create"]);
	expect(bodies[1]?.messages.length).toBeLessThan(2);
	const last = JSON.stringify(bodies[2]?.messages);
	expect(last).toContain("SHORT");
	expect(last).not.toContain("397,398,399,400");
	expect(last).toContain("toolu_1");
});
