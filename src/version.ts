/** The version of this package, as its package.json says it; what a plugin's passport is checked against. */
export const MULLIGAN_VERSION = "2.0.0";

/** Where editors find the published schema; what `$schema` in a config names. */
export const SCHEMA_URL = `https://unpkg.com/pi-mulligan@${MULLIGAN_VERSION.split(".")[0]}/schema/config.json`;
