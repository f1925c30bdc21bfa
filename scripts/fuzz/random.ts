/** Numbers that depend on a seed alone. */
export class Random {
	#state: number;

	constructor(seed: number) {
		this.#state = seed >>> 0;
	}

	/** From 0 up to, without, 1. */
	next(): number {
		this.#state = (this.#state + 0x6d2b79f5) >>> 0;
		let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
		mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
	}

	/** A whole number from 0 up to, without, `below`. */
	below(below: number): number {
		return Math.floor(this.next() * below);
	}

	chance(share: number): boolean {
		return this.next() < share;
	}

	pick<T>(items: readonly T[]): T {
		return items[this.below(items.length)] as T;
	}

	/** One of the items, each as often as its weight says. */
	weighted<T>(items: readonly (readonly [weight: number, item: T])[]): T {
		let left = this.next() * items.reduce((sum, [weight]) => sum + weight, 0);
		for (const [weight, item] of items) {
			left -= weight;
			if (left < 0) return item;
		}
		return items[0]?.[1] as T;
	}
}
