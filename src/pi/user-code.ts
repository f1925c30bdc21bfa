import * as door from "../plugin.ts";

/** What Pi supplies to its extensions; a user's file gets the same ones, with nothing installed beside it. */
const SUPPLIED_BY_PI = [
	"@earendil-works/pi-coding-agent",
	"@earendil-works/pi-agent-core",
	"@earendil-works/pi-ai",
	"@earendil-works/pi-tui",
	"typebox",
	"typebox/compile",
	"typebox/value",
] as const;

/** The modules that a config or plugin of the user imports, by specifier: ours and Pi's own, the very same instances. */
export async function modulesForUserCode(): Promise<Readonly<Record<string, unknown>>> {
	const supplied = await Promise.allSettled(SUPPLIED_BY_PI.map((name) => import(name)));
	const modules = supplied.flatMap((result, index) =>
		result.status === "fulfilled" ? [[SUPPLIED_BY_PI[index], result.value] as const] : [],
	);
	return { ...Object.fromEntries(modules), "pi-mulligan": door, "pi-mulligan/plugin": door };
}
