import type { PluginApi, ViewedEntry } from "../../src/plugin.ts";

/** Bytes (UTF-8) of text above which a message is marked: those of the bloat reminder. */
export interface Thresholds {
	readonly bytes: number;
	readonly bytesByTool: Readonly<Record<string, number>>;
}

/** The thresholds of the nudges plugin; its defaults where it is left out. */
export function thresholdsOf(settings: PluginApi["settings"]): Thresholds {
	const { bloatThresholdBytes, bloatThresholdBytesByTool } = (settings.nudges ?? {}) as {
		readonly bloatThresholdBytes?: number;
		readonly bloatThresholdBytesByTool?: Readonly<Record<string, number>>;
	};
	return { bytes: bloatThresholdBytes ?? 16384, bytesByTool: bloatThresholdBytesByTool ?? { read: 24576 } };
}

/** The threshold that a message exceeds; undefined where it does not. */
export function exceeded(
	{ entry: { message }, textBytes }: ViewedEntry,
	{ bytes, bytesByTool }: Thresholds,
): number | undefined {
	const tool = message.role === "toolResult" && Object.hasOwn(bytesByTool, message.toolName) ? message.toolName : "";
	const threshold = bytesByTool[tool] ?? bytes;
	return textBytes > threshold ? threshold : undefined;
}
