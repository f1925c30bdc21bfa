import { appendFileSync, readFileSync } from "node:fs";
import { createAssistantMessageEventStream } from "@earendil-works/pi-ai";
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import type { ModelSpec, Reply } from "../../src/testing/scripted-model.ts";
import { createScriptedModel, SCRIPTED_PROVIDER } from "../../src/testing/scripted-model.ts";

/** What the file named by `PI_SCRIPT` holds. */
export interface Script {
	models: readonly ModelSpec[];
	steps: readonly (string | Reply)[];
	/** Where each request goes as a JSON line before it is answered, and its usage as another line after. */
	requestLog: string;
}

/** A Pi extension: the provider `scripted`, whose models answer from a script. */
export default function scriptedProvider(pi: ExtensionAPI): void {
	const file = process.env.PI_SCRIPT;
	if (!file) throw new Error("PI_SCRIPT must name the file of the script.");
	const { models, steps, requestLog }: Script = JSON.parse(readFileSync(file, "utf8"));
	const log = (line: object) => appendFileSync(requestLog, `${JSON.stringify(line)}\n`);
	const model = createScriptedModel({
		createStream: createAssistantMessageEventStream,
		models,
		onRequest: (request) => log({ request }),
		onAnswer: ({ usage }) => log({ usage, number: model.requests.findIndex((request) => request.usage === usage) }),
	});
	model.script(...steps);
	pi.registerProvider(SCRIPTED_PROVIDER, model.provider);
}
