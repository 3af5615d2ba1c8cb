/** Choices of a fuzzer, all from one seed (xorshift128). */
export class Choices {
  #a: number;
  #b = 0x9e3779b9 | 0;
  #c = 0x243f6a88 | 0;
  #d = 0xb7e15162 | 0;

  constructor(seed: number) {
    this.#a = seed | 0;
    for (let i = 0; i < 16; i += 1) this.u32();
  }

  /** 32 bits, signed. */
  readonly u32 = (): number => {
    let t = this.#d;
    const s = this.#a;
    this.#d = this.#c;
    this.#c = this.#b;
    this.#b = s;
    t ^= t << 11;
    t ^= t >>> 8;
    this.#a = t ^ s ^ (s >>> 19);
    return this.#a;
  };

  /** A whole number from 0 to `n - 1`. */
  below(n: number): number {
    return (this.u32() >>> 0) % n;
  }

  /** True `percent` times in a hundred. */
  chance(percent: number): boolean {
    return this.below(100) < percent;
  }

  of<T>(list: readonly T[]): T {
    return list[this.below(list.length)];
  }
}
