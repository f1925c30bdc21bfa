import { readdirSync, readFileSync, rmSync } from "node:fs";
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
 * A file for the extension and one for each dependency, because Pi's loader transforms an ES module with Babel when it
 * first meets it, which costs more than a second of processor time for half a megabyte. A CommonJS file that needs
 * nothing of Pi runs as it is.
 */
async function buildAll(): Promise<void> {
	const dependencies = Object.keys(JSON.parse(readFileSync(join(root, "package.json"), "utf8")).dependencies);
	const fileOf = (name: string) => `./${name}.cjs`;
	await Promise.all([
		...dependencies.map((name) =>
			bundle({
				stdin: { contents: `export * from ${JSON.stringify(name)};`, resolveDir: root },
				format: "cjs",
				outfile: join("dist", fileOf(name)),
				mainFields: ["module", "main"],
				banner: { js: `/*! ${name}\n\n${licenseOf(name)}\n*/` },
			}),
		),
		bundle({
			entryPoints: ["src/extension.ts"],
			format: "esm",
			outfile: "dist/extension.js",
			alias: Object.fromEntries(dependencies.map((name) => [name, fileOf(name)])),
			external: [...SUPPLIED_BY_PI, ...dependencies.map(fileOf)],
		}),
	]);
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
