import { type Answer, refused } from "./answer.ts";
import type { PanelState } from "./state.ts";

/** The command whose report `audit` shows. */
export const AUDIT_COMMAND = "mulligan_audit";

/** Why there is no report: the plugin that makes it does not run. */
export function noAudit({ config, plugins }: PanelState): Answer {
	if (!config.settings.enabled) return refused("mulligan is off. /mulligan on switches it on.");
	const state = plugins.find(({ name }) => name === "audit")?.state ?? "off";
	return refused(`the plugin audit is ${state}. /mulligan audit on switches it on.`);
}
