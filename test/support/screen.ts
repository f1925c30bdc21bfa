import type { MomentRules } from "../../src/kernel/moments.ts";
import type { Screen, Settings } from "../../src/kernel/plugin.ts";

/** A screen that shows nothing. */
export const noScreen: Screen = { widget: () => {}, renderRecord: () => {}, renderMessage: () => {} };

/** Rules under which every op is active at once. */
export const AT_ONCE: MomentRules = { maxMoments: 1000, flushShedTokens: 0, safetyValveTokens: 0 };

/** A config with the kernel's own sections, in which every op is active at once. */
export const SETTINGS: Settings = { rewrites: AT_ONCE, ui: { activeCheckpointBanner: true }, log: { file: null } };
