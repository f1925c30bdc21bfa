import type { Kernel } from "../kernel/kernel.ts";

/** The status line: ops that wait, moments left, tokens shed. Undefined while there is nothing to tell. */
export function statusText(kernel: Kernel): string | undefined {
	const { moments, branch } = kernel;
	const waiting = moments.waiting().length;
	const shed = Math.max(0, branch.contextTokens - kernel.durable().tokens);
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
