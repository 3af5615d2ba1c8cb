import { check } from '../../../../../test/sim/failure.js';

/** Where the word is that atomics are for. */
export const WORD_BYTES = 8;
const MODULUS = 2n ** 64n;

/**
 * What the server's part of memory holds that is one client's. An access that was taken back, or failed, has happened or has not; what
 * it was about is unsure until the next one that happens for certain.
 */
export class MemoryBook {
  readonly #bytes: Uint8Array;
  readonly #isUnsure: Uint8Array;
  #words = new Set([0n]);

  constructor(
    private readonly name: string,
    bytes: number,
  ) {
    this.#bytes = new Uint8Array(bytes);
    this.#isUnsure = new Uint8Array(bytes);
  }

  written(offset: number, bytes: Uint8Array, isCertain: boolean): void {
    this.#bytes.set(bytes, offset);
    this.#isUnsure.fill(isCertain ? 0 : 1, offset, offset + bytes.length);
  }

  read(offset: number, bytes: Uint8Array): void {
    for (let i = 0; i < bytes.length; i += 1) {
      if (this.#isUnsure[offset + i] === 1) continue;
      check(
        bytes[i] === this.#bytes[offset + i],
        () => `${this.name}: byte ${offset + i} was read as ${bytes[i]}, and is ${this.#bytes[offset + i]}`,
      );
    }
  }

  /** A value that the word may have. */
  get word(): bigint {
    const [first] = this.#words;
    return first;
  }

  added(value: bigint, found: bigint | undefined): void {
    this.#changed(found, (word) => (word + value) % MODULUS);
  }

  swapped(compare: bigint, swap: bigint, found: bigint | undefined): void {
    this.#changed(found, (word) => (word === compare ? swap : word));
  }

  /** @param found what was there; undefined when it is not known whether it happened at all */
  #changed(found: bigint | undefined, change: (word: bigint) => bigint): void {
    if (found === undefined) {
      this.#words = new Set([...this.#words, ...[...this.#words].map(change)]);
      return;
    }
    check(
      this.#words.has(found),
      () => `${this.name}: the word was found to be ${found}, and is one of ${[...this.#words].join(', ')}`,
    );
    this.#words = new Set([change(found)]);
  }
}
