import type { BufferPool, Lease } from '../../core/index.js';

/** Buffers of the pool for one endpoint. Where there is none it waits its turn, and then gets that one, whoever else waits: those who would let it go to ask anew could do so for ever. */
export class Leases {
  #stopAwaiting: (() => void) | undefined;
  /** What its turn has brought. */
  #brought: Lease | undefined;

  /** @param onRoom is told when its turn has come */
  constructor(
    private readonly pool: BufferPool,
    private readonly owner: string,
    private readonly onRoom: () => void,
  ) {}

  /** @returns undefined when there is none now: it is told when there is */
  take(bytes: number): Lease | undefined {
    const brought = this.#brought;
    if (brought !== undefined && brought.capacity >= bytes) {
      this.#brought = undefined;
      return brought;
    }
    const lease = this.pool.tryLease(bytes, this.owner);
    if (lease === undefined)
      this.#stopAwaiting ??= this.pool.whenFree(bytes, this.owner, (later) => this.#onTurn(later));
    return lease;
  }

  /** It needs no more. Idempotent. */
  end(): void {
    this.#stopAwaiting?.();
    this.#stopAwaiting = undefined;
  }

  #drop(): void {
    this.#brought?.release();
    this.#brought = undefined;
  }

  #onTurn(lease: Lease): void {
    this.#stopAwaiting = undefined;
    this.#brought = lease;
    this.onRoom();
    this.#drop();
  }
}
