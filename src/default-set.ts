import { cancel } from "../plugins/cancel/index.ts";
import { rewind } from "../plugins/rewind/index.ts";
import { shrink } from "../plugins/shrink/index.ts";
import type { Plugin } from "./kernel/plugin.ts";

/** The default set, in its order: the order in every hook. */
export const DEFAULT_PLUGINS: readonly Plugin[] = [rewind, shrink, cancel] as readonly Plugin[];
