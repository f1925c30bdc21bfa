import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Launch, type LaunchOptions, prepareLaunch, until } from "./launch.ts";

export interface TerminalOptions extends LaunchOptions {
	/** Columns; 120 unless given. */
	width?: number;
	/** Rows; 40 unless given. */
	height?: number;
}

export interface TerminalPi
	extends AsyncDisposable,
		Pick<Launch, "cwd" | "agentDir" | "requests" | "sessionFile" | "lines"> {
	/** What the screen shows, without colours. */
	screen(): string;
	/** Resolves when the screen shows this; rejects with the screen if it doesn't in time. */
	shows(text: string | RegExp): Promise<void>;
	/** Resolves when the screen doesn't show this; rejects with the screen if it still does after a while. */
	hides(text: string): Promise<void>;
	/** Types text as it is, without Enter. */
	type(text: string): void;
	/** Pastes text, for which Pi opens no list of completions that would take the Enter, and presses Enter. */
	enter(text: string): void;
	/** Presses keys by tmux's names: `Enter`, `Escape`, `C-c`, `Up`. */
	press(...keys: string[]): void;
	/** Ends the program and its terminal, and removes the temporary folders. */
	dispose(): Promise<void>;
}

/** Why no terminal can be opened here; undefined where one can. */
export function terminalMissing(): string | undefined {
	return spawnSync("tmux", ["-V"]).status === 0 ? undefined : "tmux is not installed";
}

/** Starts the real `pi` with its user interface, in a terminal of its own tmux server. */
export function openTerminal(options: TerminalOptions): TerminalPi {
	const launch = prepareLaunch(options, []);
	const socket = join(launch.agentDir, "tmux.sock");
	const settings = join(launch.agentDir, "tmux.conf");
	// In force before the program starts: one that ends at once still leaves its screen.
	writeFileSync(settings, "set -g remain-on-exit on\nset -g exit-empty off\n");
	const run = (...args: string[]) => spawnSync("tmux", ["-S", socket, "-f", settings, ...args], { encoding: "utf8" });
	const tmux = (...args: string[]) => {
		const { status, stdout, stderr } = run(...args);
		if (status !== 0) throw new Error(`tmux ${args[0]} failed: ${stderr}`);
		return stdout;
	};
	const env = Object.entries({ ...launch.env, TERM: "screen-256color" }).map(([name, value]) => `${name}=${value}`);
	const size = ["-x", `${options.width ?? 120}`, "-y", `${options.height ?? 40}`];
	// On a busy machine a client can miss the server that it has just started; asked again, it finds it or starts one.
	for (let tries = 1; run("start-server").status !== 0; tries++) {
		if (tries === 5) throw new Error("tmux start-server failed five times");
	}
	tmux("new-session", "-d", ...size, "-c", launch.cwd, "env", "-i", ...env, launch.command, ...launch.args);

	const screen = () => tmux("capture-pane", "-p");
	const type = (text: string) => void tmux("send-keys", "-l", "--", text);
	const press = (...keys: string[]) => void tmux("send-keys", "--", ...keys);
	const dispose = async () => {
		spawnSync("tmux", ["-S", socket, "kill-server"]);
		launch.remove();
	};
	return {
		...launch,
		screen,
		shows: (text) => {
			const found = () => (typeof text === "string" ? screen().includes(text) : text.test(screen()));
			return until(found, launch.timeoutMs, () => `The screen doesn't show ${text}:\n${screen()}`);
		},
		hides: (text) =>
			until(
				() => !screen().includes(text),
				launch.timeoutMs,
				() => `The screen still shows ${text}:\n${screen()}`,
			),
		type,
		enter: (text) => {
			type(`\x1b[200~${text}\x1b[201~`);
			press("Enter");
		},
		press,
		dispose,
		[Symbol.asyncDispose]: dispose,
	};
}
