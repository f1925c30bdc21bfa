import { audit } from "../plugins/audit/index.ts";
import { cancel } from "../plugins/cancel/index.ts";
import { checkpoints } from "../plugins/checkpoints/index.ts";
import { nudges } from "../plugins/nudges/index.ts";
import { rewind } from "../plugins/rewind/index.ts";
import { shrink } from "../plugins/shrink/index.ts";
import type { Plugin } from "./kernel/plugin.ts";

/** The default set, in its order: the order in every hook. */
export const DEFAULT_PLUGINS: readonly Plugin[] = [
	checkpoints,
	rewind,
	shrink,
	cancel,
	nudges,
	audit,
] as readonly Plugin[];
