import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The last Pi versions of the two older ways in which requests are made; the oldest and the newest are devDependencies. */
const VERSIONS = ["0.86.1", "0.87.1"] as const;

const PI = "@earendil-works/pi-coding-agent";
const installFolder = fileURLToPath(new URL("../.pi-versions/", import.meta.url));

for (const version of VERSIONS) {
	const folder = join(installFolder, version);
	if (isInstalled(folder)) console.log(`Pi ${version} is there.`);
	else install(version, folder);
}

/** npm writes this file last, so an interrupted installation doesn't count. */
function isInstalled(folder: string): boolean {
	return existsSync(join(folder, "node_modules/.package-lock.json"));
}

function install(version: string, folder: string): void {
	console.log(`Installing Pi ${version} …`);
	rmSync(folder, { recursive: true, force: true });
	mkdirSync(folder, { recursive: true });
	writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, dependencies: { [PI]: version } }));
	const args = ["install", "--no-package-lock", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund"];
	const { status, error } = spawnSync("npm", args, { cwd: folder, stdio: "inherit" });
	if (status !== 0) throw error ?? new Error(`npm could not install Pi ${version}: exit code ${status}.`);
}
