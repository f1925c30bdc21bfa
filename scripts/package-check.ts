import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { publint } from "publint";
import { formatMessage } from "publint/utils";

const root = fileURLToPath(new URL("..", import.meta.url));

const { dependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
	readonly dependencies: Readonly<Record<string, string>>;
};

/** Dependencies that have no file of their own beside the bundle. */
const NOT_BUNDLED = ["jiti"];

/** What Pi reads of the package, and what a user who looks into it expects. */
const NEEDED = [
	"package.json",
	"README.md",
	"LICENSE",
	"CHANGELOG.md",
	"src/index.ts",
	"dist/extension.js",
	"dist/plugin.js",
	"dist/testing.js",
	"dist/types/src/plugin.d.ts",
	"dist/types/src/testing/index.d.ts",
	"spec/testing.md",
	"schema/config.json",
	...Object.keys(dependencies)
		.filter((name) => !NOT_BUNDLED.includes(name))
		.map((name) => `dist/${name}.cjs`),
];

const UNWANTED = [/\.test\.ts$/, /^src\/testing\//, /^test\//, /^scripts\//];

const folder = mkdtempSync(join(tmpdir(), "mulligan-package-"));
try {
	const faults = await check(pack(folder));
	for (const fault of faults) console.error(`- ${fault}`);
	if (faults.length > 0) process.exitCode = 1;
} finally {
	rmSync(folder, { recursive: true, force: true });
}

interface Packed {
	/** The tarball's file name. */
	readonly filename: string;
	readonly files: readonly { readonly path: string }[];
}

/** Packs as publishing does, with the bundle that npm's prepack builds. */
function pack(destination: string): Packed {
	const args = ["pack", "--json", "--foreground-scripts=false", "--pack-destination", destination];
	const output = execFileSync("npm", args, { cwd: root, encoding: "utf8" });
	const packed: Packed | undefined = Object.values(JSON.parse(output))[0] as Packed | undefined;
	if (!packed) throw new Error(`npm pack named no package:\n${output}`);
	return packed;
}

async function check({ filename, files }: Packed): Promise<readonly string[]> {
	const paths = files.map(({ path }) => path);
	const { buffer } = Uint8Array.from(readFileSync(join(folder, filename)));
	const { messages, pkg } = await publint({ pack: { tarball: buffer }, strict: true });
	return [
		...NEEDED.filter((path) => !paths.includes(path)).map((path) => `${path} is not in the package`),
		...paths
			.filter((path) => path.endsWith(".md"))
			.flatMap((page) =>
				linkedFrom(page)
					.filter((link) => !paths.some((path) => path === link || path.startsWith(`${link}/`)))
					.map((link) => `${page} links to ${link}, which is not in the package`),
			),
		...paths.filter((path) => UNWANTED.some((kind) => kind.test(path))).map((path) => `${path} is in the package`),
		...messages.map((message) => formatMessage(message, pkg) ?? message.code),
	];
}

/** The files and folders of the repository that one of its pages links to. */
function linkedFrom(page: string): readonly string[] {
	const links = readFileSync(join(root, page), "utf8").matchAll(/\]\((?!https:|#)([^)#]+)/g);
	return [...new Set([...links].map(([, path = ""]) => join(dirname(page), path)))];
}
