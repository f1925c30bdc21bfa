import { describe, expect, test } from "vitest";
import { panelState } from "../../test/support/panel-state.ts";
import type { SourceReport as Source } from "../config/sources/book.ts";
import type { Where } from "./command.ts";
import type {} from "./state.ts";
import { overriding, type Target, targetFor, targetIn } from "./target.ts";

const AGENT = "/home/ann/.pi/agent";
const SHOP = "/home/ann/work/shop";
const user = (name: string, state: Source["state"] = "read"): Source => ({
	file: `${AGENT}/${name}`,
	scope: "user",
	state,
});
const project = (name: string, state: Source["state"] = "read"): Source => ({
	file: `${SHOP}/${name}`,
	scope: "project",
	state,
});
const state = (sources: readonly Source[], host = {}) => panelState({ config: { sources }, host });
const fileOf = (sources: readonly Source[], where?: Where) => {
	const target = targetFor(state(sources), where);
	return "why" in target ? target.why : target.file;
};

describe("a change is written", () => {
	test.each<[string, readonly Source[], Where, string]>([
		["to a new config of the user without any config", [], undefined, `${AGENT}/mulligan.config.json`],
		["never to Pi's settings", [user("settings.json")], undefined, `${AGENT}/mulligan.config.json`],
		[
			"to the user's config",
			[user("settings.json"), user("mulligan.config.yaml")],
			undefined,
			`${AGENT}/mulligan.config.yaml`,
		],
		[
			"to the project's config before the user's",
			[user("mulligan.config.json"), project(".pi/settings.json"), project(".mulliganrc")],
			undefined,
			`${SHOP}/.mulliganrc`,
		],
		[
			"to the user's where the project's is code",
			[user("mulligan.config.json"), project("mulligan.config.ts")],
			undefined,
			`${AGENT}/mulligan.config.json`,
		],
		[
			"to the user's on request",
			[user("mulligan.config.json"), project(".mulliganrc.json")],
			"user",
			`${AGENT}/mulligan.config.json`,
		],
		["to a new config of the project on request", [], "project", `${SHOP}/mulligan.config.json`],
		[
			"not to one that another stands before",
			[project("mulligan.config.yaml"), project(".mulliganrc.json", "shadowed")],
			undefined,
			`${SHOP}/mulligan.config.yaml`,
		],
		[
			"not to a project's that is not read",
			[project(".mulliganrc.json", "unreadable")],
			undefined,
			`${AGENT}/mulligan.config.json`,
		],
	])("%s", (_what, sources, where, file) => {
		expect(fileOf(sources, where)).toBe(file);
	});

	test.each<[string, readonly Source[], Where, string]>([
		[
			"to the project's code",
			[project("mulligan.config.ts")],
			"project",
			"~/work/shop/mulligan.config.ts is code, which only its author can change. Set it there, then /reload.",
		],
		[
			"to the user's code",
			[user("mulligan.config.mjs")],
			undefined,
			"~/.pi/agent/mulligan.config.mjs is code, which only its author can change. Set it there, then /reload.",
		],
	])("not %s, and it is said why", (_what, sources, where, why) => {
		expect(fileOf(sources, where)).toBe(why);
	});

	test("not to a project that Pi does not trust", () => {
		expect(targetFor(state([], { isProjectTrusted: false }), "project")).toEqual({
			why: "Pi does not trust this project, so its config is not read. Trust it first: /trust.",
		});
	});

	test("not to a project where there is none", () => {
		expect(targetFor(state([], { projectRoot: undefined }), "project")).toEqual({
			why: "there is no project here: the home folder has none.",
		});
	});
});

describe("a file's format", () => {
	test.each<[string, Target["format"], readonly string[]]>([
		["mulligan.config.json", "json", []],
		[".mulliganrc.yml", "yaml", []],
		[".mulliganrc.yaml", "yaml", []],
		[".mulliganrc", "rc", []],
		["package.json", "json", ["mulligan"]],
	])("%s", (name, format, at) => {
		expect(targetFor(state([project(name)]), undefined)).toMatchObject({ format, at, scope: "project" });
	});
});

test("a file that is in force can be written itself where it is data of ours", () => {
	const sources = [user("settings.json"), user("mulligan.config.ts"), project(".mulliganrc")];
	const at = (file: string) => targetIn(state(sources), file)?.file;
	expect(at(`${SHOP}/.mulliganrc`)).toBe(`${SHOP}/.mulliganrc`);
	expect(at(`${AGENT}/settings.json`)).toBeUndefined();
	expect(at(`${AGENT}/mulligan.config.ts`)).toBeUndefined();
	expect(at("/elsewhere.json")).toBeUndefined();
});

describe("what is said elsewhere", () => {
	const sources = [
		user("settings.json"),
		user("mulligan.config.json"),
		project(".pi/settings.json"),
		project(".mulliganrc"),
	];
	const target = (scope: Target["scope"], file: string): Target => ({ scope, file, format: "json", at: [] });
	const mine = target("user", `${AGENT}/mulligan.config.json`);
	const ours = target("project", `${SHOP}/.mulliganrc`);

	test.each<[string, string | undefined, Target, string | undefined]>([
		["by nobody", undefined, mine, undefined],
		["by the same file", mine.file, mine, undefined],
		["by a lower file", `${AGENT}/settings.json`, mine, undefined],
		["by a higher file", `${SHOP}/.pi/settings.json`, mine, `${SHOP}/.pi/settings.json`],
		["by the highest file", ours.file, mine, ours.file],
		["by the user, for the project", mine.file, ours, undefined],
		["by the environment", "MULLIGAN_LOG", ours, "MULLIGAN_LOG"],
		["by nobody that is known", "/elsewhere.json", mine, undefined],
	])("%s", (_what, origin, to, by) => {
		expect(overriding(state(sources), origin, to)).toBe(by);
	});

	test("counts less than a file of its scope that is not there yet", () => {
		const [piSettings, , projectSettings] = sources;
		const some = [piSettings, projectSettings].filter((source) => source !== undefined);
		const root = target("project", `${SHOP}/mulligan.config.json`);
		expect(overriding(state(some), `${AGENT}/settings.json`, mine)).toBeUndefined();
		expect(overriding(state(some), `${SHOP}/.pi/settings.json`, mine)).toBe(`${SHOP}/.pi/settings.json`);
		expect(overriding(state(some), `${SHOP}/.pi/settings.json`, root)).toBeUndefined();
	});
});
