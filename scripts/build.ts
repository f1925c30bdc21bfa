import { execFile } from "node:child_process";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";
import { type BuildOptions, build } from "esbuild";
import { optionTypes } from "./build/option-types.ts";

const usage = `tsx scripts/build.ts [--clean]

Bundles the extension into dist/, which src/index.ts prefers to the sources, and what plugin authors import. Only a package that is being packed has
it: npm's prepack builds, its postpack removes.

  --clean   remove dist/
`;

const run = promisify(execFile);
const root = fileURLToPath(new URL("..", import.meta.url));
const folder = join(root, "dist");

/** Where the code of a dependency is entered, if not by its name. */
const ENTRIES: Readonly<Record<string, string>> = { cosmiconfig: "cosmiconfig/dist/Explorer.js" };

/** Stays what npm installs: it looks for its own files beside itself. */
const NOT_BUNDLED = ["jiti"];

/** What plugin authors import, by the name of its file; their types lie in dist/types. */
const DOORS: Readonly<Record<string, string>> = { plugin: "src/plugin.ts", testing: "src/testing/index.ts" };

/** What Pi supplies to extensions: a copy of our own would have other classes and registries than Pi's. */
const SUPPLIED_BY_PI = ["@earendil-works/*", "typebox", "typebox/*"];

const { values } = parseArgs({ options: { clean: { type: "boolean" }, help: { type: "boolean" } } });
if (values.help) console.log(usage);
else {
	rmSync(folder, { recursive: true, force: true });
	if (!values.clean) await buildAll();
}

/**
 * A file for the extension and one for each dependency, because Pi's loader transforms an ES module with Babel when it
 * first meets it, which costs more than a second of processor time for half a megabyte. A CommonJS file that needs
 * nothing of Pi runs as it is, and one that nothing imports is not even read.
 */
async function buildAll(): Promise<void> {
	const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
	const dependencies = Object.keys(manifest.dependencies).filter((name) => !NOT_BUNDLED.includes(name));
	const fileOf = (name: string) => `./${name}.cjs`;
	const entryOf = (name: string) => ENTRIES[name] ?? name;
	await Promise.all([
		...dependencies.map((name) =>
			bundle({
				// As it is, and not its names anew: those are without the default.
				stdin: { contents: `module.exports = require(${JSON.stringify(entryOf(name))});`, resolveDir: root },
				format: "cjs",
				outfile: join("dist", fileOf(name)),
				mainFields: ["module", "main"],
				banner: { js: `/*! ${name}\n\n${licenseOf(name)}\n*/` },
			}),
		),
		bundle({
			entryPoints: ["src/extension.ts"],
			format: "esm",
			outdir: "dist",
			// What is imported only when it is needed becomes a file of its own, which is then not transformed in vain.
			splitting: true,
			alias: Object.fromEntries(dependencies.map((name) => [entryOf(name), fileOf(name)])),
			external: [...SUPPLIED_BY_PI, ...NOT_BUNDLED, ...dependencies.map(fileOf)],
		}),
		...Object.entries(DOORS).map(([name, entry]) =>
			bundle({ entryPoints: [entry], format: "esm", outfile: `dist/${name}.js`, external: SUPPLIED_BY_PI }),
		),
		declareTypes(),
	]);
}

async function declareTypes(): Promise<void> {
	await run(join(root, "node_modules/.bin/tsc"), ["-p", "scripts/build/types.json"], { cwd: root });
	for (const [path, text] of Object.entries(optionTypes())) writeFileSync(join(folder, "types", path), text);
}

function licenseOf(dependency: string): string {
	const folder = join(root, "node_modules", dependency);
	const file = readdirSync(folder).find((name) => /^licen[cs]e/i.test(name));
	if (!file) throw new Error(`${dependency} ships no licence`);
	return readFileSync(join(folder, file), "utf8").trim();
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
