import { type ExtensionAPI, type ExtensionContext, VERSION } from "@earendil-works/pi-coding-agent";
import { DEFAULT_PLUGINS } from "./default-set.ts";
import { highestSeq } from "./kernel/journal.ts";
import { createKernel, type Kernel } from "./kernel/kernel.ts";
import type { Plugin } from "./kernel/plugin.ts";
import { type PanelSession, registerPanel } from "./panel/index.ts";
import { Alignment } from "./pi/align.ts";
import { type Attached, attach, LiveSurroundings, sourceOf } from "./pi/attach.ts";
import { configOf } from "./pi/config.ts";
import { TRUST_FLAG } from "./pi/gate.ts";
import { hostOf } from "./pi/host.ts";
import { learnedIn } from "./pi/learned.ts";
import { restoreNow } from "./pi/native.ts";
import { Refusals } from "./pi/refusal.ts";
import { registerKernel, registerStub } from "./pi/register.ts";
import { showStatus } from "./pi/status.ts";
import { Witness } from "./pi/witness.ts";

const OLDEST = [0, 84] as const;

/** The extension with the default set. */
export default function mulligan(pi: ExtensionAPI): void {
	mulliganWith(DEFAULT_PLUGINS, pi);
}

/** The extension with a set of plugins of one's own: one session start, then config → kernel → events. */
export function mulliganWith(plugins: readonly Plugin[], pi: ExtensionAPI): void {
	if (isTooOld(VERSION)) {
		process.stderr.write(
			`Mulligan needs Pi ${OLDEST.join(".")}.0 or newer; this is ${VERSION}. Nothing is registered.\n`,
		);
		return;
	}
	pi.registerFlag(TRUST_FLAG, { type: "boolean", description: "Let mulligan run the code of this project" });
	let attached: Attached | undefined;
	let panel: PanelSession | undefined;
	const witness = new Witness();
	let context: ExtensionContext;
	let log: (line: string) => void = () => {};
	const enter = (latest: ExtensionContext) => {
		context = latest;
	};
	const surroundings = new LiveSurroundings(pi, () => context);
	attach(pi, { current: () => attached, enter, surroundings, log: (line) => log(line) });
	registerPanel(pi, {
		installation: {
			builtIns: plugins,
			piVersion: VERSION,
			loadedFrom: /\/dist\/[^/]+\.js$/.test(import.meta.url) ? "bundle" : "source",
		},
		session: () => panel,
		enter(latest) {
			enter(latest);
			panel?.kernel.enter(sourceOf(latest), surroundings);
		},
		refresh: (latest) => {
			if (panel) restoreNow(pi, panel.kernel, latest);
			if (attached) showStatus(attached.kernel, latest);
		},
	});
	// What a command began may have replaced the session that it was given in.
	pi.on("session_shutdown", () => {
		attached = undefined;
	});
	pi.on("session_start", async ({ reason }, startContext) => {
		enter(startContext);
		attached = undefined;
		const config = await configOf(pi, plugins, startContext);
		const { settings } = config;
		const host = hostOf({ pi, context: () => context, logFile: settings.log.file });
		log = host.log;
		const kernel = await createKernel({
			plugins: config.plugins,
			settings,
			host,
			rules: settings.rewrites,
			lastSeq: highestSeq(startContext.sessionManager.getEntries()),
			learned: learnedIn(startContext.sessionManager.getSessionId()),
		});
		panel = { config, kernel, witness };
		if (!settings.enabled) return registerStub(pi, plugins);
		const enterKernel = (latest: ExtensionContext) => {
			enter(latest);
			kernel.enter(sourceOf(latest), surroundings);
		};
		registerKernel(pi, kernel, {
			enter: enterKernel,
			left: (latest) => {
				if (attached?.kernel === kernel) showStatus(kernel, latest);
			},
		});
		enterKernel(startContext);
		const refusals = new Refusals(kernel, host.notify);
		const { persistence } = settings;
		attached = { kernel, alignment: new Alignment(), riding: { ops: [] }, witness, refusals, persistence };
		restoreNow(pi, kernel, startContext);
		if (reason !== "reload" && isLate(kernel)) kernel.moments.rideNow("resume");
		await kernel.hooks.onSession.promise({ reason });
		showStatus(kernel, startContext);
	});
}

/** After this pause a provider has let go of its prompt cache. */
const CACHE_MINUTES = 5;

/** Whether the session's newest message is so old that its prompt cache has expired. */
function isLate({ branch }: Kernel): boolean {
	const newest = branch.context().at(-1)?.message.timestamp;
	return newest !== undefined && Date.now() - newest > CACHE_MINUTES * 60_000;
}

function isTooOld(version: string): boolean {
	const [major = 0, minor = 0] = version.split(".").map(Number);
	return major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1]);
}
