import type { Branch } from "./branch.ts";
import type { Hooks } from "./hooks.ts";
import type { Host } from "./host.ts";
import type { Isolation, Owner } from "./isolate.ts";
import type { Journal } from "./journal.ts";
import type { Moments } from "./moments.ts";
import type { Plugin, PluginApi, PluginJournal, PluginMoments, SessionReader, Settings } from "./plugin.ts";
import { type Registry, refusal } from "./registry.ts";
import { retire, standing } from "./take-back.ts";
import type { ViewKeeper } from "./view.ts";
import { volumeOf } from "./volume.ts";

/** The parts of a kernel that plugins reach through their api. */
export interface ApiParts {
	readonly host: Host;
	readonly branch: Branch;
	readonly journal: Journal;
	readonly view: ViewKeeper;
	readonly moments: Moments;
	readonly isolation: Isolation;
	readonly hooks: Hooks;
	readonly registry: Registry;
	readonly session: SessionReader;
	readonly settings: Settings;
}

/** What a plugin may do, bound to its name. */
export function apiFor(
	parts: ApiParts,
	{ who, plugin, options }: { readonly who: Owner; readonly plugin: Plugin; readonly options: unknown },
): PluginApi {
	const { host, hooks, isolation, registry, session, settings } = parts;
	const log = (line: string) => host.log(`${who.name}: ${line}`);
	return {
		options,
		settings,
		hooks,
		session,
		journal: journalFor(parts, { who, records: plugin.records ?? [], log }),
		moments: momentsFor(parts, who),
		screen: host.screen,
		newId: () => host.newId(),
		notify: (text, level = "info") => host.notify(text, level),
		log,
		...registry.of(who),
		refuse: (reason, code) => {
			hooks.onOp.call({ status: "refused", plugin: who.name, reason, code });
			return refusal({ reason, code });
		},
		pi: host.raw(who, (hook, code) => isolation.run(who, hook, code, { otherwise: passOn })),
	};
}

function journalFor(
	{ host, branch, journal, moments, view }: ApiParts,
	{ who, records, log }: { who: Owner; records: readonly string[]; log: (line: string) => void },
): PluginJournal {
	return {
		read: (type: string) => journal.read(type) as never,
		active: (type) => journal.active(type),
		append(type, body) {
			if (!records.includes(type))
				throw new Error(`${who.name} writes ${type}, which it does not declare in "records"`);
			journal.append(type, body);
			return branch.leafId ?? "";
		},
		retire(markerId, why) {
			log(`retired ${markerId}: ${why}`);
			if (retire({ journal, view }, [markerId], why)) moments.offerRide("cancel");
		},
		memo: (derive) => journal.memo(derive),
		note: (note) => host.note(note),
		label(id, label) {
			host.label(id, label);
			branch.refresh();
		},
	};
}

function momentsFor({ journal, moments }: ApiParts, who: Owner): PluginMoments {
	return {
		maxMoments: moments.rules.maxMoments,
		get spent() {
			return moments.spent;
		},
		submit: (op, tell) => moments.submit({ ...op, plugin: who.name }, tell),
		waiting: () => moments.waiting(),
		standing: () => standing({ journal, moments }),
		get volumeTokens() {
			return volumeOf(moments.waiting());
		},
		cancel: (opId) => moments.cancel(opId),
		drop: (opId, reason) => moments.drop(opId, reason),
		dropWhen: (reasonOf) => moments.dropWhen(who, reasonOf),
		audit: (toolCallId, report) => moments.audit(toolCallId, report),
	};
}

function passOn(error: unknown): never {
	throw error;
}
