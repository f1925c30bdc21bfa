import { Random } from "./random.ts";

/** A call of the model. `pick` chooses among what there is when it is made. */
export type FuzzCall =
	| { readonly do: "work"; readonly tool: "grep" | "fail" | "image" | "hostile"; readonly lines: number }
	| { readonly do: "rewind"; readonly granularity: string; readonly checkpoint?: string }
	| { readonly do: "shrink"; readonly pick: number; readonly by: "id" | "name"; readonly isLong?: boolean }
	| { readonly do: "cancel"; readonly pick: number }
	| { readonly do: "audit" }
	| { readonly do: "odd"; readonly tool: string; readonly args: Readonly<Record<string, unknown>> };

export interface FuzzTurn {
	readonly calls: readonly FuzzCall[];
	readonly isThinking?: boolean;
}

/** What happens to a session, in order. */
export type FuzzStep =
	| {
			readonly do: "prompt";
			readonly turns: readonly FuzzTurn[];
			readonly steer?: boolean;
			readonly ends?: "error" | "abort";
	  }
	| { readonly do: "compact" }
	| { readonly do: "tree"; readonly pick: number; readonly summarize: boolean }
	| { readonly do: "fork"; readonly pick: number }
	| { readonly do: "reload" }
	| { readonly do: "reopen"; readonly pick: number; readonly isOff?: boolean }
	| { readonly do: "model" }
	| { readonly do: "checkpoint"; readonly name: string }
	| { readonly do: "command"; readonly text: string }
	| { readonly do: "bash"; readonly hidden: boolean };

export interface FuzzScript {
	readonly seed: number;
	readonly settings: {
		readonly rewrites: {
			readonly maxMoments: number;
			readonly flushShedTokens: number;
			readonly safetyValveTokens: number;
		};
		readonly rewind: {
			readonly maxDepth: number;
			readonly maxRetriesPerPrompt: number;
			readonly protectedRoles: readonly string[];
		};
		readonly persistence: "auto" | "view";
	};
	/** Another extension that adds and drops messages of its own in each request. */
	readonly isMeddled: boolean;
	readonly steps: readonly FuzzStep[];
}

const ODD: readonly Readonly<Record<string, unknown>>[] = [
	{},
	{ target: {} },
	{ target: '{"by_tool_name":"grep"}' },
	{ target: { by_tool_call_id: "nowhere" }, replacement: "x" },
	{ target: { by_tool_name: "grep", occurrence: "first" }, replacement: "" },
	{ note: "not an object", granularity: "last_turn" },
	{ granularity: "everything", note: {} },
	{ markerId: "none" },
	{ top: -1 },
];

const COMMANDS = [
	"/mulligan undo",
	"/mulligan restore",
	"/mulligan",
	"/mulligan trace",
	"/mulligan doctor",
	"/mulligan_audit",
	"/mulligan_checkpoint_revoke here",
];

const OWN = ["mulligan_rewind", "mulligan_shrink", "mulligan_cancel", "mulligan_audit"];

/** The script of a seed. */
export function scriptOf(seed: number): FuzzScript {
	const random = new Random(seed);
	const count = 3 + random.below(9);
	return {
		seed,
		settings: {
			rewrites: {
				maxMoments: random.pick([0, 1, 2, 1000, 1000]),
				flushShedTokens: random.pick([0, 0, 200, 1000]),
				safetyValveTokens: random.pick([400, 16_000]),
			},
			rewind: {
				maxDepth: random.pick([1, 5, 50]),
				maxRetriesPerPrompt: random.pick([1, 5, 50]),
				protectedRoles: random.pick([[], ["first:user"], ["first:user", "latest:user"]]),
			},
			persistence: random.pick(["auto", "auto", "view"]),
		},
		isMeddled: random.chance(0.15),
		steps: [promptOf(random), ...Array.from({ length: count }, () => stepOf(random))],
	};
}

function stepOf(random: Random): FuzzStep {
	const kind = random.weighted<FuzzStep["do"]>([
		[12, "prompt"],
		[1, "compact"],
		[1.5, "tree"],
		[0.7, "fork"],
		[0.8, "reload"],
		[1.5, "reopen"],
		[0.7, "model"],
		[1.2, "checkpoint"],
		[1.5, "command"],
		[0.7, "bash"],
	]);
	switch (kind) {
		case "prompt":
			return promptOf(random);
		case "tree":
			return { do: kind, pick: random.next(), summarize: random.chance(0.4) };
		case "fork":
			return { do: kind, pick: random.next() };
		case "reopen":
			return { do: kind, pick: random.next(), ...(random.chance(0.15) ? { isOff: true } : {}) };
		case "checkpoint":
			return { do: kind, name: random.pick(["here", "there"]) };
		case "command":
			return { do: kind, text: random.pick(COMMANDS) };
		case "bash":
			return { do: kind, hidden: random.chance(0.5) };
		default:
			return { do: kind };
	}
}

function promptOf(random: Random): FuzzStep {
	const turns = Array.from({ length: 1 + random.below(5) }, () => turnOf(random));
	const ends = random.weighted([
		[20, undefined],
		[1, "error" as const],
		[1, "abort" as const],
	]);
	return { do: "prompt", turns, ...(random.chance(0.1) ? { steer: true } : {}), ...(ends ? { ends } : {}) };
}

function turnOf(random: Random): FuzzTurn {
	const calls = Array.from(
		{
			length: random.weighted([
				[6, 1],
				[2, 2],
				[1, 4],
			]),
		},
		() => callOf(random),
	);
	return { calls, ...(random.chance(0.2) ? { isThinking: true } : {}) };
}

function callOf(random: Random): FuzzCall {
	const kind = random.weighted<FuzzCall["do"]>([
		[10, "work"],
		[3, "rewind"],
		[4, "shrink"],
		[1.5, "cancel"],
		[0.5, "audit"],
		[1, "odd"],
	]);
	switch (kind) {
		case "work":
			return {
				do: kind,
				tool: random.weighted([
					[8, "grep" as const],
					[1, "fail"],
					[1, "image"],
					[1, "hostile"],
				]),
				lines: random.pick([1, 20, 200]),
			};
		case "rewind": {
			const granularity = random.weighted([
				[4, "last_tool_call_group"],
				[2, "last_turn"],
				[1, "checkpoint"],
			]);
			return {
				do: kind,
				granularity,
				...(granularity === "checkpoint" ? { checkpoint: random.pick(["here", "there"]) } : {}),
			};
		}
		case "shrink":
			return {
				do: kind,
				pick: random.next(),
				by: random.pick(["id", "id", "name"]),
				...(random.chance(0.1) ? { isLong: true } : {}),
			};
		case "cancel":
			return { do: kind, pick: random.next() };
		case "odd":
			return { do: kind, tool: random.pick(OWN), args: random.pick(ODD) };
		default:
			return { do: "audit" };
	}
}
