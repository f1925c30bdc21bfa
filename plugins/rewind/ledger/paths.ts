import { posix } from "node:path";

const WINDOWS_ROOT = /^(?:[a-z]:[\\/]|\\\\)/i;
const HARMLESS_DEVICE = /^\/dev\/(?:null|zero|full|stdin|stdout|stderr|tty|fd\/\d+)$/;
/** No system takes longer ones. */
const MAX_PATH_LENGTH = 4096;
const DEVICE = /^\/dev\/(?!shm\/)/;

/** Whether writing to the path leaves nothing behind, as with /dev/null. */
export function isHarmlessDevice(path: string): boolean {
	return HARMLESS_DEVICE.test(path);
}

/** Whether the path names a device or a socket and not a file. */
export function isDevice(path: string): boolean {
	return DEVICE.test(path);
}

/** The path seen from `dir`, normalised; `~` and absolute paths stand alone, others need a known `dir`. */
export function resolvePath(path: string, dir: string | undefined): string | undefined {
	if (path === "" || path.length + (dir?.length ?? 0) > MAX_PATH_LENGTH) return undefined;
	if (isRooted(path)) return tidy(path);
	return dir === undefined ? undefined : tidy(`${dir}/${path}`);
}

/** How the ledger names a resolved path: relative within `cwd`, else whole, and always on one line. */
export function displayPath(path: string, cwd: string): string {
	const root = tidy(cwd);
	const prefix = root.endsWith("/") ? root : `${root}/`;
	const shown = isSame(path, root)
		? "."
		: isSame(path.slice(0, prefix.length), prefix)
			? path.slice(prefix.length)
			: path;
	return shown.replace(/\p{Cc}/gu, "?");
}

function isRooted(path: string): boolean {
	return path.startsWith("/") || path.startsWith("~") || WINDOWS_ROOT.test(path);
}

function tidy(path: string): string {
	const slashed = WINDOWS_ROOT.test(path) ? path.replaceAll("\\", "/") : path;
	const normal = posix.normalize(slashed);
	return normal.length > 1 ? normal.replace(/\/$/, "") : normal;
}

function isSame(path: string, other: string): boolean {
	return path === other || (WINDOWS_ROOT.test(other) && path.toLowerCase() === other.toLowerCase());
}
