/** Chooses keys by their numbers, from 0 up to how many there are. */
export type Chooser = () => number;

export function uniform(keys: number, random: () => number): Chooser {
  return () => Math.floor(random() * keys);
}

/**
 * The key of number i - 1 in proportion to 1 / i^theta: few keys are asked for often, and most seldom. By the method of Gray, Sundaresan, Englert, Baclawski and
 * Weinberger, "Quickly generating billion-record synthetic databases", SIGMOD 1994, figure 8, which YCSB has as well.
 *
 * @param theta 0 to 1, without 1; YCSB and HERD have 0.99
 */
export function zipf(keys: number, theta: number, random: () => number): Chooser {
  const zetaOfKeys = zeta(keys, theta);
  const alpha = 1 / (1 - theta);
  const eta = (1 - (2 / keys) ** (1 - theta)) / (1 - zeta(Math.min(2, keys), theta) / zetaOfKeys);
  const second = 1 + 0.5 ** theta;
  return () => {
    const u = random();
    const share = u * zetaOfKeys;
    if (share < 1 || keys === 1) return 0;
    if (share < second || keys === 2) return 1;
    return Math.min(keys - 1, Math.floor(keys * (eta * u - eta + 1) ** alpha));
  };
}

/** The sum of 1 / i^theta for i from 1 to n. */
export function zeta(n: number, theta: number): number {
  let sum = 0;
  for (let i = 1; i <= n; i += 1) sum += 1 / i ** theta;
  return sum;
}

/** Numbers that a seed gives, evenly spread, from 0 up to 1 and without it: SplitMix32 (Steele, Lea and Flood, OOPSLA 2014, of 32 bits). */
export function seededRandom(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x9e3779b9) | 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
  };
}

export interface WorkloadSetup {
  readonly keys: number;
  readonly chooser: Chooser;
  /** Of 100 requests, how many set a value; the others get one. */
  readonly putPercent: number;
  readonly leastValueBytes: number;
  readonly mostValueBytes: number;
  readonly random: () => number;
}

const KEY_BYTES = 16;
const PREFIX = 'key:';

/** Gives requests, one after the other. */
export class Workload {
  readonly #setup: WorkloadSetup;
  readonly #keys: readonly Uint8Array[];
  readonly #bytes: Uint8Array;

  constructor(setup: WorkloadSetup) {
    this.#setup = setup;
    this.#keys = Array.from({ length: setup.keys }, (_, n) =>
      Buffer.from(PREFIX + String(n).padStart(KEY_BYTES - PREFIX.length, '0')),
    );
    this.#bytes = Uint8Array.from({ length: setup.mostValueBytes }, () => Math.floor(setup.random() * 256));
  }

  get keys(): readonly Uint8Array[] {
    return this.#keys;
  }

  key(): Uint8Array {
    return this.#keys[this.#setup.chooser()];
  }

  isPut(): boolean {
    const { putPercent, random } = this.#setup;
    return random() * 100 < putPercent;
  }

  value(): Uint8Array {
    const { leastValueBytes, mostValueBytes, random } = this.#setup;
    if (leastValueBytes === mostValueBytes) return this.#bytes;
    const length = leastValueBytes + Math.floor(random() * (mostValueBytes - leastValueBytes + 1));
    return this.#bytes.subarray(0, length);
  }
}
