import { alloc } from '../../../api/provider/index.js';
import { type Body, isOnePiece } from '../wire/index.js';

/** Shorter bodies come along with their heads, unless their senders want it otherwise. */
const LEAST_BYTES = 16_384;
/** Memory of longer ones is not kept: all else that is done with these takes longer than to make it. */
const MOST_BYTES = 4 << 20;
/** Memory that waits for the next body. */
const KEPT_BYTES = 16 << 20;

/**
 * Memory for long bodies for which the program names none. Memory that adapters reach is expensive to make (the kernel clears a mapping, and
 * a region is registered), so released memory is used again.
 */
export class ReceiveBufferPool {
  /** By size, each twice the one before it. */
  readonly #idle: Uint8Array[][] = [];
  /** The memory that bodies lie in which programs have. */
  readonly #lent = new WeakMap<Uint8Array, Uint8Array>();
  #idleBytes = 0;

  constructor() {
    for (let bytes = LEAST_BYTES; bytes <= MOST_BYTES; bytes *= 2) this.#idle.push([]);
  }

  /** Bytes that wait for the next body. */
  get idleBytes(): number {
    return this.#idleBytes;
  }

  /** Memory for a body, exactly so long. What is in it is anything. */
  lend(bodyBytes: number): Uint8Array {
    if (bodyBytes > MOST_BYTES) return alloc(bodyBytes);
    const size = sizeOf(bodyBytes);
    const memory = this.#idle[size].pop();
    if (memory !== undefined) this.#idleBytes -= memory.length;
    const lent = memory ?? alloc(LEAST_BYTES << size);
    const body = lent.subarray(0, bodyBytes);
    this.#lent.set(body, lent);
    return body;
  }

  /** The program is done with a body; any that lies elsewhere is let be. Nothing may come into it any more. */
  giveBack(body: Body): void {
    if (!isOnePiece(body)) return;
    const memory = this.#lent.get(body);
    if (memory === undefined) return;
    this.#lent.delete(body);
    if (this.#idleBytes + memory.length > KEPT_BYTES) return;
    this.#idleBytes += memory.length;
    this.#idle[sizeOf(memory.length)].push(memory);
  }
}

function sizeOf(bytes: number): number {
  let size = 0;
  while (LEAST_BYTES << size < bytes) size += 1;
  return size;
}
