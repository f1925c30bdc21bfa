import { createRequire, isBuiltin } from "node:module";
import { dirname, extname, isAbsolute } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Script } from "node:vm";
import type { Jiti } from "jiti";
import { type Content, readOnce, withoutMark } from "../read/file.ts";

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

/** The file that an import names; undefined for what has none, as a built-in module. Throws where there is nothing. */
export function resolveImport(jiti: Jiti, id: string, from: string): string | undefined {
	if (isBuiltin(id) || id.startsWith("data:")) return undefined;
	const found = jiti.esmResolve(id, { parentURL: pathToFileURL(from).href, try: true });
	// Node knows some files that jiti does not, as a native addon without its extension.
	const file = found || createRequire(from).resolve(id);
	return file.startsWith("file:") ? fileURLToPath(file) : file;
}

interface Code {
	readonly file: string;
	readonly source: string;
	/** Whether it may wait for what it imports. */
	readonly isAsync: boolean;
}

/**
 * TypeScript or an ES module as the body of a function whose imports are calls: of `jitiImport`, which is awaited, where
 * `isAsync`; else of `require`. Throws on a syntax error.
 */
export function toScript(jiti: Jiti, { file, source, isAsync }: Code): string {
	const script = jiti.transform({ filename: file, source, ts: /\.[cm]?tsx?$/.test(file), async: isAsync });
	const broken = /^exports\.__JITI_ERROR__ = (\{.*\})/.exec(script)?.[1];
	if (broken === undefined) return script;
	const { line, column, message } = JSON.parse(broken) as { line: number; column: number; message: string };
	throw new SyntaxError(`${file}:${line}:${column}: ${message.trim()}`);
}

const CODE = new Set([".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".tsx", ".mtsx", ".ctsx"]);

export function isCode(file: string): boolean {
	return CODE.has(extname(file));
}

/** Whether a file is run here although it isn't the project's, since what it imports may be: code outside of packages. */
export function isEvaluated(file: string): boolean {
	return isCode(file) && !/[\\/]node_modules[\\/]/.test(file);
}

interface Loaded {
	readonly module: { exports: unknown };
	/** Where its code may wait: the promise of its end. */
	done: unknown;
	/** The modules that its code waits for. */
	readonly waitsFor: Set<Loaded>;
}

/**
 * Runs a project's files, each from the very bytes that were checked: nothing of the project is read a second time (but
 * a native addon, which the system loads), and nothing runs that `check` has not let pass. Code that isn't the project's
 * runs here as well, so that what it imports is checked; a package from elsewhere goes through jiti.
 */
export class ProjectModules {
	readonly #jiti: Jiti;
	readonly #virtual: VirtualModules;
	readonly #own: (file: string) => string | undefined;
	readonly #check: (file: string, content: Content) => void;
	readonly #loaded = new Map<string, Loaded>();

	constructor(options: {
		readonly jiti: Jiti;
		readonly virtualModules: VirtualModules;
		/** The one name of a file of the project; undefined for any other file. */
		readonly own: (file: string) => string | undefined;
		/** Throws where the file must not run as it is. */
		readonly check: (file: string, content: Content) => void;
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
		const content = readOnce(file);
		this.#check(file, content);
		const loaded: Loaded = { module: { exports: {} }, done: undefined, waitsFor: new Set() };
		this.#loaded.set(file, loaded);
		// Before its code runs, which may import the importer.
		importer?.waitsFor.add(loaded);
		try {
			this.#fill(loaded, { file, source: withoutMark(Buffer.from(content.bytes).toString("utf8")), isAsync });
		} catch (error) {
			// Who imports it next gets the error again, not what it had exported by then.
			this.#loaded.delete(file);
			throw error;
		}
		return loaded;
	}

	#fill(loaded: Loaded, code: Code): void {
		const extension = extname(code.file);
		if (extension === ".json") loaded.module.exports = parseJson(code);
		else if (extension === ".node") loaded.module.exports = createRequire(code.file)(code.file);
		else loaded.done = this.#run(code, loaded);
	}

	/** Runs a file's code: to its end, or where it may wait to the promise of it. */
	#run(code: Code, loaded: Loaded): unknown {
		const { file } = code;
		const body = asCommonJs(code) ?? functionOf({ ...code, source: toScript(this.#jiti, code) });
		const { module } = loaded;
		return body.call(
			module.exports,
			module.exports,
			Object.assign((id: string) => this.#require(id, file), { resolve: createRequire(file).resolve }),
			module,
			file,
			dirname(file),
			(id: string) => this.#importFrom(id, file, loaded),
			(id: string) => this.#jiti.esmResolve(id, pathToFileURL(file).href),
		);
	}

	async #importFrom(id: string, from: string, importer: Loaded): Promise<unknown> {
		if (Object.hasOwn(this.#virtual, id)) return namespaceOf(this.#virtual[id]);
		const file = resolveImport(this.#jiti, id, from) ?? id;
		const evaluated = this.#evaluated(file);
		if (evaluated === undefined) return this.#jiti.import(file);
		const imported = this.#open(evaluated, { isAsync: true, importer });
		// In a circle the code gets what the other has exported so far, as modules do.
		if (reaches(imported, importer)) return imported.module.exports;
		importer.waitsFor.add(imported);
		await imported.done;
		importer.waitsFor.delete(imported);
		return imported.module.exports;
	}

	#require(id: string, from: string): unknown {
		if (Object.hasOwn(this.#virtual, id)) return namespaceOf(this.#virtual[id]);
		const file = resolveImport(this.#jiti, id, from) ?? id;
		const evaluated = this.#evaluated(file);
		if (evaluated === undefined) return createRequire(from)(file);
		return this.#open(evaluated, { isAsync: false }).module.exports;
	}

	/** The one name of a file that is run here; undefined for one that is not, and for what is no file. */
	#evaluated(file: string): string | undefined {
		if (!isAbsolute(file)) return undefined;
		return this.#own(file) ?? (isEvaluated(file) ? file : undefined);
	}
}

/** What a CommonJS module may use, and what takes the place of an ES module's imports. */
const PARAMETERS = "exports, require, module, __filename, __dirname, jitiImport, jitiESMResolve";

type Body = (this: unknown, ...args: readonly unknown[]) => unknown;

/** Code as the body of a function, which is async where it may wait. Throws on a syntax error. */
function functionOf({ file, source, isAsync }: Code): Body {
	const wrapped = `(${isAsync ? "async " : ""}function (${PARAMETERS}) {${source}\n})`;
	return new Script(wrapped, { filename: file }).runInThisContext();
}

/** JavaScript that imports only by `require`, just as it is: packages are large, and translating one takes seconds. */
function asCommonJs(code: Code): Body | undefined {
	if (!/\.c?js$/.test(code.file) || /\bimport\b/.test(withoutCommentLines(code.source))) return undefined;
	try {
		return functionOf({ ...code, source: code.source.replace(/^#!.*/, ""), isAsync: false });
	} catch {
		// An ES module after all, or broken code, of which the translation knows the place.
		return undefined;
	}
}

/** The types in comments speak of imports. */
function withoutCommentLines(source: string): string {
	return source.replace(/^[ \t]*(?:\*|\/\*\*|\/\/).*$/gm, "");
}

function parseJson({ file, source }: Code): unknown {
	try {
		return JSON.parse(source);
	} catch (error) {
		throw new SyntaxError(`${file}: ${(error as Error).message}`);
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
