/**
 * A generator of pseudo-random numbers that gives the same sequence for the same seed on every machine: xoshiro128**
 * by Blackman and Vigna (https://prng.di.unimi.it), its state filled by splitmix32.
 *
 * Not for keys: an observer of some of its numbers can compute the rest.
 */
export class SeededRandom {
  #a: number;
  #b: number;
  #c: number;
  #d: number;

  /** @param seed - its low 32 bits choose the sequence */
  constructor(seed: number) {
    let state = seed | 0;
    const mix = (): number => {
      state = (state + 0x9e3779b9) | 0;
      let z = state ^ (state >>> 16);
      z = Math.imul(z, 0x21f0aaad);
      z ^= z >>> 15;
      z = Math.imul(z, 0x735a2d97);
      return z ^ (z >>> 15);
    };
    this.#a = mix();
    this.#b = mix();
    this.#c = mix();
    // A state of all zeros would stay there for ever.
    this.#d = mix() | 1;
  }

  /** 32 bits as a number from 0 to 2^32 - 1. Bound to the instance, so that it can be handed on as a function. */
  readonly u32 = (): number => {
    const scrambled = Math.imul(this.#b, 5);
    const result = Math.imul((scrambled << 7) | (scrambled >>> 25), 9);
    const t = this.#b << 9;
    this.#c ^= this.#a;
    this.#d ^= this.#b;
    this.#b ^= this.#c;
    this.#a ^= this.#d;
    this.#c ^= t;
    this.#d = (this.#d << 11) | (this.#d >>> 21);
    return result >>> 0;
  };

  /** A number from 0 (included) to 1 (excluded), in steps of 2^-32. */
  fraction(): number {
    return this.u32() / 2 ** 32;
  }

  /** Whole number from 0 to `bound - 1`; `bound` from 1 to 2^32. */
  below(bound: number): number {
    return Math.floor(this.fraction() * bound);
  }

  /** Whole number from `low` to `high`, both included. */
  between(low: number, high: number): number {
    return low + this.below(high - low + 1);
  }

  /** True once in `1 / probability` calls. A probability of 0 draws no number, so that perfect links stay cheap. */
  chance(probability: number): boolean {
    return probability > 0 && this.fraction() < probability;
  }

  pick<T>(items: readonly [T, ...T[]] | readonly T[]): T {
    if (items.length === 0) throw new RangeError('nothing to pick from');
    return items[this.below(items.length)];
  }
}
