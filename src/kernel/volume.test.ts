import { expect, test } from "vitest";
import { volumeOf } from "./volume.ts";

const hide = (shedTokens: number, ...entryIds: string[]) => ({ effect: "hide", shedTokens, entryIds }) as const;
const replace = (shedTokens: number, ...entryIds: string[]) => ({ effect: "replace", shedTokens, entryIds }) as const;

test.each<[string, Parameters<typeof volumeOf>[0], number]>([
	["nothing is 0", [], 0],
	["ops on different entries add up", [hide(100, "a", "b"), replace(30, "c"), replace(12, "d")], 142],
	["of two replacements of one entry the later counts", [replace(100, "a"), replace(70, "a")], 70],
	["what is hidden as well counts as hidden only", [replace(100, "b"), hide(120, "a", "b")], 120],
	["in either order", [hide(120, "a", "b"), replace(100, "b")], 120],
	["a replacement that is hidden in part counts", [hide(120, "a"), replace(100, "a", "b")], 220],
	["what grows is taken off", [hide(-20, "a"), replace(50, "b")], 30],
	["never less than 0", [hide(-20, "a")], 0],
	["whole tokens", [replace(10.4, "a"), replace(10.4, "b")], 21],
])("%s", (_what, ops, volume) => {
	expect(volumeOf(ops)).toBe(volume);
});
