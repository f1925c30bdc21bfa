import type { Plugin } from "../../plugin.ts";
import type { Prompt } from "../plugin-session.ts";
import type { Call } from "../scripted-model.ts";
import { onePixel } from "../session-log.ts";
import type { ToolRun } from "../session-tools.ts";

const note = { what_happened: "wrong folder", true_current_state: "nothing has changed", next: "look in src" };

const call = (id: string, name: string, args: Record<string, unknown> = {}): Call => ({ id, name, args });

/** Tools whose results are of every kind: long, short, failed, an image. */
export const tools: Readonly<Record<string, ToolRun>> = {
	grep: () => "src/a.ts: total = 0;\n".repeat(1_000),
	ls: () => "a.ts",
	broken: () => {
		throw new Error("no such file");
	},
	picture: () => [{ type: "text", text: "a pixel" }, onePixel],
};

/** A session with parallel calls, failures, images, thinking, every op, and each of the plugin's own tools called wrongly. */
export function everything({ tools: own = [] }: Plugin<never>): readonly Prompt[] {
	const wrongly = own.flatMap(({ name }) =>
		[{}, { unexpected: null }, { text: 5 }].map((args, at) => call(`${name}-${at}`, name, args)),
	);
	return [
		[
			"find it",
			{ thinking: "where?", calls: [call("a1", "grep"), call("a2", "ls"), call("a3", "broken")] },
			{ text: "and", calls: [call("a4", "picture")] },
			{
				calls: [
					call("a5", "mulligan_shrink", { target: { by_tool_call_id: "a1" }, replacement: "total is in src/a.ts" }),
				],
			},
			"found",
		],
		[
			"now the wrong way",
			{ calls: [call("b1", "grep")] },
			{ thinking: "no", calls: [call("b2", "mulligan_rewind", { granularity: "last_tool_call_group", note })] },
			{ calls: [call("b3", "ls")] },
			"there",
		],
		["take it back", { calls: [call("c1", "mulligan_cancel", { target: { by_tool_call_id: "a1" } })] }, "as it was"],
		["look", { calls: [call("d1", "mulligan_audit")] }, "seen"],
		["more", ...["e1", "e2", "e3", "e4", "e5"].map((id) => ({ calls: [call(id, "grep")] })), "enough"],
		...(wrongly.length > 0 ? [["your tools", { calls: wrongly }, "well"] as const] : []),
		["thanks", "done"],
	];
}
