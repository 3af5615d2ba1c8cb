import { assert } from '../../../../device/ibta/index.js';
import type { BufferPool, Lease } from '../../../core/index.js';
import { INLINE_BYTES } from './hello.js';

/** Buffers that frames are made in. Where the pool has none, it says so, and tells when there is one. */
export class FrameBuffers {
  /** What is sent inline, by its length: the same bytes again and again. */
  readonly #inline: readonly Uint8Array[];
  #spare: Lease | undefined;
  #stopWaiting: (() => void) | undefined;
  #hasEnded = false;

  constructor(
    private readonly pool: BufferPool,
    private readonly bytes: number,
    private readonly owner: string,
    /** There is a buffer. */
    private readonly onSupply: () => void,
  ) {
    const scratch = new Uint8Array(INLINE_BYTES);
    this.#inline = Array.from({ length: INLINE_BYTES + 1 }, (_, length) => scratch.subarray(0, length));
  }

  /** Whether {@link take} may be called. */
  get isThere(): boolean {
    if (this.#spare !== undefined) return true;
    this.#spare = this.pool.tryLease(this.bytes, this.owner);
    if (this.#spare === undefined)
      this.#stopWaiting ??= this.pool.whenFree(this.bytes, this.owner, (lease) => {
        this.#stopWaiting = undefined;
        if (this.#hasEnded || this.#spare !== undefined) lease.release();
        else this.#spare = lease;
        this.onSupply();
      });
    return this.#spare !== undefined;
  }

  /** A buffer, which is the caller's to release. */
  take(): Lease {
    const lease = this.#spare;
    assert(lease !== undefined, 'a frame is made where there is no buffer for it');
    this.#spare = undefined;
    return lease;
  }

  inline(length: number): Uint8Array {
    return this.#inline[length];
  }

  /** Idempotent. */
  end(): void {
    this.#hasEnded = true;
    this.#stopWaiting?.();
    this.#spare?.release();
    this.#spare = undefined;
  }
}
