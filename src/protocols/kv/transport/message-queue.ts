import { type Qp, VerbsError } from '../../../api/verbs/index.js';
import { type Engine, type Lease, type SendListener, SendQueue } from '../../core/index.js';
import { INLINE_BYTES, OWNER } from './link.js';

/** Sends messages by one queue pair: short ones inline, others from the pool. Every request is signaled. */
export class MessageQueue<T> extends SendQueue<T> {
  /** @param describe tells the queue pair's builder what a request is, and where it goes */
  constructor(
    engine: Engine,
    qp: Qp,
    depth: number,
    private readonly describe: (qp: Qp, to: T, bytes: Uint8Array) => void,
    listener: SendListener<T>,
  ) {
    super(engine, qp, depth, listener, OWNER);
  }

  /** Sends a copy of a message. @returns false without {@link room} */
  send(bytes: Uint8Array, to: T): boolean {
    const isInline = bytes.length <= INLINE_BYTES;
    if (this.room === 0) return false;
    const lease = isInline ? undefined : this.#lease(bytes.length);
    if (lease === undefined && !isInline) return false;
    lease?.bytes.set(bytes);
    const qp = this.begin(to, lease, true);
    if (qp === undefined) return false;
    this.describe(qp, to, bytes);
    if (lease === undefined) qp.wrSetInlineData(bytes);
    else qp.wrSetSge(lease.lkey, lease.addr, bytes.length);
    this.end();
    return true;
  }

  /** Posts a request for memory of the caller. @returns false without {@link room} */
  move({ bytes, addr, lkey }: Pick<Lease, 'bytes' | 'addr' | 'lkey'>, length: number, to: T): boolean {
    const qp = this.room === 0 ? undefined : this.begin(to, undefined, true);
    if (qp === undefined) return false;
    this.describe(qp, to, bytes);
    qp.wrSetSge(lkey, addr, length);
    this.end();
    return true;
  }

  #lease(bytes: number): Lease | undefined {
    try {
      return this.engine.pool.tryLease(bytes, OWNER);
    } catch (error) {
      // The device was lost.
      if (!(error instanceof VerbsError)) throw error;
      this.listener.onRefused(error);
      return undefined;
    }
  }
}
