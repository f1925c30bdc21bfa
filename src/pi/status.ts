import type { ExtensionContext } from "@earendil-works/pi-coding-agent";
import type { Kernel } from "../kernel/kernel.ts";

/** Shows the session's status line, or takes it away; without a UI nothing happens. */
export function showStatus(kernel: Kernel, { ui }: ExtensionContext): void {
	ui.setStatus("mulligan", statusText(kernel));
}

/** Ops that wait, moments left, tokens shed. Undefined while there is nothing to tell. */
function statusText(kernel: Kernel): string | undefined {
	const { moments, branch } = kernel;
	const waiting = moments.waiting().length;
	const shed = kernel.calibrated(Math.max(0, branch.contextTokens - kernel.durable().tokens));
	if (waiting === 0 && shed === 0) return undefined;
	const left = Math.max(0, moments.rules.maxMoments - moments.spent);
	return [
		"mulligan",
		...(waiting > 0 ? [`${waiting} queued`] : []),
		`${left} moment${left === 1 ? "" : "s"} left`,
		...(shed > 0 ? [`~${thousands(shed)} tokens shed`] : []),
	].join(" · ");
}

function thousands(tokens: number): string {
	return tokens < 1000 ? String(tokens) : `${(tokens / 1000).toFixed(1)}k`;
}
