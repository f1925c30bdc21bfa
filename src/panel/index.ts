import type { ExtensionAPI, ExtensionCommandContext } from "@earendil-works/pi-coding-agent";
import type { Kernel } from "../kernel/kernel.ts";
import type { Plugin } from "../kernel/plugin.ts";
import type { SessionConfig } from "../pi/config.ts";
import { tellHuman } from "../pi/host.ts";
import { lendVoice } from "../pi/reload.ts";
import type { Witness } from "../pi/witness.ts";

/** What the panel needs of the session that runs. */
export interface PanelSession {
	readonly config: SessionConfig;
	/** The session's kernel; while mulligan is disabled one without plugins. */
	readonly kernel: Kernel;
	readonly witness: Witness;
}

/** What the panel knows of this installation, whatever the session. */
export interface Installation {
	readonly loadedFrom: "bundle" | "source";
	readonly piVersion: string;
	/** The default set, in its order. */
	readonly builtIns: readonly Plugin[];
}

export interface PanelOptions {
	readonly installation: Installation;
	/** Undefined until a session has started. */
	readonly session: () => PanelSession | undefined;
	/** Note the context of the command, and bring the session's kernel up to date. */
	readonly enter: (context: ExtensionCommandContext) => void;
	/** The view may have changed: what the screen shows of it is to be shown again. */
	readonly refresh: (context: ExtensionCommandContext) => void;
}

/** Registers `/mulligan`, in the extension's factory: it is there whatever the config says. What it does is loaded when it is used. */
export function registerPanel(pi: ExtensionAPI, options: PanelOptions): void {
	lendVoice(pi);
	pi.registerCommand("mulligan", {
		description: "Mulligan's panel: plugins, settings, what is in force; /mulligan help",
		getArgumentCompletions: async (typed) => {
			const session = options.session();
			if (!session) return null;
			const { complete } = await import("./open.ts");
			return complete(typed, session, options);
		},
		handler: async (args, context) => {
			const session = options.session();
			if (!session) return tellHuman(context, "Mulligan: refused — the session has not started.", "warning");
			options.enter(context);
			const { openPanel } = await import("./open.ts");
			await openPanel(args, { ...options, pi, context, current: session });
		},
	});
}
