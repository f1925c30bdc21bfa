import { ProjectTrustStore } from "@earendil-works/pi-coding-agent";
import { isInside } from "../config/sources/places.ts";

/**
 * What the human told Pi for good of a project: true where Pi's decision holds for all of `projectRoot` (a real path),
 * false where it shall not trust `cwd`; null where there is no decision, and with a warning where it can't be read.
 * Takes a lock in Pi's agent folder: to be asked only when it matters.
 */
export function savedDecision({
	agentDir,
	cwd,
	projectRoot,
	warn,
}: {
	readonly agentDir: string;
	readonly cwd: string;
	readonly projectRoot: string;
	readonly warn: (text: string) => void;
}): boolean | null {
	try {
		const saved = new ProjectTrustStore(agentDir).getEntry(cwd);
		if (!saved) return null;
		// Trust in a folder of the project is none in what lies above that folder.
		return saved.decision === true && !isInside(projectRoot, saved.path) ? null : saved.decision;
	} catch (error) {
		warn(`Pi's decisions of trust cannot be read (${(error as Error).message}), so none counts.`);
		return null;
	}
}
