import { call, goOn, type Move, move, type Prompt, type Scenario } from "./scenario.ts";

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

/** What every task starts with: five turns, about 5,000 tokens. */
const opening: readonly Prompt[] = [
	{
		text: "Invoice totals are sometimes one cent short. Have a look at how this project computes them.",
		moves: [
			move.bash("list", "git ls-files | head -80", 2_800),
			move.read("readme", "README.md", 5_000),
			move.read("invoice", "src/billing/invoice.ts", 7_000),
			move.bash("log", "git log --oneline -20", 1_200),
		],
		answer: "Totals are summed in src/billing/invoice.ts, from amounts in cents; rounding happens elsewhere.",
	},
];

/** Three turns that do the task's real work. */
const fix = (id: string): readonly Move[] => [
	move.read(`${id}-round`, "src/money/round.ts", 1_500),
	move.edit(`${id}-fix`, "src/money/round.ts"),
	move.bash(`${id}-test`, "npm test -- money", 1_800),
];

const bloatedGrep: Scenario = {
	name: "bloated grep, rewound at once",
	prompts: [
		...opening,
		{
			text: "Find out what cuts the cent off, and fix it.",
			moves: [
				move.bash("wide-grep", "grep -rn total .", 40_000),
				move.rewind(
					"rewind",
					{ granularity: "last_tool_call_group" },
					{
						what_happened: "A grep for total over the whole repository matched nearly every file.",
						true_current_state: "Nothing is changed. Rounding is not in src/billing.",
						next: "Grep for roundCents in src/money alone.",
					},
				),
				move.bash("narrow-grep", "grep -rn roundCents src/money", 1_200),
				...fix("grep"),
			],
			answer: "roundCents cut the fraction off. It rounds now, and the tests pass.",
		},
	],
};

const testLog = move.bash("test-log", "npm test", 28_000);
const shrinkOfLog = move.shrink(
	["test-log"],
	"npm test: 412 of 412 tests pass in 38 suites, none skipped, 41 s. Slowest: src/reports/aging.test.ts with 6 s.",
);

const longLog: Scenario = {
	name: "long test log, shrunk at once",
	prompts: [
		...opening,
		{
			text: "Make it round instead of cutting, and run all tests.",
			moves: [...fix("log"), testLog, shrinkOfLog, move.edit("log-changelog", "CHANGELOG.md")],
			answer: "It rounds now. All 412 tests pass.",
		},
	],
};

/** Ten turns stand between the log and its shrink: they are written to the cache once more. */
const lateShrink: Scenario = {
	name: "long test log, shrunk 10 turns later",
	prompts: [
		...opening,
		{
			text: "Make it round instead of cutting, run all tests, then do the same in the modules of orders.",
			moves: [
				...fix("log"),
				testLog,
				...upTo(5).flatMap((index) => [
					move.read(`late-read-${index}`, `src/orders/module-${index}.ts`, 5_000),
					move.edit(`late-edit-${index}`, `src/orders/module-${index}.ts`),
				]),
				shrinkOfLog,
			],
			answer: "Billing and the five modules round now.",
		},
	],
};

const wrongDirection: Scenario = {
	name: "wrong direction over three prompts, rewound to a checkpoint",
	prompts: [
		...opening,
		...upTo(3).map((index) => ({
			...(index === 1 ? { checkpoint: "before-decimals" } : {}),
			text: `Step ${index} of 3: move the amounts of module ${index} from cents to decimals.`,
			moves: [
				move.read(`wrong-module-${index}`, `src/decimals/module-${index}.ts`, 8_000),
				move.read(`wrong-use-${index}`, `src/decimals/use-${index}.ts`, 5_000),
				move.edit(`wrong-edit-${index}`, `src/decimals/module-${index}.ts`),
				move.bash(`wrong-test-${index}`, "npm test -- decimals", 3_000),
			],
			answer: `Module ${index} computes in decimals now; some tests still fail.`,
		})),
		{
			text: "Decimals were the wrong idea. Forget them, take the changes back, and round the cents instead.",
			moves: [
				move.rewind(
					"rewind",
					{ granularity: "checkpoint", checkpoint: "before-decimals" },
					{
						what_happened: "Three modules were moved from cents to decimals, and their tests failed.",
						true_current_state: "src/decimals/module-1.ts, module-2.ts and module-3.ts hold the changes still.",
						next: "git checkout src/decimals, then make roundCents in src/money round.",
					},
				),
				move.bash("undo", "git checkout src/decimals && git status --short", 200),
				...fix("direction"),
			],
			answer: "The decimals are gone. roundCents rounds now, and the tests pass.",
		},
	],
};

const fiveShrinks: Scenario = {
	name: "five large reads, shrunk in parallel",
	prompts: [
		...opening,
		{
			text: "Which of the five exporters rounds on its own? Read them all.",
			moves: [
				move.together(
					"I read all five at once.",
					upTo(5).map((index) => call.read(`exporter-${index}`, `src/export/exporter-${index}.ts`, 8_000)),
				),
				move.shrink(
					upTo(5).map((index) => `exporter-${index}`),
					"About 200 lines. Takes totals in cents from src/billing/invoice.ts and rounds nothing; a line is made by writeLine.",
				),
				...fix("five"),
			],
			answer: "None of the five rounds on its own. roundCents does, and it is fixed.",
		},
	],
};

const twentyShrinks: Scenario = {
	name: "twenty small results, each shrunk by a call of its own",
	prompts: [
		...opening,
		{
			text: "Go through the twenty commits that touched rounding, and say which one broke it.",
			moves: upTo(20).flatMap((index) => [
				move.bash(`commit-${index}`, `git show commit-${index}`, 2_000),
				move.shrink([`commit-${index}`], "A commit that touches rounding only in a comment; it did not break it."),
			]),
			answer: "None of the twenty broke it: the cut was there from the start.",
		},
	],
};

const neverNeeded: Scenario = {
	name: "a session that never needs it",
	prompts: [...opening, { text: "Fix it.", moves: fix("plain"), answer: "Fixed." }, ...goOn(10, "plain")],
};

/** The scripted tasks, in the order of the report. */
export const scenarios = {
	bloatedGrep,
	longLog,
	lateShrink,
	wrongDirection,
	fiveShrinks,
	twentyShrinks,
	neverNeeded,
} as const satisfies Readonly<Record<string, Scenario>>;
