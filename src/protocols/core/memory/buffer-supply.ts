import type { BufferPool, Lease } from './buffer-pool.js';

/**
 * Buffers of the pool for what one end sends. While the pool has none, the end waits its turn, and the buffer of its turn is kept for it: an end
 * that returned the buffer to ask again could starve.
 */
export class BufferSupply {
  #spare: Lease | undefined;
  #stopWaiting: (() => void) | undefined;

  /** @param onSupply called when there is a buffer after {@link take} or {@link has} found none; the buffer goes back when it returns */
  constructor(
    private readonly pool: BufferPool,
    private readonly owner: string,
    private readonly onSupply: () => void,
  ) {}

  /** @returns undefined while the pool has none */
  take(bytes: number): Lease | undefined {
    if (!this.has(bytes)) return undefined;
    const lease = this.#spare;
    this.#spare = undefined;
    return lease;
  }

  /** Whether {@link take} gives a buffer, which is kept until then. */
  has(bytes: number): boolean {
    if (this.#spare !== undefined && this.#spare.capacity >= bytes) return true;
    this.#drop();
    this.#spare = this.pool.tryLease(bytes, this.owner);
    if (this.#spare !== undefined) return true;
    this.#stopWaiting ??= this.pool.whenFree(bytes, this.owner, (lease) => {
      this.#stopWaiting = undefined;
      this.#drop();
      this.#spare = lease;
      this.onSupply();
      this.#drop();
    });
    return false;
  }

  /** Nothing is sent any more. Idempotent. */
  end(): void {
    this.#stopWaiting?.();
    this.#stopWaiting = undefined;
    this.#drop();
  }

  #drop(): void {
    this.#spare?.release();
    this.#spare = undefined;
  }
}
