import { describe, expect, test } from "vitest";
import { decide, type Situation } from "./decide.ts";

const calm: Situation = {
	waiting: 1,
	volumeTokens: 100,
	opsInTurn: 1,
	isMoment: false,
	isAudited: false,
	spent: 0,
	maxMoments: 1,
	flushShedTokens: 4000,
	safetyValveTokens: 16000,
};
const wait = { do: "wait" };
const spend = (trigger: string) => ({ do: "activate", trigger, free: false });
const free = (trigger: string) => ({ do: "activate", trigger, free: true });

describe("what waits", () => {
	test.each<[string, Partial<Situation>, object]>([
		["waits while it is small and alone", {}, wait],
		["waits just below the flush volume", { volumeTokens: 3999 }, wait],
		["flushes at the flush volume", { volumeTokens: 4000 }, spend("volume")],
		["flushes at once with a flush volume of 0", { volumeTokens: 0, flushShedTokens: 0 }, spend("volume")],
		["flushes at the second op of a turn", { waiting: 2, opsInTurn: 2 }, spend("second op")],
		["waits with one op a turn, however many there are", { waiting: 3, opsInTurn: 1 }, wait],
		["is spent on an audit while the budget lasts", { opsInTurn: 0, isAudited: true }, spend("audit")],
		["joins a turn that is a moment for free", { isMoment: true }, free("same turn")],
		["joins it also when the budget is spent", { isMoment: true, spent: 1 }, free("same turn")],
		["queues once the budget is spent, whatever the flush volume", { spent: 1, volumeTokens: 9000 }, wait],
		["queues a second op as well then", { spent: 1, waiting: 2, opsInTurn: 2 }, wait],
		["rides an audit for free then", { spent: 1, opsInTurn: 0, isAudited: true }, free("audit")],
		["queues at exactly the safety valve", { spent: 1, volumeTokens: 16000 }, wait],
		["spends one more moment above it", { spent: 1, volumeTokens: 16001 }, spend("safety valve")],
		["does so again when the next volume exceeds it", { spent: 2, volumeTokens: 16001 }, spend("safety valve")],
		["has a second moment with a budget of 2", { spent: 1, maxMoments: 2, volumeTokens: 4000 }, spend("volume")],
		["has no third with a budget of 2", { spent: 2, maxMoments: 2, volumeTokens: 4000 }, wait],
		["waits with a budget of 0", { maxMoments: 0, volumeTokens: 4000 }, wait],
		["waits with a budget of 0 whatever its volume", { maxMoments: 0, volumeTokens: 90_000 }, wait],
		["rides a compaction", { freeRide: "compaction", spent: 1 }, free("compaction")],
		["rides a change of model", { freeRide: "model change", spent: 1 }, free("model change")],
		["rides a cancel", { freeRide: "cancel", spent: 1 }, free("cancel")],
		["rides a late resume", { freeRide: "resume", spent: 1 }, free("resume")],
		["rides any of these while the budget lasts, too", { freeRide: "model change" }, free("model change")],
		["rides also what would be worth a moment", { freeRide: "cancel", volumeTokens: 4000 }, free("cancel")],
		["rides also what would open the valve", { freeRide: "cancel", spent: 1, volumeTokens: 16001 }, free("cancel")],
		["rides with a budget of 0", { freeRide: "resume", maxMoments: 0 }, free("resume")],
		["joins the moment of its turn rather than a ride", { isMoment: true, freeRide: "cancel" }, free("same turn")],
		["joins it rather than spend another", { isMoment: true, maxMoments: 2, volumeTokens: 4000 }, free("same turn")],
		["names the volume before a second op", { opsInTurn: 2, volumeTokens: 4000 }, spend("volume")],
		["names a second op before an audit", { opsInTurn: 2, isAudited: true }, spend("second op")],
		["names the volume before an audit", { isAudited: true, volumeTokens: 4000 }, spend("volume")],
		["rides an audit rather than open the valve", { spent: 1, isAudited: true, volumeTokens: 16001 }, free("audit")],
		["rides an audit with a budget of 0", { maxMoments: 0, isAudited: true }, free("audit")],
		["waits at a safety valve of 0 while it sheds nothing", { spent: 1, volumeTokens: 0, safetyValveTokens: 0 }, wait],
		[
			"opens a safety valve of 0 with one token",
			{ spent: 1, volumeTokens: 1, safetyValveTokens: 0 },
			spend("safety valve"),
		],
		[
			"leaves the valve shut while the budget lasts",
			{ volumeTokens: 20, flushShedTokens: 30, safetyValveTokens: 10 },
			wait,
		],
		["counts what is over the budget as spent", { spent: 3, maxMoments: 2, volumeTokens: 4000 }, wait],
		["is nothing without ops", { waiting: 0, isAudited: true, freeRide: "compaction", isMoment: true }, wait],
	])("%s", (_name, changed, decision) => {
		expect(decide({ ...calm, ...changed })).toEqual(decision);
	});
});

describe("over all situations", () => {
	const values = {
		waiting: [0, 1, 3],
		volumeTokens: [0, 10, 11, 20, 21],
		opsInTurn: [0, 1, 2],
		isMoment: [false, true],
		isAudited: [false, true],
		freeRide: [undefined, "compaction"],
		spent: [0, 1, 2, 3],
		maxMoments: [0, 1, 2],
		flushShedTokens: [0, 10],
		safetyValveTokens: [10, 20],
	} as const;
	const all = Object.entries(values).reduce<readonly object[]>(
		(made, [key, options]) => made.flatMap((situation) => options.map((value) => ({ ...situation, [key]: value }))),
		[{}],
	) as readonly Situation[];
	const activating = all.flatMap((now) => {
		const decision = decide(now);
		return decision.do === "activate" ? [{ now, decision }] : [];
	});
	const broken = (holds: (one: (typeof activating)[number]) => boolean) => activating.filter((one) => !holds(one));

	test("nothing becomes active where nothing waits", () => {
		expect(broken(({ now }) => now.waiting > 0)).toEqual([]);
	});

	test("what is free is so because the cache breaks anyway", () => {
		expect(
			broken(
				({ now, decision: { free: isFree } }) => !isFree || now.isMoment || now.isAudited || now.freeRide !== undefined,
			),
		).toEqual([]);
	});

	test("where the cache breaks anyway all that waits goes along, and pays nothing", () => {
		const rides = all.filter(({ waiting, isMoment, freeRide }) => waiting > 0 && (isMoment || freeRide));
		expect(rides.length).toBeGreaterThan(0);
		expect(rides.map(decide).filter((decision) => decision.do !== "activate" || !decision.free)).toEqual([]);
	});

	test("only the safety valve spends more than the budget, and only above its volume", () => {
		expect(
			broken(
				({ now, decision }) =>
					decision.free ||
					now.spent < now.maxMoments ||
					(decision.trigger === "safety valve" && now.volumeTokens > now.safetyValveTokens),
			),
		).toEqual([]);
	});
});
