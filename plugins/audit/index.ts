import { definePlugin, quoted } from "../../src/plugin.ts";
import { AuditOptions } from "./options.ts";
import { type AuditParams, auditTool } from "./prompt.ts";
import { auditLines } from "./render.ts";
import { reportOn } from "./report.ts";
import { remarkOn, topOf, typedTop } from "./top.ts";

const COMMANDS = {
	mulligan_audit: "Show what fills the agent's context; a number lists so many of the largest messages",
};

/** `mulligan_audit` and `/mulligan_audit`: what fills the context, and what could go. */
export const audit = definePlugin({
	name: "audit",
	options: AuditOptions,
	tools: [auditTool],
	commands: COMMANDS,
	setup(api) {
		api.tool<AuditParams>(
			auditTool,
			({ toolCallId, params }) => {
				const top = topOf(params.top);
				const question = { top, toolCallId, remark: remarkOn(params.top) };
				api.moments.audit(toolCallId, (activated) => reportOn(api, { ...question, activated }));
				return { text: reportOn(api, question), details: { top } };
			},
			auditLines,
		);
		api.command("mulligan_audit", {
			description: COMMANDS.mulligan_audit,
			run(args) {
				const top = typedTop(args);
				if (top === undefined) return api.notify(`${WRONG_TOP}; got ${quoted(args.trim())}.`, "warning");
				api.notify(reportOn(api, { top }), "answer");
			},
		});
	},
});

const WRONG_TOP =
	"Mulligan: refused — /mulligan_audit takes nothing or a whole number from 1 on, as in /mulligan_audit 20";
