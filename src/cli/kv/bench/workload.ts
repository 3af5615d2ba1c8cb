import type { Chooser } from './distributions.js';

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

/** What is asked for. */
export interface WorkloadSetup {
  readonly keys: number;
  readonly chooser: Chooser;
  /** Of 100 requests, how many set a value; the others get one. */
  readonly putPercent: number;
  readonly leastValueBytes: number;
  readonly mostValueBytes: number;
  readonly random: () => number;
}

/** As long as those of HERD. */
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
