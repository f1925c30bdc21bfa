import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../plugin.ts";

const NAME = "mulligan.config.ts";
/** Where the file finds the config: another module instance of ours may have put it there. */
const SHELF = Symbol.for("pi-mulligan/testing/configs");

/**
 * Puts a config into Pi's agent folder as a file of code, so that it comes in by the door that a user's own does, plugins
 * as objects included. Returns what takes it away again. Throws where the folder has a config already.
 */
export function putConfig(agentDir: string, config: Config): () => void {
	const file = join(agentDir, NAME);
	const configs = shelf();
	mkdirSync(agentDir, { recursive: true });
	const other = readdirSync(agentDir).find((name) => name.startsWith("mulligan.config."));
	if (other !== undefined) throw new Error(`openSession({ config }): ${agentDir} has a ${other} already.`);
	configs.set(agentDir, config);
	writeFileSync(
		file,
		`export default globalThis[Symbol.for(${JSON.stringify(SHELF.description)})].get(${JSON.stringify(agentDir)});\n`,
	);
	return () => {
		rmSync(file, { force: true });
		configs.delete(agentDir);
	};
}

function shelf(): Map<string, Config> {
	const realm = globalThis as { [SHELF]?: Map<string, Config> };
	realm[SHELF] ??= new Map();
	return realm[SHELF];
}
