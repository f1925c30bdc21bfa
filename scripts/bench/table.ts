import { type Cost, type Figures, isOverTarget, TARGET } from "./figures.ts";

const COLUMNS: readonly (readonly [head: string, width: number, cell: (figures: Figures) => string])[] = [
	["pi", 6, ({ pi }) => pi],
	["messages", 9, ({ messages }) => messages.toLocaleString("en-US")],
	["text", 6, ({ textBytes }) => (textBytes < 1024 ? `${textBytes} B` : `${textBytes / 1024} KB`)],
	["markers", 8, ({ markers }) => String(markers)],
	["clone", 9, ({ cloneMs }) => ms(cloneMs)],
	["view", 8, ({ view }) => ms(view.ms)],
	["", 9, ({ view }) => steady(view)],
	["message", 8, ({ messageEndMs }) => ms(messageEndMs)],
	["turn end", 9, ({ turnEndMs }) => ms(turnEndMs)],
	["all", 7, ({ turn }) => ms(turn.ms)],
	["", 9, ({ turn }) => steady(turn)],
	["│ start", 9, ({ first }) => `│${ms(first.startMs).padStart(8)}`],
	["clone", 9, ({ first }) => ms(first.cloneMs)],
	["view", 8, ({ first }) => ms(first.view.ms)],
	["", 9, ({ first }) => percent(first.view.ratio)],
];

/** First what is measured, then the steady state, then the first request after a resume. */
export function head(): string {
	const names = COLUMNS.map(([name, width]) => name.padStart(width)).join("");
	return `${names}\n${"─".repeat(names.length)}`;
}

export function row(figures: Figures): string {
	return COLUMNS.map(([, width, cell]) => cell(figures).padStart(width)).join("");
}

export function legend(): string {
	return [
		"Medians, in milliseconds; each percentage is the median of our time against Pi's clone in the same turn.",
		"clone      Pi's structuredClone of the message list for a request",
		"view       our handlers of a request: context and context_with_system",
		"message    our handlers of message_end, all of a turn's messages; turn end: of turn_end",
		"all        all our handlers in a turn",
		`!          more than ${TARGET.share * 100} % of the clone and more than ${TARGET.ms} ms`,
		"│          the first request after a resume, and our session_start before it",
		"markers    rewinds and shrinks in turn, spread over the session; half: one rewind that hides half of it",
	].join("\n");
}

function ms(value: number): string {
	return value.toFixed(value < 10 ? 3 : 1);
}

function steady(cost: Cost): string {
	return `${percent(cost.ratio)}${isOverTarget(cost) ? "!" : " "}`;
}

function percent(ratio: number): string {
	return `${(ratio * 100).toFixed(1)} %`;
}
