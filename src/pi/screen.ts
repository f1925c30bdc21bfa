import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import { type Component, Text, visibleWidth, wrapTextWithAnsi } from "@earendil-works/pi-tui";
import { textOf } from "../kernel/messages.ts";
import type { ResultLines, Screen, ScreenLine } from "../kernel/plugin.ts";
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

/** Columns that `Text` keeps free on either side. */
const MARGIN = 1;
/** Below this a row's text beside its lead is no reading: it then starts at the margin. */
const LEAST_COLUMNS = 10;

/** Lines with a margin, laid out anew for each width. */
function component(lines: readonly ScreenLine[]): Component {
	let laidOut: { readonly width: number; readonly text: Text } | undefined;
	return {
		render(width) {
			if (laidOut?.width !== width) {
				const columns = width - 2 * MARGIN;
				const text = lines.flatMap((line) => (typeof line === "string" ? [line] : rowLines(line, columns))).join("\n");
				laidOut = { width, text: new Text(text, MARGIN, 0) };
			}
			return laidOut.text.render(width);
		},
		invalidate: () => laidOut?.text.invalidate(),
	};
}

function rowLines({ lead, text }: Exclude<ScreenLine, string>, columns: number): readonly string[] {
	const leadColumns = visibleWidth(lead);
	if (columns - leadColumns < LEAST_COLUMNS) return [`${lead}${text}`];
	const indent = " ".repeat(leadColumns);
	return wrapTextWithAnsi(text, columns - leadColumns).map((part, index) => `${index === 0 ? lead : indent}${part}`);
}
