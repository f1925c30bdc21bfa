import { describe, expect, test } from "vitest";
import { type Command, parse } from "./command.ts";

const plugins = ["rewind", "shrink", "audit", "trace"];
const where = undefined;

describe("what was typed is", () => {
	test.each<[string, Command]>([
		["", { do: "open" }],
		["   ", { do: "open" }],
		["show", { do: "show" }],
		["HELP", { do: "help" }],
		["doctor", { do: "doctor" }],
		["on", { do: "master", to: true, where }],
		["OFF", { do: "master", to: false, where }],
		["disable", { do: "master", to: false, where }],
		["off --project", { do: "master", to: false, where: "project" }],
		["rewind", { do: "switch", plugin: "rewind", to: "flip", where }],
		["rewind off", { do: "switch", plugin: "rewind", to: false, where }],
		["rewind Enable", { do: "switch", plugin: "rewind", to: true, where }],
		["rewind TRUE --user", { do: "switch", plugin: "rewind", to: true, where: "user" }],
		["--project shrink false", { do: "switch", plugin: "shrink", to: false, where: "project" }],
		["undo", { do: "undo", nth: 1 }],
		["undo 12", { do: "undo", nth: 12 }],
		["audit", { do: "audit", args: "" }],
		["audit 20", { do: "audit", args: "20" }],
		["set", { do: "set", key: "", typed: "", where }],
		["set rewind.maxDepth", { do: "set", key: "rewind.maxDepth", typed: "", where }],
		["set rewind.maxDepth 8", { do: "set", key: "rewind.maxDepth", typed: "8", where }],
		["set --project rewind.maxDepth 8", { do: "set", key: "rewind.maxDepth", typed: "8", where: "project" }],
		["set rewind.maxDepth 8 --user", { do: "set", key: "rewind.maxDepth", typed: "8", where: "user" }],
		['set a.b  {"read": 1,  "x": 2}', { do: "set", key: "a.b", typed: '{"read": 1,  "x": 2}', where }],
		["set log.file my --project log", { do: "set", key: "log.file", typed: "my --project log", where }],
	])("%j", (typed, expected) => {
		expect(parse(typed, plugins)).toEqual(expected);
	});

	test.each<[string, Command]>([
		["audit off", { do: "switch", plugin: "audit", to: false, where }],
		["trace on", { do: "switch", plugin: "trace", to: true, where }],
		["trace", { do: "trace" }],
	])("a plugin with the name of a sub-command: %j", (typed, expected) => {
		expect(parse(typed, plugins)).toEqual(expected);
	});
});

describe("what makes no sense is named", () => {
	test.each<[string, Command]>([
		["frobnicate", { do: "unknown", word: "frobnicate" }],
		["Rewind", { do: "unknown", word: "Rewind" }],
		["undo 0", { do: "wrong", why: "undo takes the number that /mulligan lists, from 1 on; got 0." }],
		["undo -1", { do: "wrong", why: "undo takes the number that /mulligan lists, from 1 on; got -1." }],
		["undo two", { do: "wrong", why: "undo takes the number that /mulligan lists, from 1 on; got two." }],
		["undo 1 2", { do: "wrong", why: "undo takes no 2." }],
		["show all", { do: "wrong", why: "show takes no all." }],
		["restore 2", { do: "wrong", why: "restore takes no 2." }],
		["on rewind", { do: "wrong", why: "on takes no rewind." }],
		["rewind maybe", { do: "wrong", why: "rewind takes on or off; got maybe." }],
		["rewind off now", { do: "wrong", why: "rewind takes no now." }],
	])("%j", (typed, expected) => {
		expect(parse(typed, plugins)).toEqual(expected);
	});
});
