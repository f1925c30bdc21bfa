import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { type BuildOptions, build } from "esbuild";

const usage = `tsx scripts/build.ts [--clean]

Bundles the extension into dist/, which src/index.ts prefers to the sources. Only a package that is being packed has
it: npm's prepack builds, its postpack removes.

  --clean   remove dist/
`;

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = join(root, "dist");

/** What Pi supplies to extensions: a copy of our own would have other classes and registries than Pi's. */
const SUPPLIED_BY_PI = ["@earendil-works/*", "typebox", "typebox/*"];

const { values } = parseArgs({ options: { clean: { type: "boolean" }, help: { type: "boolean" } } });
if (values.help) console.log(usage);
else {
	rmSync(folder, { recursive: true, force: true });
	if (!values.clean) await buildAll();
}

/**
 * Two files, because Pi's loader transforms an ES module with Babel when it first meets it, which costs more than a
 * second of processor time for half a megabyte. A CommonJS file that needs nothing of Pi runs as it is.
 */
async function buildAll(): Promise<void> {
	const dependencies = Object.keys(JSON.parse(readFileSync(join(root, "package.json"), "utf8")).dependencies);
	const reexports = dependencies.map((name) => `export * from ${JSON.stringify(name)};`).join("\n");
	const licenses = dependencies.map((name) => `/*! ${name}\n\n${licenseOf(name)}\n*/`).join("\n");
	await Promise.all([
		bundle({
			stdin: { contents: reexports, resolveDir: root },
			format: "cjs",
			outfile: "dist/dependencies.cjs",
			banner: { js: licenses },
		}),
		bundle({
			entryPoints: ["src/extension.ts"],
			format: "esm",
			outfile: "dist/extension.js",
			alias: Object.fromEntries(dependencies.map((name) => [name, "./dependencies.cjs"])),
			external: [...SUPPLIED_BY_PI, "./dependencies.cjs"],
		}),
	]);
}

function licenseOf(dependency: string): string {
	return readFileSync(join(root, "node_modules", dependency, "LICENSE"), "utf8").trim();
}

function bundle(options: BuildOptions) {
	return build({
		absWorkingDir: root,
		bundle: true,
		platform: "node",
		target: "node22",
		logLevel: "warning",
		...options,
	});
}
