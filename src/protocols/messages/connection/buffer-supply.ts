import type { BufferPool, Lease } from '../../core/index.js';

/** Buffers of the pool for what is posted next. Where the pool has none, it says so, and tells when there is one. */
export class BufferSupply {
  /** One that was kept for this. */
  #spare: Lease | undefined;
  #stopWaiting: (() => void) | undefined;

  constructor(
    private readonly pool: BufferPool,
    private readonly owner: string,
    /** There is a buffer: what waited for it is to be posted before this returns. */
    private readonly onSupply: () => void,
  ) {}

  /** @returns undefined while the pool has none; `onSupply` is called when it has */
  take(bytes: number): Lease | undefined {
    const spare = this.#spare;
    this.#spare = undefined;
    if (spare !== undefined && spare.capacity >= bytes) return spare;
    spare?.release();
    const lease = this.pool.tryLease(bytes, this.owner);
    if (lease === undefined)
      this.#stopWaiting ??= this.pool.whenFree(bytes, this.owner, (given) => {
        this.#stopWaiting = undefined;
        this.#spare = given;
        this.onSupply();
        this.#drop();
      });
    return lease;
  }

  /** Nothing is posted any more. Idempotent. */
  end(): void {
    this.#stopWaiting?.();
    this.#drop();
  }

  #drop(): void {
    this.#spare?.release();
    this.#spare = undefined;
  }
}
