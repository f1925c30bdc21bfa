import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createJiti } from "jiti";
import * as typebox from "typebox";
import { type ConfigOptions, type LoadedConfig, loadConfig } from "../../src/config/load.ts";
import type { Gate } from "../../src/config/trust/gate.ts";
import { DEFAULT_PLUGINS } from "../../src/default-set.ts";
import * as door from "../../src/plugin.ts";

/** A gate that lets everything through, and notes what it was asked for. */
export interface OpenGate extends Gate {
	readonly prepared: string[];
	readonly loaded: string[];
}

export function openGateForAll(): OpenGate {
	const virtualModules = { "pi-mulligan/plugin": door, typebox };
	const options = { moduleCache: false, fsCache: false, tryNative: false, interopDefault: true, virtualModules };
	const jiti = createJiti(import.meta.url, options as Parameters<typeof createJiti>[1]);
	const prepared: string[] = [];
	const loaded: string[] = [];
	return {
		prepared,
		loaded,
		pending: [],
		prepare: async (files) => void prepared.push(...files),
		approve: async () => ({ files: [], isKept: true }),
		load: async (file) => {
			loaded.push(file);
			return jiti.import(file, { default: true });
		},
	};
}

/** A home with Pi's agent folder, and a project in it, in a temporary folder. */
export class ConfigFolders implements Disposable {
	/** A real path, as those that warnings name. */
	readonly root = realpathSync(mkdtempSync(join(tmpdir(), "mulligan-config-")));
	readonly home = join(this.root, "home");
	readonly agentDir = join(this.home, ".pi", "agent");
	readonly project = join(this.home, "project");

	constructor() {
		for (const folder of [this.agentDir, this.project]) mkdirSync(folder, { recursive: true });
	}

	/** Writes a file of the project, or with an absolute path anywhere; objects as JSON. */
	write(path: string, content: string | Uint8Array | object): string {
		const file = path.startsWith("/") ? path : join(this.project, path);
		mkdirSync(dirname(file), { recursive: true });
		const isRaw = typeof content === "string" || content instanceof Uint8Array;
		writeFileSync(file, isRaw ? content : JSON.stringify(content));
		return file;
	}

	/** Loads the config of a session in the project, which Pi trusts; all code may run. */
	load(options: Partial<ConfigOptions> = {}): Promise<LoadedConfig> {
		return loadConfig({
			agentDir: this.agentDir,
			cwd: this.project,
			home: this.home,
			isProjectTrusted: true,
			env: {},
			builtIns: DEFAULT_PLUGINS,
			gate: openGateForAll(),
			...options,
		});
	}

	[Symbol.dispose](): void {
		rmSync(this.root, { recursive: true, force: true });
	}
}

/** The texts of what a config was warned of. */
export function textsOf({ warnings }: LoadedConfig): readonly string[] {
	return warnings.map(({ text }) => text);
}
