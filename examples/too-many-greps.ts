import { defineNudge, Type } from "pi-mulligan/plugin";

/** Says once, when many searches have run since the last prompt, that reading would help more. */
export default defineNudge({
	name: "too-many-greps",
	mulligan: "^2",
	options: Type.Object({ most: Type.Integer({ minimum: 1, default: 5 }) }),
	when: ({ calls, options }) => calls("grep").length > options.most,
	say: ({ calls }) => `${calls("grep").length} greps for this prompt so far: read the best hit before you search on.`,
});
