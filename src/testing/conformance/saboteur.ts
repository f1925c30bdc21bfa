import type { Plugin, PluginApi } from "../../plugin.ts";

const TAPS = new Set(["tap", "tapAsync", "tapPromise"]);

/** The same plugin, but that each of its taps does its work and then throws, and that it hears nothing of Pi's own events. */
export function sabotaged(plugin: Plugin<never>): Plugin<never> {
	return {
		...plugin,
		setup: (api) => plugin.setup({ ...api, hooks: sabotagedHooks(api.hooks), pi: deaf(api.pi as object) }),
	};
}

function deaf(pi: object): object {
	return new Proxy(pi, { get: (target, key) => (key === "on" ? () => {} : Reflect.get(target, key)) });
}

function sabotagedHooks(hooks: PluginApi["hooks"]): PluginApi["hooks"] {
	const entries = Object.entries(hooks).map(([name, hook]) => [name, sabotagedHook(name, hook)]);
	return Object.fromEntries(entries);
}

function sabotagedHook(name: string, hook: object): object {
	return new Proxy(hook, {
		get(target, key) {
			const member: unknown = Reflect.get(target, key);
			if (typeof member !== "function") return member;
			if (!TAPS.has(String(key))) return member.bind(target);
			return (options: unknown, tap: (...args: unknown[]) => unknown) =>
				member.call(target, options, (...args: unknown[]) => {
					tap(...args);
					throw new Error(`sabotaged ${name}`);
				});
		},
	});
}
