import type { CheckpointBody } from "../../src/plugin.ts";

/** Type of the record that stands where a checkpoint was set; its entry carries the label. */
export const RECORD = "mulligan:checkpoint";

/** How the human sees the record. */
export function checkpointLines({ name }: CheckpointBody): readonly string[] {
	return [`Mulligan: you set the checkpoint "${name}" here.`];
}
