import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

/** An extension that says that it touches what the model is sent, and touches nothing. */
export default function meddler(pi: ExtensionAPI): void {
	pi.registerCommand("meddle", { description: "Nothing", handler: async () => {} });
	pi.on("context", () => undefined);
	pi.on("session_before_compact", () => undefined);
}
