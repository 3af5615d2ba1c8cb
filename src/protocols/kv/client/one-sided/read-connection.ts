import { connect as connectByCm, type Connection, RefusedError } from '../../../../api/rdmacm/index.js';
import { type Qp, VerbsError } from '../../../../api/verbs/index.js';
import { type Engine, establish, type SendListener, SendQueue } from '../../../core/index.js';
import { OWNER } from '../../transport/link.js';
import { postFor } from '../../transport/send-copy.js';
import { decodeRefusal, encodeReaderOffer, type ReaderOffer, RefusalCode } from '../../wire/index.js';
import type { ConnectTarget } from '../establish.js';

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
  readonly #reads: SendQueue<Read>;
  #connection: Connection | undefined;
  #isLost = false;
  #hasEnded = false;

  private constructor(engine: Engine, qp: Qp, depth: number) {
    this.#reads = new SendQueue(engine, qp, depth, this, OWNER);
  }

  /**
   * Asks a server for one. When that fails, nothing is left of it.
   *
   * @param depth READs that may be on their way
   * @throws (the promise rejects) VerbsError EOPNOTSUPP when the server has no memory to read; otherwise as `connect` of the root
   */
  static open(engine: Engine, where: ConnectTarget, offer: ReaderOffer, depth: number): Promise<ReadConnection> {
    const { cq, pd } = engine;
    const cap = { maxSendWr: depth, maxRecvWr: 1, maxSendSge: 1, maxRecvSge: 1 };
    const privateData = encodeReaderOffer(offer);
    const made = establish(
      (id) => new ReadConnection(engine, id.createQp(pd, { sendCq: cq, recvCq: cq, sqSigAll: true, cap }), depth),
      (createQp) => connectByCm({ ...where, createQp, privateData }),
      (reads, connection) => {
        reads.#use(connection);
        return reads;
      },
    );
    return made.catch((error: unknown) => {
      throw refusalOf(error);
    });
  }

  /** Whether nothing can be read any more. */
  get isLost(): boolean {
    return this.#isLost;
  }

  /** Begins to read. @returns false when there is no way: then it is not told any more */
  read(read: Read, landing: Landing, length: number): boolean {
    return !this.#isLost && postFor(this.#reads, landing, length, read, describeRead);
  }

  /** Ends it: what is on its way is told that it will not be there. Idempotent. */
  end(): void {
    this.#isLost = true;
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#connection?.[Symbol.dispose]();
    this.#reads.destroyed();
  }

  destroyed(): void {
    this.end();
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
