import { alloc } from '../../../api/provider/index.js';

/** Bytes that lie ready by default: what 64 streams of default size have. */
const SPARE_BYTES = 16 * 1024 * 1024;

/**
 * Memory of connections that have ended, for those that begin. The garbage collector frees shared memory late, as it does not know how large it is: with a connection
 * for each request, most of a program's memory was that of ended connections.
 */
export class SpareMemory {
  readonly #byLength = new Map<number, Uint8Array[]>();
  #bytes = 0;

  /** @param limit bytes that may lie ready; memory beyond that is left to the garbage collector */
  constructor(readonly limit: number = SPARE_BYTES) {}

  /** Bytes that lie ready. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Memory as of `alloc`, all zeros. @throws VerbsError ENOMEM */
  take(length: number): Uint8Array {
    const spare = this.#byLength.get(length);
    const memory = spare?.pop();
    if (spare === undefined || memory === undefined) return alloc(length);
    if (spare.length === 0) this.#byLength.delete(length);
    this.#bytes -= length;
    return memory;
  }

  /**
   * Takes memory of {@link take} back, and clears it. Its regions are deregistered, the queue pairs that could reach it destroyed, and no program has a view of it: what
   * the next connection has there would be seen through that.
   */
  give(memory: Uint8Array): void {
    const { length } = memory;
    if (this.#bytes + length > this.limit) return;
    memory.fill(0);
    const spare = this.#byLength.get(length);
    if (spare === undefined) this.#byLength.set(length, [memory]);
    else spare.push(memory);
    this.#bytes += length;
  }
}
