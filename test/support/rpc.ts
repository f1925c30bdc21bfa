import { once } from "node:events";
import { spawnPi } from "./cli.ts";
import { type Launch, type LaunchOptions, prepareLaunch, until } from "./launch.ts";

type RpcRecord = { type: string } & Record<string, unknown>;

export interface RpcPi
	extends AsyncDisposable,
		Pick<Launch, "cwd" | "agentDir" | "requests" | "sessionFile" | "lines"> {
	/** Every record but responses, in order. */
	readonly events: readonly RpcRecord[];
	/** Sends a command and resolves with the `data` of its response; rejects if the command failed. */
	send(command: RpcRecord): Promise<unknown>;
	/** Sends a message and waits until the run has settled. Use `send` for a `/command`, which starts no run. */
	prompt(message: string): Promise<void>;
	/** The next event of this type (that `matches`) after the last one waited for. */
	next(type: string, matches?: (event: RpcRecord) => boolean): Promise<RpcRecord>;
	/** What went to standard error. */
	stderr(): string;
	/** Ends the program with SIGKILL, as a crash would, and waits for its end. */
	kill(): Promise<void>;
	/** Closes standard input, which ends the program in good order, and resolves with its exit code. */
	close(): Promise<number | null>;
	/** Ends the program if it still runs, and removes the temporary folders. */
	dispose(): Promise<void>;
}

/** Starts the real `pi` in rpc mode. */
export function openRpc(options: LaunchOptions): RpcPi {
	const launch = prepareLaunch(options, ["--mode", "rpc"]);
	const child = spawnPi(launch);
	const ended = once(child, "close");
	const responses = new Map<string, RpcRecord>();
	const events: RpcRecord[] = [];
	let stderr = "";
	let sent = 0;
	let seen = 0;

	readRecords(child.stdout, (record) => {
		if (record.type === "response") responses.set(String(record.id), record);
		else events.push(record);
	});
	child.stderr.setEncoding("utf8").on("data", (text: string) => {
		stderr += text;
	});

	const running = () => child.exitCode === null && child.signalCode === null;
	const waitFor = async (condition: () => boolean, what: string) => {
		await until(
			() => condition() || !running(),
			launch.timeoutMs,
			() => `Waited too long for ${what}.\n${stderr}`,
		);
		if (!condition()) throw new Error(`Pi ended before ${what}.\n${stderr}`);
	};
	const kill = async () => {
		if (running()) child.kill("SIGKILL");
		await ended;
	};
	const dispose = () => kill().finally(launch.remove);

	const rpc: RpcPi = {
		...launch,
		events,
		send: async (command) => {
			const id = `${++sent}`;
			child.stdin.write(`${JSON.stringify({ ...command, id })}\n`);
			await waitFor(() => responses.has(id), `the response to ${command.type}`);
			const response = responses.get(id);
			if (response?.success !== true) throw new Error(`${command.type} failed: ${response?.error}`);
			return response.data;
		},
		prompt: async (message) => {
			seen = events.length;
			await rpc.send({ type: "prompt", message });
			await rpc.next("agent_settled");
		},
		next: async (type, matches = () => true) => {
			const find = () => events.findIndex((event, index) => index >= seen && event.type === type && matches(event));
			await waitFor(() => find() >= 0, `the event ${type}`);
			const found = find();
			seen = found + 1;
			return events[found] as RpcRecord;
		},
		stderr: () => stderr,
		kill,
		close: async () => {
			child.stdin.end();
			await ended;
			return child.exitCode;
		},
		dispose,
		[Symbol.asyncDispose]: dispose,
	};
	return rpc;
}

function readRecords(stream: NodeJS.ReadableStream, onRecord: (record: RpcRecord) => void): void {
	let rest = "";
	stream.setEncoding("utf8");
	stream.on("data", (text: string) => {
		const lines = (rest + text).split("\n");
		rest = lines.pop() ?? "";
		for (const line of lines.filter(Boolean)) onRecord(JSON.parse(line));
	});
}
