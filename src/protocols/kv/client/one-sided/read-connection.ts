import { type CmId, connect as connectByCm, type Connection, RefusedError } from '../../../../api/rdmacm/index.js';
import { type Qp, VerbsError } from '../../../../api/verbs/index.js';
import type { Engine, SendListener } from '../../../core/index.js';
import { MessageQueue } from '../../transport/message-queue.js';
import { decodeRefusal, encodeReaderOffer, type ReaderOffer, RefusalCode } from '../../wire/index.js';
import type { Where } from '../establish.js';

/** A READ on its way. */
export interface Read {
  readonly rkey: number;
  readonly addr: bigint;
  /** It is there, or never will be: then the connection is lost. */
  readonly done: (isThere: boolean) => void;
}

/** Memory where what is read is put. */
export interface Landing {
  readonly bytes: Uint8Array;
  readonly addr: number;
  readonly lkey: number;
}

/** A reliable connection by which a client reads, and nothing else. The first READ that fails is its last. */
export class ReadConnection implements SendListener<Read> {
  readonly #reads: MessageQueue<Read>;
  #connection: Connection | undefined;
  #isLost = false;
  #hasEnded = false;

  private constructor(engine: Engine, qp: Qp, depth: number) {
    this.#reads = new MessageQueue(engine, qp, depth, describeRead, this);
  }

  /**
   * Asks a server for one. When that fails, nothing is left of it.
   *
   * @param depth READs that may be on their way
   * @throws (the promise rejects) VerbsError EOPNOTSUPP when the server has no memory to read; otherwise as `connect` of the root
   */
  static async open(engine: Engine, where: Where, offer: ReaderOffer, depth: number): Promise<ReadConnection> {
    let made: ReadConnection | undefined;
    const createQp = (id: CmId): void => {
      // Of a name with several addresses, the one before led to nobody.
      made?.end();
      const { cq, pd } = engine;
      const cap = { maxSendWr: depth, maxRecvWr: 1, maxSendSge: 1, maxRecvSge: 1 };
      made = new ReadConnection(engine, id.createQp(pd, { sendCq: cq, recvCq: cq, sqSigAll: true, cap }), depth);
    };
    // What the callback did is not seen by the compiler.
    const connectionMade = (): ReadConnection | undefined => made;
    try {
      const connection = await connectByCm({ ...where, createQp, privateData: encodeReaderOffer(offer) });
      const reads = connectionMade();
      if (reads === undefined) throw new Error('verbena: internal error: a connection without a queue pair');
      reads.#use(connection);
      return reads;
    } catch (error) {
      connectionMade()?.end();
      throw refusalOf(error);
    }
  }

  /** Whether nothing can be read any more. */
  get isLost(): boolean {
    return this.#isLost;
  }

  /** Begins to read. @returns false when there is no way: then it is not told any more */
  read(read: Read, landing: Landing, length: number): boolean {
    return !this.#isLost && this.#reads.move(landing, length, read);
  }

  /** Ends it: what is on its way is told that it will not be there. Idempotent. */
  end(): void {
    this.#isLost = true;
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#connection?.[Symbol.dispose]();
    this.#reads.destroyed();
  }

  onDone(read: Read | undefined): void {
    read?.done(true);
  }

  onFailed(read: Read | undefined): void {
    this.#isLost = true;
    read?.done(false);
  }

  onRefused(): void {
    this.#isLost = true;
  }

  #use(connection: Connection): void {
    this.#connection = connection;
    void connection.closed.then(() => (this.#isLost = true));
  }
}

function describeRead(qp: Qp, { rkey, addr }: Read): void {
  qp.wrRdmaRead(rkey, addr);
}

function refusalOf(error: unknown): unknown {
  if (!(error instanceof RefusedError)) return error;
  // A server before there were readers does not know what is asked.
  const code = decodeRefusal(error.privateData)?.code;
  if (code !== RefusalCode.ONE_SIDED && code !== RefusalCode.PROTOCOL) return error;
  const message = 'the server does not have its memory read by clients';
  return new VerbsError(
    'connect',
    { errno: 'EOPNOTSUPP', message, advice: 'Serve it with oneSided (--one-sided), or leave that out here' },
    { cause: error },
  );
}
