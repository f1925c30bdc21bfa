import { definePlugin } from "../../src/plugin.ts";
import { type Audit, audit as measure } from "./measure.ts";
import { AuditOptions } from "./options.ts";
import { type AuditParams, auditTool } from "./prompt.ts";
import { reportLines, reportText } from "./report.ts";

const COMMAND = "mulligan_audit";
const DESCRIPTION = "Show what fills the model's context: /mulligan_audit [how many]";
const DEFAULT_TOP = 8;
const MOST = 100;

/** `mulligan_audit` and `/mulligan_audit`: what fills the window. */
export const audit = definePlugin({
	name: "audit",
	options: AuditOptions,
	tools: [auditTool],
	commands: { [COMMAND]: DESCRIPTION },
	setup(api) {
		api.tool<AuditParams>(
			auditTool,
			({ toolCallId, params }) => {
				const top = Math.min(MOST, Math.max(1, params.top ?? DEFAULT_TOP));
				api.moments.audit(toolCallId, (activated) =>
					reportText(
						measure(api, top),
						activated.map(({ describe }) => describe),
					),
				);
				const now = measure(api, top);
				return { text: reportText(now), details: now };
			},
			({ text, details, isExpanded }) => (isAudit(details) ? reportLines(details, isExpanded) : [text]),
		);

		api.command(COMMAND, {
			description: DESCRIPTION,
			run(args) {
				const given = args.trim();
				const top = given === "" ? DEFAULT_TOP : Number(given);
				const isCount = Number.isInteger(top) && top >= 1 && top <= MOST;
				const complaint = `/${COMMAND} takes how many messages to list, 1 to ${MOST}; it got "${given}".`;
				api.notify(isCount ? reportText(measure(api, top)) : complaint, isCount ? "answer" : "warning");
			},
		});
	},
});

function isAudit(details: unknown): details is Audit {
	return typeof details === "object" && details !== null && "largest" in details && "totalTokens" in details;
}
