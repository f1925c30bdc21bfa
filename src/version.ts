/** The version of this package, as its package.json says it; what a plugin's passport is checked against. */
export const MULLIGAN_VERSION = "2.0.0";
