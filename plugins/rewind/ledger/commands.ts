import { EDITORS } from "./editors.ts";
import { git } from "./git.ts";
import { READING } from "./reading.ts";
import type { CommandRule } from "./rules.ts";
import { RUNNERS } from "./runners.ts";
import { WRITING } from "./writing.ts";

const SYSTEM_DIRECTORY = /^\/(?:usr\/|usr\/local\/|opt\/homebrew\/)?s?bin\/(?=[^/]+$)/;

const RULES = new Map<string, CommandRule>();
for (const [name, rule] of [...READING, ...WRITING, ...EDITORS, ...RUNNERS, ["git", git] as const])
	RULES.set(name, { ...RULES.get(name), ...rule });

/** What is known of the command; nothing of an unknown one, as of a program in the working tree. */
export function ruleOf(command: string): CommandRule {
	return RULES.get(command.replace(SYSTEM_DIRECTORY, "")) ?? {};
}
