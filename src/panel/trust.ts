import type { Approved } from "../config/trust/gate.ts";
import { type Answer, answered, refused } from "./answer.ts";
import { counted, plain } from "./layout.ts";
import { shownPath } from "./paths.ts";
import type { HostState, PanelState } from "./state.ts";

/** Why there is nothing to approve; undefined where something waits. */
export function nothingToTrust({ host, pending }: PanelState): Answer | undefined {
	if (pending.length > 0) return undefined;
	if (host.isProjectTrusted) return answered("no code of this project waits for your approval.");
	return refused("Pi does not trust this project, so nothing of it is read. Trust it in Pi first: /trust.");
}

const UNKEPT = " The approval could not be kept: it counts until Pi ends, and then you are asked again.";

/** What is said once files were approved; `applies` tells when they count. */
export function trustedAnswer(
	{ files, isKept }: Approved,
	{ host, applies }: { host: HostState; applies: string },
): Answer {
	if (files.length === 0) return refused("nothing was approved: what waited is no longer there.");
	const names = files.map((file) => plain(shownPath(file, host))).join(", ");
	const now = files.length === 1 ? "as it is now" : "as they are now";
	return answered(`${counted(files.length, "file")} approved ${now}: ${names}. ${applies}${isKept ? "" : UNKEPT}`);
}
