import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import type { Kernel } from "../kernel/kernel.ts";
import type { Plugin } from "../kernel/plugin.ts";
import { refusal } from "../kernel/registry.ts";
import { tellHuman } from "./host.ts";
import { registerTool } from "./tools.ts";

/** Registers what the plugins answer for: `enter` is called before each call, `left` once a command is over. */
export function registerKernel(
	pi: ExtensionAPI,
	kernel: Kernel,
	{
		enter,
		left,
	}: { readonly enter: (context: ExtensionContext) => void; readonly left: (context: ExtensionContext) => void },
): void {
	for (const { declaration, run, render } of kernel.tools) {
		const runInContext = (call: Parameters<typeof run>[0], context: ExtensionContext) => {
			enter(context);
			return run(call);
		};
		registerTool(pi, declaration, runInContext, render);
	}
	for (const { name, definition } of kernel.commands)
		pi.registerCommand(name, {
			description: definition.description,
			getArgumentCompletions: (prefix) =>
				definition.complete?.(prefix).map((value) => ({ value, label: value })) ?? null,
			handler: async (args, context) => {
				enter(context);
				await definition.run(args);
				left(context);
			},
		});
}

/** What stands in for every plugin while mulligan is disabled: the declarations, and one refusal. */
export function registerStub(pi: ExtensionAPI, plugins: readonly Plugin[]): void {
	const disabled = refusal({ code: "disabled", reason: "Mulligan is disabled." });
	for (const { tools, commands } of plugins) {
		for (const declaration of tools ?? []) registerTool(pi, declaration, () => disabled);
		for (const [name, description] of Object.entries(commands ?? {}))
			pi.registerCommand(name, {
				description,
				handler: async (_args, context) => tellHuman(context, disabled.text, "warning"),
			});
	}
}
