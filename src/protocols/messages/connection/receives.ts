import type { BufferPool, Lease, Requests } from '../../core/index.js';
import { type Qp, VerbsError } from '../../../api/verbs/index.js';

/** The receive queue of a connection: as many buffers of the pool as its window, posted or held by the program. */
export class Receives {
  readonly #leases: (Lease | undefined)[] = [];

  constructor(
    private readonly qp: Qp,
    private readonly requests: Requests,
    private readonly pool: BufferPool,
    private readonly bufferBytes: number,
    private readonly owner: string,
  ) {}

  /** Posts up to so many more. @returns how many: fewer where pool or completion queue have no room */
  widen(count: number): number {
    let added = 0;
    for (; added < count; added += 1) {
      const lease = this.pool.tryLease(this.bufferBytes, this.owner);
      if (lease === undefined) break;
      try {
        this.requests.resize(this.requests.limit + 1);
      } catch (error) {
        lease.release();
        if (error instanceof VerbsError && error.errno === 'ENOMEM') break;
        throw error;
      }
      this.#leases.push(lease);
      this.post(this.#leases.length - 1);
    }
    return added;
  }

  /** Posts one again whose message was taken. @throws VerbsError when the device is gone */
  post(index: number): void {
    const lease = this.#leases[index];
    if (lease === undefined) return;
    // Cookies below zero are those of receives.
    const wrId = this.requests.expect(~index);
    try {
      this.qp.postRecvSge(wrId, lease.lkey, lease.addr, this.bufferBytes);
    } catch (error) {
      this.requests.forget(wrId);
      throw error;
    }
  }

  /** The message that has come into one. */
  bytes(index: number, byteLength: number): Uint8Array {
    return this.#leases[index]?.bytes.subarray(0, byteLength) ?? new Uint8Array(0);
  }

  /** Gives a buffer back to the pool for good. */
  release(index: number): void {
    const lease = this.#leases[index];
    this.#leases[index] = undefined;
    lease?.release();
  }
}
