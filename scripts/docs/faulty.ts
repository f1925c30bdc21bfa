import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import Type from "typebox";
import { DEFAULT_PLUGINS } from "../../src/default-set.ts";
import { mulliganWith } from "../../src/extension.ts";
import type { Plugin, ToolDeclaration } from "../../src/plugin.ts";

/** The extension with plugins that hold every batch back and fail in every way that is told of. */
export default function faultyMulligan(pi: ExtensionAPI): void {
	mulliganWith([...DEFAULT_PLUGINS, holder, unready, faulty], pi);
}

const holder: Plugin = {
	name: "holder",
	setup: ({ hooks }) => hooks.onMoment.tap("holder", () => false),
};

const unready: Plugin = {
	name: "unready",
	setup: () => fail("no disk"),
};

const tool: ToolDeclaration = { name: "faulty", label: "Faulty", description: "Fails.", parameters: Type.Object({}) };

const faulty: Plugin = {
	name: "faulty",
	tools: [tool],
	setup(api) {
		api.tool(tool, () => fail("no table"));
		api.command("faulty", { description: "Fails.", run: () => fail("no table") });
	},
};

function fail(why: string): never {
	throw new Error(why);
}
