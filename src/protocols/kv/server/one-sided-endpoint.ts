import { AccessFlags } from '../../../device/ibta/index.js';
import type { CmId, ConnectionRequest } from '../../../api/rdmacm/index.js';
import type { Mr, Pd } from '../../../api/verbs/index.js';
import type { Engine } from '../../core/index.js';
import type { Session } from '../protocol/index.js';
import type { Partition } from '../store/index.js';
import type { Layout, ReadableMemory } from '../wire/index.js';

/** What a server posts by the queue pair of a reader: nothing. */
const CAP = { maxSendWr: 1, maxRecvWr: 1, maxSendSge: 1, maxRecvSge: 1 };

/**
 * Lets clients read the memory of a store by RDMA READ. Readers have separate connections, whose queue pairs are in a protection domain that
 * holds only the store, for READs only. So no key that a client knows reaches other memory through them, and no other queue pair reaches the store.
 */
export class OneSidedEndpoint {
  readonly #pd: Pd;
  readonly #regions: readonly Mr[];
  readonly #layout: Omit<Layout, 'nowMs'>;
  #readers = 0;
  #hasEnded = false;
  readonly #leave = new Set<() => void>();

  /** @throws VerbsError as `Context.allocPd` and `Pd.regMr` */
  constructor(
    private readonly engine: Engine,
    { memory, bucketMemory, seed }: Partition,
  ) {
    if (seed === undefined) throw new Error('verbena: internal error: a store whose hash nobody else can know');
    this.#pd = engine.context.allocPd();
    const regions: Mr[] = [];
    this.#regions = regions;
    try {
      for (const bytes of [bucketMemory, memory]) regions.push(this.#pd.regMr(bytes, AccessFlags.REMOTE_READ));
    } catch (error) {
      this.#release();
      throw error;
    }
    const [buckets, entries] = regions;
    this.#layout = { buckets: readable(buckets), entries: readable(entries), seed };
  }

  get readers(): number {
    return this.#readers;
  }

  layout(nowMs: number): Layout {
    return { ...this.#layout, nowMs };
  }

  /** Has the client of a session read, until its connection or its session ends; one that it had before ends. */
  async admit(request: ConnectionRequest, session: Session): Promise<void> {
    session.endReader?.();
    let leave: () => void = () => undefined;
    const isOver = new Promise<void>((resolve) => (leave = resolve));
    session.endReader = leave;
    this.#leave.add(leave);
    this.#readers += 1;
    const { cq } = this.engine;
    const createQp = (id: CmId): void => void id.createQp(this.#pd, { sendCq: cq, recvCq: cq, cap: CAP });
    try {
      using connection = await request.accept({ createQp });
      await Promise.race([connection.closed, isOver]);
    } finally {
      if (session.endReader === leave) session.endReader = undefined;
      this.#leave.delete(leave);
      this.#readers -= 1;
      if (this.#hasEnded && this.#readers === 0) this.#release();
    }
  }

  /** Ends it, and the connections of its readers. Idempotent. */
  end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    for (const leave of this.#leave) leave();
    // Nobody reads any more, also before the connections have ended.
    for (const region of this.#regions) region[Symbol.dispose]();
    if (this.#readers === 0) this.#release();
  }

  #release(): void {
    for (const region of this.#regions) region[Symbol.dispose]();
    this.#pd[Symbol.dispose]();
  }
}

function readable({ iova, rkey, bytes }: Mr): ReadableMemory {
  return { addr: iova, rkey, bytes: bytes.byteLength };
}
