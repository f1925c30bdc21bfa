import type { TObject, TSchema } from "typebox";
import type { LoadedConfig } from "../config/load.ts";
import type { PastMoment } from "../kernel/moments.ts";
import type { RequestTrace } from "../kernel/trace.ts";
import type { Folders } from "./paths.ts";

/** The config of the session, as far as the panel shows it. */
export type ConfigState = Pick<LoadedConfig, "settings" | "warnings" | "sources" | "origins">;

/** The schemas of all knobs. */
export interface Schemas {
	/** Knobs beside the sections, such as `enabled`. */
	readonly top: Readonly<Record<string, TSchema>>;
	readonly sections: Readonly<Record<string, TObject>>;
}

export interface PluginState {
	readonly name: string;
	/**
	 * `on`; `off`: known, and not in the list; `left out`: its set-up failed; `switched off`: it threw too often.
	 */
	readonly state: "on" | "off" | "left out" | "switched off";
	/** Why it is left out or switched off. */
	readonly why?: string;
	/** It comes with mulligan, so that a config may name it so. */
	readonly isBuiltIn: boolean;
}

/** Something that can be taken back. */
export interface StandingOp {
	readonly id: string;
	readonly kind: "queued" | "rewind" | "shrink";
	/** What it is, in words, without its kind. */
	readonly what: string;
}

export interface CheckpointState {
	readonly name: string;
	/** Its place is still in the context. */
	readonly isUsable: boolean;
}

/** Figures of the session; tokens are plain estimates. */
export interface SessionFigures {
	readonly requests: number;
	/** Messages in the context, hidden ones included. */
	readonly messages: number;
	readonly hidden: number;
	readonly changed: number;
	readonly viewTokens: number;
	readonly contextTokens: number;
	readonly promptTokens: number;
	readonly window: number | undefined;
	/** Share of the window. */
	readonly share: number | undefined;
	readonly calibration: number | undefined;
}

/** The kernel of the session, as far as the panel shows it. */
export interface RunState {
	/** Newest first: the order in which the panel lists them, and `undo` counts. */
	readonly standing: readonly StandingOp[];
	readonly moments: {
		readonly spent: number;
		readonly max: number;
		readonly queuedTokens: number;
		readonly flushShedTokens: number;
		readonly safetyValveTokens: number;
		readonly last: PastMoment | undefined;
	};
	readonly checkpoints: readonly CheckpointState[];
	readonly figures: SessionFigures;
	readonly trace: RequestTrace | undefined;
	/** What an entry is, in a few words; its id where it is gone. */
	labelOf(id: string): string;
}

/** Where the session runs. */
export interface HostState extends Folders {
	/** Of mulligan. */
	readonly version: string;
	readonly loadedFrom: "bundle" | "source";
	readonly piVersion: string;
	/** How requests reach us on this Pi, in words. */
	readonly regime: string;
	readonly nodeVersion: string;
	readonly platform: string;
	readonly mode: string;
	readonly isProjectTrusted: boolean;
	/** Provider and id of the model; undefined without one. */
	readonly model: string | undefined;
}

/** What the panel shows: a snapshot of one moment. */
export interface PanelState {
	readonly config: ConfigState;
	readonly schemas: Schemas;
	/** Those of the list in their order, then those that are known and off. */
	readonly plugins: readonly PluginState[];
	/** Names of the default set, in its order. */
	readonly defaults: readonly string[];
	/** Code that waits for the human's approval. */
	readonly pending: readonly string[];
	readonly host: HostState;
	readonly run: RunState;
}
