import { createRing } from '../../../../device/nic/index.js';
import { Microtask } from '../../../../api/runtime/index.js';

/** Bytes that a device keeps by default: the rings of about 64 streams of `verbena/rsocket`. */
const SPARE_BYTES = 8 * 1024 * 1024;

/**
 * The rings of destroyed queue pairs, for those that are made next. V8 frees shared memory late, since it does not know its size: in a
 * program with a connection for each request, the rings of ended connections were a third of the memory.
 */
export class SpareRings {
  readonly #byLength = new Map<number, ArrayBufferLike[]>();
  readonly #returned: ArrayBufferLike[] = [];
  readonly #clearing = new Microtask(() => this.#clear());
  #bytes = 0;

  /**
   * @param shared whether the NIC is in another thread
   * @param limit bytes that are kept; the garbage collector frees the others
   */
  constructor(
    readonly shared: boolean,
    readonly limit: number = SPARE_BYTES,
  ) {}

  /** Bytes that are kept now. */
  get bytes(): number {
    return this.#bytes;
  }

  take(bytes: number): ArrayBufferLike {
    const spare = this.#byLength.get(bytes);
    const memory = spare?.pop();
    if (spare === undefined || memory === undefined) return createRing(bytes, this.shared);
    if (spare.length === 0) this.#byLength.delete(bytes);
    this.#bytes -= bytes;
    return memory;
  }

  /**
   * Takes a ring back, of which the NIC has let go. It becomes available in a microtask: an accessor of a request may destroy the queue
   * pair during a post, and the post still writes to the ring then.
   */
  give(memory: ArrayBufferLike): void {
    if (this.#bytes + memory.byteLength > this.limit) return;
    this.#bytes += memory.byteLength;
    this.#returned.push(memory);
    this.#clearing.queue();
  }

  #clear(): void {
    for (const memory of this.#returned.splice(0)) {
      new Uint8Array(memory).fill(0);
      const spare = this.#byLength.get(memory.byteLength);
      if (spare === undefined) this.#byLength.set(memory.byteLength, [memory]);
      else spare.push(memory);
    }
  }
}
