import { definePlugin, Type } from "pi-mulligan/plugin";

/** Keys of well-known services, and private keys. */
const KNOWN = [
	"\\bsk-[A-Za-z0-9_-]{20,}",
	"\\bAKIA[0-9A-Z]{16}\\b",
	"\\bgh[pousr]_[A-Za-z0-9]{36,}",
	"\\bxox[abpr]-[A-Za-z0-9-]{10,}",
	"-----BEGIN [A-Z ]*PRIVATE KEY-----[^]*?-----END [A-Z ]*PRIVATE KEY-----",
];

/**
 * Takes secrets out of each tool result before it is stored: they reach neither the model nor the session file. A result
 * that a script gets of another tool is left alone, since the script may work with it; what the script returns is not.
 */
export default definePlugin({
	name: "redact-secrets",
	mulligan: "^2",
	options: Type.Object({
		/** More of them, as regular expressions. One that is none keeps the plugin out, with a warning that names it. */
		patterns: Type.Array(Type.String({ minLength: 1 }), { default: [] }),
	}),
	setup({ hooks, options }) {
		const secrets = [...KNOWN, ...options.patterns].map((pattern) => new RegExp(pattern, "g"));
		const redact = (text: string) => secrets.reduce((rest, secret) => rest.replace(secret, "[redacted]"), text);
		hooks.onToolResult.tap("redact-secrets", (result, call) => {
			if (call.parentToolCallId !== undefined) return result;
			const [content, details] = [redacted(result.content, redact), redacted(result.details, redact)];
			return content === result.content && details === result.details ? result : { ...result, content, details };
		});
	},
});

/** The same value with every text in it redacted; the very same where there is nothing to redact. */
function redacted<T>(value: T, redact: (text: string) => string): T {
	if (typeof value === "string") return redact(value) as T;
	if (typeof value !== "object" || value === null) return value;
	const entries = Object.entries(value).map(([key, inner]) => [key, redacted(inner, redact)] as const);
	if (entries.every(([key, inner]) => inner === (value as Record<string, unknown>)[key])) return value;
	return (Array.isArray(value) ? entries.map(([, inner]) => inner) : Object.fromEntries(entries)) as T;
}
