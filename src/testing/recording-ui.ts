import type { ExtensionUIContext, Theme } from "@earendil-works/pi-coding-agent";

export interface Notification {
	message: string;
	type: "info" | "warning" | "error";
}

/** What extensions showed to the human. */
export interface Shown {
	notifications: Notification[];
	/** Current status texts by key. */
	statuses: Map<string, string>;
	/** Current widgets by key: their lines, or the factory of a component. */
	widgets: Map<string, unknown>;
	title: string | undefined;
	/** Factory of the footer in place, if any. */
	footer: unknown;
	workingMessage: string | undefined;
}

export function nothingShown(): Shown {
	return {
		notifications: [],
		statuses: new Map(),
		widgets: new Map(),
		title: undefined,
		footer: undefined,
		workingMessage: undefined,
	};
}

/** A user interface that writes into `shown`. Dialogs are dismissed unless `overrides` answers them. */
export function recordingUi(shown: Shown, theme: Theme, overrides: Partial<ExtensionUIContext>): ExtensionUIContext {
	const ui: ExtensionUIContext = {
		select: async () => undefined,
		confirm: async () => false,
		input: async () => undefined,
		editor: async () => undefined,
		custom: async () => undefined as never,
		notify: (message, type = "info") => void shown.notifications.push({ message, type }),
		setStatus: (key, text) => put(shown.statuses, key, text),
		setWidget: (key: string, content: unknown) => put(shown.widgets, key, content),
		setTitle: (title) => {
			shown.title = title;
		},
		setFooter: (factory) => {
			shown.footer = factory;
		},
		setWorkingMessage: (message) => {
			shown.workingMessage = message;
		},
		onTerminalInput: () => () => {},
		setWorkingVisible: () => {},
		setWorkingIndicator: () => {},
		setHiddenThinkingLabel: () => {},
		setHeader: () => {},
		pasteToEditor: () => {},
		setEditorText: () => {},
		getEditorText: () => "",
		addAutocompleteProvider: () => {},
		setEditorComponent: () => {},
		getEditorComponent: () => undefined,
		theme,
		getAllThemes: () => [],
		getTheme: () => undefined,
		setTheme: () => ({ success: false, error: "The test has one theme." }),
		getToolsExpanded: () => false,
		setToolsExpanded: () => {},
	};
	return Object.assign(ui, overrides);
}

function put<T>(map: Map<string, T>, key: string, value: T | undefined): void {
	if (value === undefined) map.delete(key);
	else map.set(key, value);
}
