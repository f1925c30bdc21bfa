import { isAbsolute, relative, sep } from "node:path";
import { plain } from "./layout.ts";

/** The folders that a path is shown by. */
export interface Folders {
	readonly home: string;
	readonly cwd: string;
	readonly agentDir: string;
	/** The folder whose files are the project's; undefined where there is no project. */
	readonly projectRoot: string | undefined;
}

/** A path for the human who sits there: from the working directory, else from the home folder. */
export function shownPath(file: string, { cwd, home }: Pick<Folders, "cwd" | "home">): string {
	return plain(under(cwd, file, ".") ?? under(home, file, "~") ?? file);
}

/** A path for strangers: it names neither the home folder nor the project. */
export function anonymousPath(file: string, { agentDir, cwd, home, projectRoot }: Folders): string {
	return plain(
		under(agentDir, file, "<agent>") ??
			(projectRoot === undefined ? undefined : under(projectRoot, file, "<project>")) ??
			under(cwd, file, "<cwd>") ??
			under(home, file, "~") ??
			file,
	);
}

/** The path with a folder's name put for the folder; undefined where it lies elsewhere. */
function under(folder: string, file: string, name: string): string | undefined {
	if (folder === "" || !isAbsolute(file)) return undefined;
	const way = relative(folder, file);
	if (way === "") return name;
	const isOutside = way === ".." || way.startsWith(`..${sep}`) || isAbsolute(way);
	return isOutside ? undefined : `${name}/${way.replaceAll(sep, "/")}`;
}
