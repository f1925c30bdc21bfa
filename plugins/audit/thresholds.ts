import { blocksOf, type PluginApi, type ViewedEntry } from "../../src/plugin.ts";

/** Bytes (UTF-8) of text from which on a message is marked: those of the bloat reminder. */
interface Thresholds {
	readonly bytes: number;
	readonly bytesByTool: Readonly<Record<string, number>>;
}

/** The thresholds of the nudges plugin; its defaults where it is left out. */
function thresholdsOf(settings: PluginApi["settings"]): Thresholds {
	const { bloatThresholdBytes, bloatThresholdBytesByTool } = (settings.nudges ?? {}) as {
		readonly bloatThresholdBytes?: number;
		readonly bloatThresholdBytesByTool?: Readonly<Record<string, number>>;
	};
	return { bytes: bloatThresholdBytes ?? 16384, bytesByTool: bloatThresholdBytesByTool ?? { read: 24576 } };
}

/** A message of at least its threshold, in bytes. */
interface Mark {
	readonly bytes: number;
	readonly threshold: number;
}

/** The marks on those messages that have at least their threshold. */
export function marksOn(view: readonly ViewedEntry[], settings: PluginApi["settings"]): ReadonlyMap<ViewedEntry, Mark> {
	const thresholds = thresholdsOf(settings);
	const marks = new Map<ViewedEntry, Mark>();
	for (const viewed of view) {
		const mark = markOf(viewed, thresholds);
		if (mark) marks.set(viewed, mark);
	}
	return marks;
}

/** The mark on a message; undefined below its threshold. At the threshold counts, as for the reminder. */
function markOf(viewed: ViewedEntry, { bytes: usual, bytesByTool }: Thresholds): Mark | undefined {
	const { message } = viewed.entry;
	const tool = message.role === "toolResult" && Object.hasOwn(bytesByTool, message.toolName) ? message.toolName : "";
	const threshold = bytesByTool[tool] ?? usual;
	const bytes = bytesOf(viewed);
	return bytes >= threshold ? { bytes, threshold } : undefined;
}

/** Bytes of what a message says: its text, and of a response also its thinking and the arguments of its calls. */
function bytesOf({ entry: { message }, isReplaced, textBytes }: ViewedEntry): number {
	if (message.role !== "assistant" || isReplaced) return textBytes;
	return blocksOf(message.content).reduce((sum, block) => sum + unshownBytes(block), textBytes);
}

function unshownBytes(block: ReturnType<typeof blocksOf>[number]): number {
	if (block.type === "thinking") return Buffer.byteLength(block.thinking ?? "");
	return block.type === "toolCall" ? Buffer.byteLength(JSON.stringify(block.arguments) ?? "") : 0;
}
