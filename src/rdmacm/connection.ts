import { CmEventType } from '../spec/index.js';
import {
  invalid,
  type Mr,
  type Pd,
  type Qp,
  type RegistrableMemory,
  VerbsError,
  type WorkCompletion,
} from '../verbs/index.js';
import type { FullAddress } from './address.js';
import type { CmId } from './cm-id.js';
import type { EventChannel } from './event-channel.js';

/** How long `close` waits for the peer to hear of it. It repeats itself some hundred times as long (PROTOCOL.md 4.4). */
const FAREWELL_MS = 2000;

const ENDINGS: readonly CmEventType[] = [
  CmEventType.DISCONNECTED,
  CmEventType.REJECTED,
  CmEventType.DEVICE_REMOVAL,
  CmEventType.TIMEWAIT_EXIT,
];

/** A connection that is there: what `connect` and `ConnectionRequest.accept` give. */
export class Connection implements AsyncDisposable, Disposable {
  readonly qp: Qp;
  readonly pd: Pd;
  readonly localAddress: FullAddress;
  readonly remoteAddress: FullAddress;
  /** Resolves once the connection has ended, whoever ended it. Never rejects. */
  readonly closed: Promise<void>;
  #hasEnded = false;
  #disposed = false;

  /** `connect` and `ConnectionRequest.accept` make connections for programs. */
  constructor(
    readonly id: CmId,
    private readonly channel: EventChannel,
    /** What the peer said when it connected or accepted, with zeros at its end. */
    readonly privateData: Uint8Array,
  ) {
    const { qp, pd, localAddr, peerAddr } = id;
    if (qp === undefined || pd === undefined || localAddr === undefined || peerAddr === undefined)
      throw new VerbsError('rdma_connect', invalid('the identifier is not connected'));
    this.qp = qp;
    this.pd = pd;
    this.localAddress = localAddr;
    this.remoteAddress = peerAddr;
    this.closed = this.#watch();
  }

  /** Registers memory for messages, access LOCAL_WRITE. @throws VerbsError as `Pd.regMr` */
  regMsgs(memory: RegistrableMemory): Mr {
    return this.id.regMsgs(memory);
  }

  /** Registers memory that the peer may read. @throws VerbsError as `Pd.regMr` */
  regRead(memory: RegistrableMemory): Mr {
    return this.id.regRead(memory);
  }

  /** Registers memory that the peer may write. @throws VerbsError as `Pd.regMr` */
  regWrite(memory: RegistrableMemory): Mr {
    return this.id.regWrite(memory);
  }

  /** The next completion of a send request. Otherwise as `CmId.nextSendComp`. */
  sendComp(signal?: AbortSignal): Promise<WorkCompletion> {
    return this.id.nextSendComp(signal);
  }

  /**
   * The next completion of a receive request. Otherwise as `CmId.nextRecvComp`. When the peer ends the connection,
   * requests that are posted complete with WR_FLUSH_ERR; where none is posted, wait for {@link closed} as well.
   */
  recvComp(signal?: AbortSignal): Promise<WorkCompletion> {
    return this.id.nextRecvComp(signal);
  }

  /**
   * Ends the connection: disconnects, waits until the peer has heard of it, but not for ever, and ends the queue pair,
   * its completion queues and the identifier. Memory regions are the program's own. Idempotent.
   */
  async close(): Promise<void> {
    if (this.#disposed) return;
    if (!this.#hasEnded) {
      this.#part();
      await this.#farewell();
    }
    this[Symbol.dispose]();
  }

  /** {@link close}. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Ends everything at once, without waiting for the peer. */
  [Symbol.dispose](): void {
    if (this.#disposed) return;
    this.#disposed = true;
    this.id[Symbol.dispose]();
    this.channel[Symbol.dispose]();
  }

  /** Follows what happens to the connection until it ends. */
  async #watch(): Promise<void> {
    for await (const event of this.channel) {
      event.ack();
      if (!ENDINGS.includes(event.event)) continue;
      this.#hasEnded = true;
      // The peer waits for an answer; and what is still posted here is to be told.
      if (event.event === CmEventType.DISCONNECTED) this.#part();
      return;
    }
  }

  #part(): void {
    try {
      this.id.disconnect();
    } catch (error) {
      // A device that is gone has nobody to part from.
      if (!(error instanceof VerbsError)) throw error;
    }
  }

  async #farewell(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const patience = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, FAREWELL_MS);
    });
    await Promise.race([this.closed, patience]);
    clearTimeout(timer);
  }
}
