import { describe, expect, test } from "vitest";
import { anonymousPath, shownPath } from "./paths.ts";

const folders = {
	home: "/home/ann",
	cwd: "/home/ann/work/shop/src",
	agentDir: "/srv/agents/ann",
	projectRoot: "/home/ann/work/shop",
};

describe("a path for the human", () => {
	test.each([
		["/home/ann/work/shop/src/a.json", "./a.json"],
		["/home/ann/work/shop/src/.pi/settings.json", "./.pi/settings.json"],
		["/home/ann/work/shop/mulligan.config.json", "~/work/shop/mulligan.config.json"],
		["/home/ann", "~"],
		["/home/ann/work/shop/src/..hidden", "./..hidden"],
		["/home/anna/x", "/home/anna/x"],
		["/etc/x", "/etc/x"],
		["/etc/\u001b[2Jx", "/etc/ [2Jx"],
		["<inline:1>", "<inline:1>"],
		["npm:some-package", "npm:some-package"],
	])("%s is %s", (file, expected) => {
		expect(shownPath(file, folders)).toBe(expected);
	});

	test("is whole where the working directory is the root", () => {
		expect(shownPath("/etc/x", { cwd: "/", home: "/root" })).toBe("./etc/x");
	});
});

describe("a path for strangers", () => {
	test.each([
		["/srv/agents/ann/settings.json", "<agent>/settings.json"],
		["/home/ann/work/shop/mulligan.config.json", "<project>/mulligan.config.json"],
		["/home/ann/notes.txt", "~/notes.txt"],
		["/opt/x.ts", "/opt/x.ts"],
	])("%s is %s", (file, expected) => {
		expect(anonymousPath(file, folders)).toBe(expected);
	});

	test("names the working directory where there is no project", () => {
		expect(anonymousPath("/data/secret/x", { ...folders, cwd: "/data/secret", projectRoot: undefined })).toBe(
			"<cwd>/x",
		);
	});
});
