import { existsSync } from "node:fs";
import { join } from "node:path";
import { messageOfError } from "../../kernel/isolate.ts";
import { isProblem, within } from "../read/block.ts";
import { readCode } from "../read/code.ts";
import { readText } from "../read/file.ts";
import { readJson } from "../read/json.ts";
import type { Gate } from "../trust/gate.ts";
import { type Scope, SourceBook } from "./book.ts";
import { AGENT_PLACES, isCodeFile, occupied, PROJECT_PLACES, projectFolders, realFolder } from "./places.ts";
import { type Cosmiconfig, type Findings, searchFolder } from "./search.ts";

export interface SourceOptions {
	readonly agentDir: string;
	readonly cwd: string;
	readonly home: string;
	readonly isProjectTrusted: boolean;
	/** False: no code is run, not even that of a config. */
	readonly runsCode: boolean;
	readonly gate: Gate;
	readonly cosmiconfig: () => Promise<Cosmiconfig>;
}

/**
 * What every file says, the lowest first: Pi's settings and the config of the agent folder, then those of the project
 * where Pi trusts it. Reads only, and never rejects.
 */
export async function readSources(options: SourceOptions): Promise<SourceBook> {
	const { agentDir, cwd, home, isProjectTrusted } = options;
	const book = new SourceBook();
	const agentFolder = realFolder(agentDir);
	const folders = projectFolders(cwd, home).filter((folder) => folder !== agentFolder);
	const ofProject = join(cwd, ".pi", "settings.json");
	readSettings({ file: join(agentDir, "settings.json"), scope: "user" }, book);
	await searchConfig({ folders: [agentDir], places: AGENT_PLACES, scope: "user" }, options, book);
	if (isProjectTrusted) {
		readSettings({ file: ofProject, scope: "project" }, book);
		await searchConfig({ folders, places: PROJECT_PLACES, scope: "project" }, options, book);
	} else {
		const configs = folders.flatMap((folder) => occupied(folder, PROJECT_PLACES).map((place) => join(folder, place)));
		for (const file of [ofProject, ...configs.slice(0, 1)].filter((path) => existsSync(path)))
			book.report({ file, scope: "project", state: "untrusted" });
	}
	return book;
}

/** The `mulligan` block of one of Pi's settings files. */
function readSettings(where: { readonly file: string; readonly scope: Scope }, book: SourceBook): void {
	const read = readText(where.file);
	const json = read === undefined || isProblem(read) ? read : readJson(read.text, "strict");
	const block = json === undefined || isProblem(json) ? undefined : within(json, "mulligan");
	if (json && isProblem(json)) book.leave(where, json, "its mulligan block is");
	else if (block) book.take({ ...where, isCode: false, block });
	else book.report({ ...where, state: "absent" });
}

interface Search {
	/** The nearest first; the first that has a config is the last that is looked into. */
	readonly folders: readonly string[];
	readonly places: readonly string[];
	readonly scope: Scope;
}

async function searchConfig(
	{ folders, places, scope }: Search,
	options: SourceOptions,
	book: SourceBook,
): Promise<void> {
	for (const folder of folders) {
		const findings = await findingsIn(folder, { places, scope }, options, book);
		const isDone = "failure" in findings || enter(findings, scope, book);
		if ("failure" in findings) leaveUnsearched({ folder, places, scope }, findings.failure, book);
		if (isDone) return;
	}
	const root = folders.at(-1);
	if (root !== undefined) book.report({ file: join(root, "mulligan.config.*"), scope, state: "absent" });
}

async function findingsIn(
	folder: string,
	{ places, scope }: Omit<Search, "folders">,
	{ gate, runsCode, cosmiconfig }: SourceOptions,
	book: SourceBook,
): Promise<Findings | { readonly failure: string }> {
	try {
		return await searchFolder(folder, {
			places,
			mustBeOwn: scope === "project",
			cosmiconfig,
			beforeCode: async (file) => {
				if (runsCode && scope === "project")
					await gate.prepare([file]).catch((error) => book.warn({ file, text: messageOfError(error) }));
			},
			loadCode: async (file) =>
				runsCode
					? readCode(file, { gate, saidBy: scope })
					: { problem: "MULLIGAN_DISABLED is set", notRun: "disabled" },
		});
	} catch (error) {
		return { failure: messageOfError(error) };
	}
}

/** Notes what a folder holds; true where that is a config, so that the search ends. */
function enter({ found, passedOver, shadowed }: Findings, scope: Scope, book: SourceBook): boolean {
	for (const { file, why } of passedOver) book.leave({ file, scope }, { problem: why });
	if (!found) return false;
	const { file, read } = found;
	if (isProblem(read)) book.leave({ file, scope }, read);
	else book.take({ file, scope, isCode: isCodeFile(file), block: read });
	for (const other of shadowed) book.report({ file: other, scope, state: "shadowed", why: `${file} counts` });
	if (shadowed.length > 0)
		book.warn({ file, text: `${file} counts, so ${shadowed.join(", ")} is not read; keep one of them.` });
	return true;
}

/** Without cosmiconfig, as in some builds of Pi, what is said outside of Pi's settings is lost. */
function leaveUnsearched(
	{ folder, places, scope }: { readonly folder: string; readonly places: readonly string[]; readonly scope: Scope },
	why: string,
	book: SourceBook,
): void {
	const files = occupied(folder, places).map((place) => join(folder, place));
	for (const file of files) book.report({ file, scope, state: "unreadable", why });
	const lost = files.join(", ");
	book.warn({ text: `cosmiconfig cannot be loaded here (${why}), so ${lost} is not read; Pi's settings still count.` });
}
