import { defaultsOf } from "../../src/config/defaults.ts";
import { KernelSections, type Settings, TopKnobs } from "../../src/config/schema.ts";
import { DEFAULT_PLUGINS } from "../../src/default-set.ts";
import type { ConfigState, HostState, PanelState, RunState, Schemas } from "../../src/panel/state.ts";

const sections = {
	...Object.fromEntries(DEFAULT_PLUGINS.flatMap(({ name, options }) => (options ? [[name, options]] : []))),
	...KernelSections,
} as Schemas["sections"];

/** The schemas of the default set. */
export const schemas: Schemas = { top: TopKnobs, sections };

/** Names of the default set, in its order. */
export const defaults = DEFAULT_PLUGINS.map(({ name }) => name);

/** The default settings, with these sections over them. */
export function settingsWith(over: Record<string, unknown> = {}): Settings {
	const all: Record<string, unknown> = { enabled: true, persistence: "auto" };
	for (const [name, schema] of Object.entries(sections))
		all[name] = { ...defaultsOf(schema), ...(over[name] as object | undefined) };
	return { ...all, ...("enabled" in over ? { enabled: over.enabled } : {}) } as unknown as Settings;
}

/** A state as it is with an absent config, in a project under the home folder; `over` says what is otherwise. */
export function panelState(
	over: Partial<Omit<PanelState, "config" | "host" | "run">> & {
		readonly config?: Partial<ConfigState>;
		readonly host?: Partial<HostState>;
		readonly run?: Partial<RunState>;
	} = {},
): PanelState {
	return {
		schemas,
		defaults,
		plugins: defaults.map((name) => ({ name, state: "on", isBuiltIn: true })),
		pending: [],
		...over,
		config: { settings: settingsWith(), warnings: [], sources: [], origins: new Map(), ...over.config },
		host: {
			home: "/home/ann",
			cwd: "/home/ann/work/shop/src",
			agentDir: "/home/ann/.pi/agent",
			projectRoot: "/home/ann/work/shop",
			version: "2.0.0",
			loadedFrom: "bundle",
			piVersion: "1.6.0",
			regime: "requests by context_with_system",
			nodeVersion: "24.0.0",
			platform: "linux x64",
			mode: "tui",
			isProjectTrusted: true,
			model: "scripted/model-a",
			...over.host,
		},
		run: {
			standing: [],
			moments: {
				spent: 0,
				max: 1,
				queuedTokens: 0,
				flushShedTokens: 4000,
				safetyValveTokens: 16_000,
				last: undefined,
			},
			checkpoints: [],
			figures: {
				requests: 7,
				messages: 41,
				hidden: 3,
				changed: 1,
				viewTokens: 12_345,
				contextTokens: 20_000,
				promptTokens: 1900,
				window: 200_000,
				share: 0.0712,
				calibration: 1.07,
			},
			trace: undefined,
			labelOf: (id) => `entry ${id}`,
			...over.run,
		},
	};
}
