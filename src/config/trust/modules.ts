import { readFileSync } from "node:fs";
import { createRequire, isBuiltin } from "node:module";
import { dirname, extname } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Script } from "node:vm";
import type { Jiti } from "jiti";

export type VirtualModules = Readonly<Record<string, unknown>>;

/** A loader of TypeScript and JavaScript that knows the modules which have no file: Pi's and ours. */
export async function openJiti(from: string, virtualModules: VirtualModules): Promise<Jiti> {
	const { createJiti } = await import("jiti");
	return createJiti(from, {
		moduleCache: false,
		fsCache: false,
		tryNative: false,
		virtualModules: { ...virtualModules },
	});
}

/** The file that an import names; undefined where there is none. */
export function resolveImport(jiti: Jiti, id: string, from: string): string | undefined {
	if (isBuiltin(id) || id.startsWith("data:")) return undefined;
	const found = jiti.esmResolve(id, { parentURL: pathToFileURL(from).href, try: true });
	if (!found) return undefined;
	return found.startsWith("file:") ? fileURLToPath(found) : found;
}

/**
 * TypeScript or an ES module as the body of a function whose imports are calls: of `jitiImport`, which is awaited, where
 * `isAsync`; else of `require`. Throws on a syntax error.
 */
export function toScript(
	jiti: Jiti,
	{ file, source, isAsync }: { readonly file: string; readonly source: string; readonly isAsync: boolean },
): string {
	const script = jiti.transform({ filename: file, source, ts: /\.[cm]?tsx?$/.test(file), async: isAsync });
	const broken = /^exports\.__JITI_ERROR__ = (\{.*\})/.exec(script)?.[1];
	if (broken === undefined) return script;
	const { line, column, message } = JSON.parse(broken) as { line: number; column: number; message: string };
	throw new SyntaxError(`${file}:${line}:${column}: ${message.trim()}`);
}

interface Loaded {
	readonly module: { exports: unknown };
	/** Where its code may wait: the promise of its end. */
	done: unknown;
	/** The modules that its code waits for. */
	readonly waitsFor: Set<Loaded>;
}

/**
 * Runs a project's files, each from the very bytes that were checked: nothing of the project is read a second time, and
 * nothing runs that `check` has not let pass. A file that isn't the project's goes through jiti.
 */
export class ProjectModules {
	readonly #jiti: Jiti;
	readonly #virtual: VirtualModules;
	readonly #own: (file: string) => string | undefined;
	readonly #check: (file: string, bytes: Uint8Array) => void;
	readonly #loaded = new Map<string, Loaded>();

	constructor(options: {
		readonly jiti: Jiti;
		readonly virtualModules: VirtualModules;
		/** The one name of a file of the project; undefined for any other file. */
		readonly own: (file: string) => string | undefined;
		/** Throws where the file must not run as it is. */
		readonly check: (file: string, bytes: Uint8Array) => void;
	}) {
		this.#jiti = options.jiti;
		this.#virtual = options.virtualModules;
		this.#own = options.own;
		this.#check = options.check;
	}

	/** The exports of one file of the project, once it has run. */
	async import(file: string): Promise<unknown> {
		const loaded = this.#open(file, { isAsync: true });
		await loaded.done;
		return loaded.module.exports;
	}

	#open(file: string, { isAsync, importer }: { readonly isAsync: boolean; readonly importer?: Loaded }): Loaded {
		const known = this.#loaded.get(file);
		if (known) return known;
		const bytes = readFileSync(file);
		this.#check(file, bytes);
		const loaded: Loaded = { module: { exports: {} }, done: undefined, waitsFor: new Set() };
		this.#loaded.set(file, loaded);
		// Before its code runs, which may import the importer.
		importer?.waitsFor.add(loaded);
		const source = bytes.toString("utf8").replace(/^\uFEFF/, "");
		const extension = extname(file);
		if (extension === ".json") loaded.module.exports = JSON.parse(source);
		else if (extension === ".node") loaded.module.exports = createRequire(file)(file);
		else loaded.done = this.#run({ file, source, isAsync }, loaded);
		return loaded;
	}

	/** Runs a file's code: to its end, or where `isAsync` to the promise of it. */
	#run(code: { readonly file: string; readonly source: string; readonly isAsync: boolean }, loaded: Loaded): unknown {
		const { file, isAsync } = code;
		const parameters = "exports, require, module, __filename, __dirname, jitiImport, jitiESMResolve";
		const script = toScript(this.#jiti, code);
		const wrapped = `(${isAsync ? "async " : ""}function (${parameters}) {${script}\n})`;
		const body = new Script(wrapped, { filename: file }).runInThisContext();
		const { module } = loaded;
		return body.call(
			module.exports,
			module.exports,
			(id: string) => this.#require(id, file),
			module,
			file,
			dirname(file),
			(id: string) => this.#importFrom(id, file, loaded),
			(id: string) => this.#jiti.esmResolve(id, pathToFileURL(file).href),
		);
	}

	async #importFrom(id: string, from: string, importer: Loaded): Promise<unknown> {
		if (Object.hasOwn(this.#virtual, id)) return namespaceOf(this.#virtual[id]);
		const file = resolveImport(this.#jiti, id, from);
		const own = file === undefined ? undefined : this.#own(file);
		if (own === undefined) return this.#jiti.import(file ?? id);
		const imported = this.#open(own, { isAsync: true, importer });
		// In a circle the code gets what the other has exported so far, as modules do.
		if (reaches(imported, importer)) return imported.module.exports;
		importer.waitsFor.add(imported);
		await imported.done;
		importer.waitsFor.delete(imported);
		return imported.module.exports;
	}

	#require(id: string, from: string): unknown {
		if (Object.hasOwn(this.#virtual, id)) return namespaceOf(this.#virtual[id]);
		const file = resolveImport(this.#jiti, id, from);
		const own = file === undefined ? undefined : this.#own(file);
		if (own === undefined) return createRequire(from)(file ?? id);
		return this.#open(own, { isAsync: false }).module.exports;
	}
}

function reaches(from: Loaded, target: Loaded, seen = new Set<Loaded>()): boolean {
	if (from === target) return true;
	seen.add(from);
	return [...from.waitsFor].some((next) => !seen.has(next) && reaches(next, target, seen));
}

/** A module without a file, in the form that transformed code expects of an ES module. */
function namespaceOf(module: unknown): unknown {
	const isNamespace = (module as { [Symbol.toStringTag]?: unknown })[Symbol.toStringTag] === "Module";
	return isNamespace ? { ...(module as object), __esModule: true } : module;
}
