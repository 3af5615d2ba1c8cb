import type { KeyHash } from './key-hash.js';

export const Cause = {
  EXPIRED: 1,
  DELETED: 2,
  /** It was among the oldest, and the memory was full. */
  EVICTED: 3,
  CROWDED_OUT: 4,
} as const;
export type Cause = (typeof Cause)[keyof typeof Cause];

/** Records which keys were removed, when and why. The hash of a key chooses its only place, so a newer key may replace an older one. */
export class TombstoneTable {
  readonly #hashes: Int32Array;
  /** By place. A time that is handed on would be an object to V8, so whoever records one writes it here. */
  readonly whenMs: Float64Array;
  readonly #causes: Uint8Array;
  readonly #mask: number;

  /** @param room a power of two */
  constructor(room: number) {
    this.#hashes = new Int32Array(2 * room);
    this.whenMs = new Float64Array(room);
    this.#causes = new Uint8Array(room);
    this.#mask = room - 1;
  }

  /** The key that was hashed last has gone. @returns its place */
  record({ low, high }: KeyHash, cause: Cause): number {
    const place = low & this.#mask;
    this.#hashes[2 * place] = low;
    this.#hashes[2 * place + 1] = high;
    this.#causes[place] = cause;
    return place;
  }

  /** How the key that was hashed last has gone. `other`: in its place another key stands, so it may have. */
  of({ low, high }: KeyHash): { readonly cause: Cause; readonly whenMs: number } | 'other' | undefined {
    const place = low & this.#mask;
    const cause = this.#causes[place];
    if (!isCause(cause)) return undefined;
    if (this.#hashes[2 * place] !== low || this.#hashes[2 * place + 1] !== high) return 'other';
    return { cause, whenMs: this.whenMs[place] };
  }
}

function isCause(cause: number): cause is Cause {
  return cause !== 0;
}
