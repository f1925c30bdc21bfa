import { parseRecord } from "../../src/plugin.ts";

/** Type of the record that stands where a checkpoint was set; its entry carries the label. */
export const RECORD = "mulligan:checkpoint";

/** How the human sees the record; undefined where it is malformed. */
export function checkpointLines(data: unknown): readonly string[] | undefined {
	const parsed = parseRecord(RECORD, data, () => undefined);
	const { name } = ("body" in parsed ? parsed.body : {}) as { readonly name?: unknown };
	return typeof name === "string" ? [`Mulligan: you set the checkpoint "${name}" here.`] : undefined;
}
