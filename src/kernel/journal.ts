import type { Branch, CustomRecord } from "./branch.ts";
import { type EntryId, textOf } from "./messages.ts";
import {
	type CancelBody,
	type JournalRecord,
	type MarkerType,
	parseRecord,
	RECORD_VERSION,
	type RecordBodies,
	type RecordHeader,
	type RecordType,
	type RewindBody,
	SCHEMA,
	type ShrinkBody,
} from "./records.ts";

/** Where records are written: Pi's session log. */
export interface JournalSink {
	append(type: string, data: object): void;
}

interface Parsed {
	source: readonly CustomRecord[];
	count: number;
	structure: number;
	records: JournalRecord[];
}

/**
 * Typed reading of the branch's records, and appending. What has been parsed is kept; a call costs what is new.
 * A malformed record is passed over and reported once.
 */
export class Journal {
	readonly #branch: Branch;
	readonly #sink: JournalSink;
	readonly #report: (line: string) => void;
	readonly #now: () => number;
	readonly #parsed = new Map<string, Parsed>();
	readonly #reported = new Set<string>();
	#watched: Set<string> | undefined;
	#overlay: ReadonlyMap<string, readonly JournalRecord[]> = new Map();
	#overlays = 0;
	#seq: number;

	constructor(options: {
		readonly branch: Branch;
		readonly sink: JournalSink;
		readonly report: (line: string) => void;
		readonly now: () => number;
		/** The highest `seq` in the session so far. */
		readonly lastSeq: number;
	}) {
		this.#branch = options.branch;
		this.#sink = options.sink;
		this.#report = options.report;
		this.#now = options.now;
		this.#seq = options.lastSeq;
	}

	/** The valid records of one type on the branch, oldest first. */
	read<T extends RecordType>(type: T): readonly JournalRecord<RecordBodies[T]>[];
	read(type: string): readonly JournalRecord[];
	read(type: string): readonly JournalRecord[] {
		this.#watched?.add(type);
		const raw = this.#branch.records(type);
		const structure = this.#branch.structure;
		const known = this.#parsed.get(type);
		const parsed: Parsed =
			known && known.source === raw && known.structure === structure
				? known
				: { source: raw, count: 0, structure, records: [] };
		if (parsed.count < raw.length) {
			const fresh = raw.slice(parsed.count).flatMap((record) => this.#parse(type, record));
			if (fresh.length > 0) parsed.records = [...parsed.records, ...fresh];
			parsed.count = raw.length;
		}
		this.#parsed.set(type, parsed);
		const assumed = this.#overlay.get(type);
		return assumed ? [...parsed.records, ...assumed] : parsed.records;
	}

	/** The records of one marker type that no cancel on the branch retires, oldest first. */
	active<T extends MarkerType>(type: T): readonly JournalRecord<RecordBodies[T]>[] {
		const retired = this.#retired();
		const records = this.read(type) as readonly JournalRecord<RecordBodies[T]>[];
		return retired.size === 0 ? records : records.filter((record) => !retired.has(record.id));
	}

	/** The active rewind or shrink with this marker id. */
	marker(markerId: string): JournalRecord<RewindBody | ShrinkBody> | undefined {
		const markers = [...this.active("mulligan:rewind"), ...this.active("mulligan:shrink")];
		return markers.find(({ id }) => id === markerId);
	}

	/** Write one record; its header is added. Returns what was written. */
	append<Body extends object>(type: string, body: Body): Body & RecordHeader {
		const record = this.compose(type, body);
		this.#sink.append(type, record);
		return record;
	}

	/** A record as `append` would write it, for a host that writes it itself. */
	compose<Body extends object>(type: string, body: Body): Body & RecordHeader {
		const kind = type.replace(/^mulligan:/, "");
		return { schema: SCHEMA, v: RECORD_VERSION, kind, seq: ++this.#seq, ts: this.#now(), ...body } as const;
	}

	/** Run code as if these records had been written. What it derives is derived again afterwards. */
	assuming<T>(records: readonly { readonly type: string; readonly body: object }[], code: () => T): T {
		const overlay = new Map<string, JournalRecord[]>();
		for (const { type, body } of records) {
			const record = {
				schema: SCHEMA,
				v: RECORD_VERSION,
				kind: "",
				seq: this.#seq,
				ts: 0,
				...body,
				entryId: "",
			} as const;
			overlay.set(type, [...(overlay.get(type) ?? []), record]);
		}
		this.#overlay = overlay;
		this.#overlays++;
		try {
			return code();
		} finally {
			this.#overlay = new Map();
			this.#overlays++;
		}
	}

	/** Retire a rewind or shrink by its marker id: from the next request the originals are back. */
	retire(markerId: string): void {
		this.append<CancelBody>("mulligan:cancel", { targetId: markerId });
	}

	/** A value derived from records, made again only when a record of a type that `derive` read was added or lost. */
	memo<T>(derive: () => T): () => T {
		let value: T;
		let types: ReadonlySet<string> = new Set();
		let version: string | undefined;
		let revision: number | undefined;
		return () => {
			if (revision !== this.revision && (version === undefined || this.version(types) !== version)) {
				[value, types] = this.watching(derive);
				version = this.version(types);
			}
			revision = this.revision;
			for (const type of types) this.#watched?.add(type);
			return value;
		};
	}

	/** Run code and tell which record types it read. */
	watching<T>(code: () => T): [T, ReadonlySet<string>] {
		const outer = this.#watched;
		const watched = new Set<string>();
		this.#watched = watched;
		try {
			return [code(), watched];
		} finally {
			this.#watched = outer;
			for (const type of watched) outer?.add(type);
		}
	}

	/** Count a type as read: what is derived now depends on its records and custom messages. */
	watch(type: string): void {
		this.#watched?.add(type);
	}

	/** Grows with every change of the branch and of what is assumed: while it stands still, so do all versions. */
	get revision(): number {
		return this.#branch.revision + this.#overlays;
	}

	/** Changes exactly when records or custom messages of these types were added, or the branch changed otherwise than by growth. */
	version(types: Iterable<string>): string {
		let version = `${this.#branch.structure}.${this.#overlays}`;
		for (const type of types)
			version += `,${this.#branch.records(type).length}+${this.#branch.customMessages(type).length}`;
		return version;
	}

	#retired(): ReadonlySet<string> {
		return new Set(this.read("mulligan:cancel").map((cancel) => cancel.targetId));
	}

	/** The newest tool result before an entry whose text contains another. */
	#resultBefore(entryId: EntryId, text: string): EntryId | undefined {
		return this.#branch
			.context()
			.findLast(
				({ id, message }) =>
					message.role === "toolResult" && this.#branch.isBefore(id, entryId) && textOf(message.content).includes(text),
			)?.id;
	}

	#parse(type: string, { entryId, data }: CustomRecord): JournalRecord[] {
		const parsed = parseRecord(type, data, (text) => this.#resultBefore(entryId, text));
		if ("body" in parsed) return [{ ...parsed.body, entryId }];
		if (!this.#reported.has(entryId)) this.#report(`${type} ${entryId} is passed over: ${parsed.wrong}`);
		this.#reported.add(entryId);
		return [];
	}
}

/** The highest `seq` among a session's records; 0 without any. */
export function highestSeq(entries: Iterable<{ readonly type: string; readonly data?: unknown }>): number {
	let highest = 0;
	for (const entry of entries) {
		const data = entry.type === "custom" ? (entry.data as Partial<RecordHeader> | null | undefined) : undefined;
		if (data?.schema === SCHEMA && typeof data.seq === "number" && data.seq > highest) highest = data.seq;
	}
	return highest;
}
