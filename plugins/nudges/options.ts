import Type, { type Static } from "typebox";

export const NudgesOptions = Type.Object({
	bloatReminder: Type.Boolean({
		default: true,
		title: "Bloat reminder",
		description: "One line under a large tool result: its size, and the tools that take it back.",
	}),
	perTurnDrift: Type.Boolean({
		default: true,
		title: "Drift",
		description: "Record the growth of each turn, and say once when turns grow by much.",
	}),
	bloatThresholdBytes: Type.Number({
		default: 16384,
		exclusiveMinimum: 0,
		title: "Bloat threshold",
		description: "Bytes of text (UTF-8) from which a tool result is large.",
	}),
	bloatThresholdBytesByTool: Type.Record(Type.String(), Type.Number({ exclusiveMinimum: 0 }), {
		default: { read: 24576 },
		propertyNames: { title: "tool name" },
		title: "Bloat threshold by tool",
		description: "The same for single tools, by name. bash is left out: its output is the one to keep short.",
	}),
	driftThresholdTokens: Type.Number({
		default: 4000,
		exclusiveMinimum: 0,
		title: "Drift threshold",
		description: "Mean growth of a turn, in tokens, from which the drift line comes.",
	}),
	driftWindowTurns: Type.Integer({
		default: 3,
		minimum: 1,
		title: "Drift window",
		description: "Turns that the mean is taken over, and for which the drift line rests after it came.",
	}),
	highWaterFraction: Type.Number({
		default: 0.7,
		exclusiveMinimum: 0,
		maximum: 1,
		title: "High water",
		description: "Fraction of the model's window at which one line says how full it is.",
	}),
});
export type NudgesOptions = Static<typeof NudgesOptions>;
