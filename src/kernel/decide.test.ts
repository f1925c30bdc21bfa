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
		["rides a compaction", { freeRide: "compaction" }, free("compaction")],
		["rides a change of model", { freeRide: "model change", spent: 1 }, free("model change")],
		["rides a cancel", { freeRide: "cancel", spent: 1 }, free("cancel")],
		["rides a late resume", { freeRide: "resume", maxMoments: 0 }, free("resume")],
		["is nothing without ops", { waiting: 0, isAudited: true, freeRide: "compaction", isMoment: true }, wait],
	])("%s", (_name, changed, decision) => {
		expect(decide({ ...calm, ...changed })).toEqual(decision);
	});
});
