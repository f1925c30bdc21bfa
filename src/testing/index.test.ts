import { expect, test } from "vitest";
import * as door from "./index.ts";

test("the door opens to these and no others", () => {
	expect(Object.keys(door).sort()).toEqual([
		"containsText",
		"newestPi",
		"onePixel",
		"openSession",
		"orphans",
		"piVersions",
		"sessionLog",
		"shape",
		"textOf",
	]);
});
