import type { Host } from "./host.ts";
import { type Isolation, messageOfError, type Owner } from "./isolate.ts";
import type { Moments } from "./moments.ts";
import type { CommandDefinition, PluginApi, ResultLines, ToolAnswer, ToolCall, ToolDeclaration } from "./plugin.ts";

export interface RegisteredTool {
	readonly declaration: ToolDeclaration;
	readonly render?: ResultLines | undefined;
	/** Never throws; answers a refusal instead. */
	run(call: ToolCall<never>): Promise<ToolAnswer>;
}

export interface RegisteredCommand {
	readonly name: string;
	readonly definition: CommandDefinition;
}

type Owned<Item> = Item & { readonly who: Owner };
type Run<Params> = (call: ToolCall<Params>) => ToolAnswer | Promise<ToolAnswer>;

/** The tools and commands of all plugins, by name: the first to take a name has it. */
export class Registry {
	readonly #host: Host;
	readonly #isolation: Isolation;
	readonly #moments: Moments;
	readonly #tools = new Map<string, Owned<RegisteredTool>>();
	readonly #commands = new Map<string, Owned<RegisteredCommand>>();

	constructor({ host, isolation, moments }: { host: Host; isolation: Isolation; moments: Moments }) {
		this.#host = host;
		this.#isolation = isolation;
		this.#moments = moments;
	}

	/** The tools of plugins that stand. */
	get tools(): readonly RegisteredTool[] {
		return [...this.#tools.values()].filter(stands);
	}

	/** The commands of plugins that stand. */
	get commands(): readonly RegisteredCommand[] {
		return [...this.#commands.values()].filter(stands);
	}

	/** What one plugin answers with. A name that another has taken is an error. */
	of(who: Owner): Pick<PluginApi, "tool" | "command"> {
		return {
			tool: (declaration, run, render) => {
				const { name } = declaration;
				refuseTaken(`the tool ${name}`, this.#tools.get(name));
				this.#tools.set(name, { who, declaration, render, run: this.#safely(who, name, run) });
			},
			command: (name, definition) => {
				refuseTaken(`the command /${name}`, this.#commands.get(name));
				const run = (args: string) => this.#runCommand(who, name, () => definition.run(args));
				this.#commands.set(name, { who, name, definition: { ...definition, run } });
			},
		};
	}

	/** A tool that always answers: a fault of the plugin is a refusal, and changes nothing. */
	#safely<Params>(who: Owner, name: string, run: Run<Params>): RegisteredTool["run"] {
		return async (call) => {
			this.#moments.noteRun(call.toolCallId);
			if (who.off !== undefined)
				return refusal({ code: "off", reason: `the plugin "${who.name}" is switched off: ${who.off}.` });
			return this.#isolation.run<ToolAnswer>(who, name, () => run(call as ToolCall<Params>), {
				complaint: (answer) => (typeof answer?.text === "string" ? undefined : "answered without a text"),
				otherwise: (error) =>
					refusal({
						code: "failed",
						reason: `the plugin "${who.name}" failed (${messageOfError(error)}); nothing was changed. Go on without it.`,
					}),
			});
		};
	}

	async #runCommand(who: Owner, name: string, run: () => void | Promise<void>): Promise<void> {
		await this.#isolation.run<void>(who, `/${name}`, run, {
			otherwise: (error) => this.#host.notify(`Mulligan: /${name} failed: ${messageOfError(error)}`, "warning"),
		});
	}
}

/** A refusal as an answer; `code` names its reason. */
export function refusal({ reason, code }: { readonly reason: string; readonly code: string }): ToolAnswer {
	return { text: `Mulligan: refused — ${reason}`, details: { refused: code } };
}

function stands({ who }: { readonly who: Owner }): boolean {
	return who.off === undefined;
}

function refuseTaken(what: string, taken: { readonly who: Owner } | undefined): void {
	if (taken) throw new Error(`${what} belongs to the plugin "${taken.who.name}"`);
}
