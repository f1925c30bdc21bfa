import type { EntryId } from "./messages.ts";

/** The schema that every record on disk names. */
export const SCHEMA = "pi-mulligan";
/** The newest record version that this code reads. */
export const RECORD_VERSION = 1;

/** What every record carries. */
export interface RecordHeader {
	readonly schema: typeof SCHEMA;
	readonly v: typeof RECORD_VERSION;
	readonly kind: string;
	/** Grows by one within a session. */
	readonly seq: number;
	/** Milliseconds since the epoch. */
	readonly ts: number;
}

export interface RewindNote {
	readonly what_happened: string;
	readonly true_current_state: string;
	readonly next: string;
}

export interface LedgerRecord {
	readonly filesRead: readonly string[];
	readonly filesModified: readonly string[];
	readonly bashSideEffects: readonly string[];
}

export interface RewindBody {
	readonly id: string;
	readonly granularity: "last_tool_call_group" | "last_turn" | "checkpoint";
	readonly checkpoint?: string;
	readonly options?: { readonly protect?: readonly string[] };
	/** The call that asked for it. */
	readonly excludeToolCallId: string;
	readonly hideEntryIds: readonly EntryId[];
	readonly note: RewindNote;
	readonly ledger: LedgerRecord;
}

/** What a shrink was asked for; kept for the reader, never resolved again. */
export interface TargetBody {
	readonly by_tool_call_id?: string;
	readonly by_tool_name?: string;
	readonly occurrence?: "first" | "last";
	/** Of earlier versions: a text that the result contains. */
	readonly by_content_includes?: string;
}

export interface ShrinkBody {
	readonly id: string;
	readonly target: TargetBody;
	/** Raw, without the stamp. */
	readonly replacement: string;
	readonly reason?: string;
	readonly pinnedEntryId: EntryId;
}

export interface CancelBody {
	/** The retired marker's `id`. */
	readonly targetId: string;
}

/** Stands where the human set a checkpoint; its entry carries the label. */
export interface CheckpointBody {
	readonly name: string;
}

/** An op that waits, or what became of it. Later records of the same op id win. */
export interface QueuedBody {
	readonly id: string;
	readonly status: "queued" | "activated" | "dropped" | "cancelled";
	/** The waiting op; only with `queued`. */
	readonly op?: QueuedOpBody;
	/** Why it was dropped. */
	readonly reason?: string;
}

export interface QueuedOpBody {
	readonly plugin: string;
	readonly describe: string;
	readonly effect: "hide" | "replace";
	readonly type: string;
	readonly body: object;
	readonly entryIds: readonly EntryId[];
	readonly shedTokens: number;
	readonly toolCallId: string;
}

/** The records of the default set, by custom type. */
export interface RecordBodies {
	"mulligan:rewind": RewindBody;
	"mulligan:shrink": ShrinkBody;
	"mulligan:cancel": CancelBody;
	"mulligan:checkpoint": CheckpointBody;
	"mulligan:queued": QueuedBody;
}

export type RecordType = keyof RecordBodies;

/** The records that change the view until a cancel retires them. */
export type MarkerType = "mulligan:rewind" | "mulligan:shrink";

/** The entries that a marker hides, or the one that it replaces. */
export function coveredIds(marker: RewindBody | ShrinkBody): readonly EntryId[] {
	return "hideEntryIds" in marker ? marker.hideEntryIds : [marker.pinnedEntryId];
}

type FindByContent = (text: string) => EntryId | undefined;

/** A record's body, checked, or what is wrong with it. */
type Parsed<Body> = { readonly body: Body & RecordHeader } | { readonly wrong: string };

/** Whether an op writes a record of this type; its body is then one of these. */
export function isOpOf<T extends RecordType, O extends Pick<QueuedOpBody, "type" | "body">>(
	op: O,
	type: T,
): op is O & { readonly body: RecordBodies[T] } {
	return op.type === type;
}

/** One record as read from the branch: its body, checked, with the entry that holds it. */
export type JournalRecord<Body = object> = Body & RecordHeader & { readonly entryId: EntryId };

/**
 * A record from a custom entry's data, or what is wrong with it. Checked here, once; trusted inside.
 * Types that this table does not know are only checked for the header. What earlier versions left out is filled in;
 * `findByContent` finds the tool result before the record that contains a text.
 */
export function parseRecord<T extends RecordType>(type: T, data: unknown, find: FindByContent): Parsed<RecordBodies[T]>;
export function parseRecord(type: string, data: unknown, find: FindByContent): Parsed<object>;
export function parseRecord(type: string, data: unknown, findByContent: FindByContent): Parsed<object> {
	if (!isObject(data)) return { wrong: "no object" };
	if (data.schema !== SCHEMA) return { wrong: `schema ${JSON.stringify(data.schema)}, expected "${SCHEMA}"` };
	if (data.v !== RECORD_VERSION) return { wrong: `version ${JSON.stringify(data.v)}, expected ${RECORD_VERSION}` };
	for (const field of ["seq", "ts"]) if (!Number.isFinite(data[field])) return { wrong: `field ${field}` };
	const whole = completed(type, data, findByContent);
	const field = wrongField(type, whole);
	return field === undefined ? { body: whole as unknown as RecordHeader } : { wrong: `field ${field}` };
}

/** The first field that a record of this type must not have so. */
function wrongField(type: string, data: Record<string, unknown>): string | undefined {
	const fields = FIELDS[type as RecordType] ?? {};
	return Object.entries(fields).find(([field, is]) => !is(data[field]))?.[0];
}

/** A marker of an earlier version with what it lacks: a ledger and a note, or the entry that it names by content. */
function completed(type: string, data: Record<string, unknown>, findByContent: FindByContent): Record<string, unknown> {
	if (type === "mulligan:rewind")
		return { excludeToolCallId: "", note: NO_NOTE, ledger: NO_LEDGER, granularity: "last_tool_call_group", ...data };
	const byContent = (data.target as TargetBody | null | undefined)?.by_content_includes;
	if (type !== "mulligan:shrink" || data.pinnedEntryId !== undefined || typeof byContent !== "string") return data;
	return { ...data, pinnedEntryId: findByContent(byContent) };
}

const NO_LEDGER: LedgerRecord = { filesRead: [], filesModified: [], bashSideEffects: [] };
const NO_NOTE: RewindNote = { what_happened: "not recorded", true_current_state: "not recorded", next: "go on" };

type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === "string" && value.length > 0;
const isString: Check = (value) => typeof value === "string";
const isIds: Check = (value) => Array.isArray(value) && value.every(isText);
const isStrings: Check = (value) => Array.isArray(value) && value.every(isString);
const optional =
	(is: Check): Check =>
	(value) =>
		value === undefined || is(value);
const oneOf =
	(...values: readonly unknown[]): Check =>
	(value) =>
		values.includes(value);
const shape =
	(fields: Record<string, Check>): Check =>
	(value) =>
		isObject(value) && Object.entries(fields).every(([field, is]) => is(value[field]));

const FIELDS: { readonly [T in RecordType]: Partial<Record<keyof RecordBodies[T], Check>> } = {
	"mulligan:rewind": {
		id: isText,
		granularity: oneOf("last_tool_call_group", "last_turn", "checkpoint"),
		hideEntryIds: isIds,
		excludeToolCallId: isString,
		note: shape({ what_happened: isString, true_current_state: isString, next: isString }),
		ledger: shape({ filesRead: isStrings, filesModified: isStrings, bashSideEffects: isStrings }),
	},
	"mulligan:shrink": { id: isText, replacement: isString, pinnedEntryId: isText, target: isObject },
	"mulligan:cancel": { targetId: isText },
	"mulligan:checkpoint": { name: isText },
	"mulligan:queued": {
		id: isText,
		status: oneOf("queued", "activated", "dropped", "cancelled"),
		op: optional((op) => isOp(op) && wrongField(op.type, op.body) === undefined),
	},
};

const isOpShape = shape({
	plugin: isText,
	describe: isString,
	effect: oneOf("hide", "replace"),
	type: isText,
	body: isObject,
	entryIds: isIds,
	shedTokens: (value) => typeof value === "number" && Number.isFinite(value),
	toolCallId: isString,
});

function isOp(value: unknown): value is QueuedOpBody & { readonly body: Record<string, unknown> } {
	return isOpShape(value);
}

function isObject(value: unknown): value is Record<string, unknown> {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}
