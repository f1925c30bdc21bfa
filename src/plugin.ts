import type { Static, TSchema } from "typebox";
import type { Checked, Config, PluginEntry } from "./config/config.ts";
import type { Plugin, PluginApi } from "./kernel/plugin.ts";

/** The door for plugin authors: everything that a plugin imports comes from here. */
export { type Static, Type } from "typebox";
export type { Config, PluginEntry } from "./config/config.ts";
export type { ContextEntry, ToolGroup } from "./kernel/branch.ts";
export type { FinishedCall, FreshResult, Hooks } from "./kernel/hooks.ts";
export {
	blocksOf,
	type Message,
	type NestedCall,
	reachesModel,
	shownText,
	textOf,
	toolCallsOf,
} from "./kernel/messages.ts";
export { type Fate, isActivationOf, type Moment, type Op, type OpEvent } from "./kernel/moments.ts";
export { keptForOrder } from "./kernel/order.ts";
export type {
	Plugin,
	PluginApi,
	PluginJournal,
	PluginMoments,
	ScreenLine,
	SessionReader,
	ToolAnswer,
	ToolCall,
	ToolDeclaration,
	ViewedEntry,
} from "./kernel/plugin.ts";
export { quoted } from "./kernel/quote.ts";
export {
	type CancelBody,
	type CheckpointBody,
	isOpOf,
	type JournalRecord,
	type LedgerRecord,
	type QueuedBody,
	type RewindBody,
	type ShrinkBody,
} from "./kernel/records.ts";
export type { Standing } from "./kernel/take-back.ts";
export { OWN_TOOL, problemOf, type ResultEntry, Target } from "./kernel/target.ts";
export { contentChars, contentTokens, IMAGE_TOKENS } from "./kernel/tokens.ts";
export type { PlanDraft, PlannedNote, ViewDraft } from "./kernel/view.ts";
export { defineNudge, type Nudge, type NudgeEvents, type NudgeView, type ViewedCall } from "./nudge.ts";

/** Give a plugin its types: `options` in `setup` is what the schema says. */
export function definePlugin<Schema extends TSchema>(
	plugin: Omit<Plugin<Static<Schema>>, "options" | "setup"> & {
		readonly options?: Schema;
		readonly setup: (api: PluginApi<Static<Schema>>) => void | Promise<void>;
	},
): Plugin<Static<Schema>> {
	return plugin;
}

/**
 * Give a config its types: what a `mulligan.config.ts` exports as its default. Options beside a plugin object are what
 * its schema says.
 */
export function defineConfig<const Plugins extends readonly PluginEntry[]>(
	config: Config & { readonly plugins?: Plugins & Checked<NoInfer<Plugins>> },
): Config {
	return config;
}
