import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import { type Component, Text } from "@earendil-works/pi-tui";
import { textOf } from "../kernel/messages.ts";
import type { ResultLines, Screen } from "../kernel/plugin.ts";
import { parseRecord } from "../kernel/records.ts";

/** Stands for the result that a marker of an earlier version names by its content: nobody looks for it to show the marker. */
const UNRESOLVED = "by content";

/** The human's screen. Where the mode has none, widgets and renderers do nothing. */
export function screenOf(pi: ExtensionAPI, context: () => ExtensionContext): Screen {
	return {
		widget: (name, lines) => context().ui.setWidget(name, lines === undefined ? undefined : [...lines]),
		renderRecord: (type: string, lines: (record: never) => readonly string[] | undefined) =>
			pi.registerEntryRenderer(type, ({ data }) => {
				const parsed = parseRecord(type, data, () => UNRESOLVED);
				const shown = "body" in parsed ? lines(parsed.body as never) : undefined;
				return shown && component(shown);
			}),
		renderMessage: (type, lines) =>
			pi.registerMessageRenderer(type, (message, { expanded }) =>
				component(lines({ content: textOf(message.content), isExpanded: expanded })),
			),
	};
}

/** A tool row's result as a component. */
export function resultComponent(lines: ResultLines, result: unknown, isExpanded: boolean): Component {
	const { content, details } = result as { readonly content: Parameters<typeof textOf>[0]; readonly details: unknown };
	return component(lines({ text: textOf(content), details, isExpanded }));
}

function component(lines: readonly string[]): Component {
	return new Text(lines.join("\n"), 1, 0);
}
