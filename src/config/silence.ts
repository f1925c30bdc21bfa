import { join } from "node:path";
import { isProblem, isRecord } from "./read/block.ts";
import { readText } from "./read/file.ts";
import type { SourceReport } from "./sources/book.ts";
import { AGENT_PLACES, occupied, PROJECT_PLACES, projectFolders } from "./sources/places.ts";

/**
 * Where config was looked for, if no source says anything: then all is as by default. Undefined where one may speak, or
 * is not in order. A look only, at little cost: most people configure nothing.
 */
export function silentSources({
	agentDir,
	cwd,
	home,
	isProjectTrusted,
	env,
}: {
	readonly agentDir: string;
	readonly cwd: string;
	readonly home: string;
	readonly isProjectTrusted: boolean;
	readonly env: Readonly<Record<string, string | undefined>>;
}): readonly SourceReport[] | undefined {
	if (env.MULLIGAN_DISABLED || env.MULLIGAN_LOG) return undefined;
	const settings = { user: join(agentDir, "settings.json"), project: join(cwd, ".pi", "settings.json") };
	if (!(isSilent(settings.user) && isSilent(settings.project))) return undefined;
	const folders = projectFolders(cwd, home);
	const isEmpty = (folder: string) => occupied(folder, PROJECT_PLACES).length === 0;
	if (occupied(agentDir, AGENT_PLACES).length > 0 || !folders.every(isEmpty)) return undefined;
	const absent = (scope: "user" | "project", files: readonly string[]): readonly SourceReport[] =>
		files.map((file) => ({ file, scope, state: "absent" }));
	return [
		...absent("user", [settings.user, join(agentDir, "mulligan.config.*")]),
		...absent(
			"project",
			isProjectTrusted
				? [settings.project, ...folders.slice(-1).map((folder) => join(folder, "mulligan.config.*"))]
				: [],
		),
	];
}

/** Whether a settings file is absent, or in order and does not speak of mulligan. */
function isSilent(file: string): boolean {
	const read = readText(file);
	if (read === undefined) return true;
	if (isProblem(read)) return false;
	try {
		const settings: unknown = JSON.parse(read.text);
		return !(isRecord(settings) && Object.hasOwn(settings, "mulligan"));
	} catch {
		return false;
	}
}
