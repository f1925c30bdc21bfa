import { definePlugin } from "pi-mulligan/plugin";

/** Adds to each failed result what to do next. What is returned is stored. */
export default definePlugin({
	name: "after-failure",
	setup({ hooks }) {
		hooks.onToolResult.tap("after-failure", (result, { toolName, parentToolCallId }) => {
			if (!result.isError || parentToolCallId !== undefined) return result;
			const hint = { type: "text" as const, text: `${toolName} failed. Read its message before you call it again.` };
			return { ...result, content: [...result.content, hint] };
		});
	},
});
