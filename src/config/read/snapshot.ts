import { isPlainObject } from "./block.ts";

/**
 * A copy of a config's plain objects and lists, so that it can be frozen and nobody else changes it; anything else is
 * taken as it is. Where a value holds itself, the inner one is left out. Throws where a getter does.
 */
export function snapshot(value: unknown, within: readonly unknown[] = []): unknown {
	const inner = [...within, value];
	const isOuter = (held: unknown) => typeof held === "object" && held !== null && inner.includes(held);
	if (Array.isArray(value)) return value.filter((item) => !isOuter(item)).map((item) => snapshot(item, inner));
	if (!isPlainObject(value)) return value;
	return Object.fromEntries(
		Object.entries(value).flatMap(([key, held]) => (isOuter(held) ? [] : [[key, snapshot(held, inner)]])),
	);
}

/** Freezes plain objects and lists through and through. */
export function deepFreeze<T>(value: T): T {
	if (!(Array.isArray(value) || isPlainObject(value)) || Object.isFrozen(value)) return value;
	Object.freeze(value);
	for (const part of Object.values(value)) deepFreeze(part);
	return value;
}
