import { expect, test } from "vitest";
import * as door from "./index.ts";

test("the door opens to these and no others", () => {
	expect(Object.keys(door).sort()).toEqual([
		"checkPlugin",
		"containsText",
		"newestPi",
		"onePixel",
		"openSession",
		"orphans",
		"piVersions",
		"pluginTable",
		"sessionLog",
		"shape",
		"textOf",
	]);
});
