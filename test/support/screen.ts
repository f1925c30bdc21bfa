import type { MomentRules } from "../../src/kernel/moments.ts";
import type { Screen } from "../../src/kernel/plugin.ts";

/** A screen that shows nothing. */
export const noScreen: Screen = { widget: () => {}, renderRecord: () => {}, renderMessage: () => {} };

/** Rules under which every op is active at once. */
export const AT_ONCE: MomentRules = { maxMoments: 1000, flushShedTokens: 0, safetyValveTokens: 0 };
