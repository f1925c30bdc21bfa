import { definePlugin, Type } from "pi-mulligan/plugin";

const FORGET = {
	name: "forget_last",
	label: "Forget",
	description: "Hide your last tool calls and their results from your context.",
	parameters: Type.Object({}),
};

/**
 * A tool that hides the newest tool calls before its own. It hands in an op, which waits for a moment as a rewind does; what
 * hides the calls is the record that the kernel writes then, so that it holds after a resume.
 */
export default definePlugin({
	name: "forget",
	tools: [FORGET],
	records: ["forget:group"],
	setup({ hooks, journal, moments, session, newId, refuse, tool }) {
		hooks.beforeFilter.tap("forget", (plan) => {
			for (const { groupId } of journal.read<{ groupId: string }>("forget:group")) plan.hide(groupId);
		});
		tool(FORGET, ({ toolCallId }) => {
			const own = session.groupOfCall(toolCallId)?.assistantId;
			const called = session.context().findLast(({ id }) => {
				const group = session.groupOf(id);
				return group?.assistantId === id && id !== own && session.isVisible(id);
			});
			const group = called && session.groupOf(called.id);
			if (!group) return refuse("there are no tool calls to forget.", "no-group");
			const entryIds = [group.assistantId, ...group.resultIds];
			const shedTokens = entryIds.reduce((sum, id) => sum + (session.entry(id)?.tokens ?? 0), 0);
			const op = { id: newId(), describe: "forgetting of the last tool calls", effect: "hide" as const, toolCallId };
			moments.submit(
				{ ...op, type: "forget:group", body: { groupId: group.assistantId }, entryIds, shedTokens },
				({ status }) => (status === "active" ? "Hidden from the next request on." : `Not hidden yet: ${status}.`),
			);
			return { text: "Noted.", details: {} };
		});
	},
});
