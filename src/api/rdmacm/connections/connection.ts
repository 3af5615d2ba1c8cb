import { CmEventType } from '../../../device/ibta/index.js';
import { after } from '../../provider/index.js';
import { type Cq, invalid, type Pd, type Qp, type Srq, VerbsError, type WorkCompletion } from '../../verbs/index.js';
import type { FullAddress } from '../addresses/address.js';
import { resourcesOf } from '../identifiers/cm-id.js';
import type { CmIdResources } from '../identifiers/cm-id-resources.js';
import type { Completions } from '../calls/completions.js';
import { Messages } from '../calls/messages.js';
import { queueOf } from '../events/event-channel.js';
import type { CmId, EventChannel } from '../objects.js';

const CALL = 'rdma_get_cm_event';

/** How long `close` waits for the peer to hear of it. It repeats itself some hundred times as long (protocol/connections.md 4.4). */
const FAREWELL_MS = 2000;

const ENDINGS: readonly CmEventType[] = [
  CmEventType.DISCONNECTED,
  CmEventType.REJECTED,
  CmEventType.DEVICE_REMOVAL,
  CmEventType.TIMEWAIT_EXIT,
];

/**
 * A connection that is there: what `connect` and `ConnectionRequest.accept` give. As a socket of Node's does, it keeps the
 * process alive until it ends, or {@link unref} is called. A process that ends by itself or by `process.exit` ends its connections; one that a signal
 * ends does not, unless a handler of that signal calls `process.exit`.
 */
export class Connection extends Messages implements AsyncDisposable, Disposable {
  /** This end's. */
  readonly localAddress: FullAddress;
  /** The peer's. */
  readonly remoteAddress: FullAddress;
  /** Resolves once the connection has ended, on either side. Never rejects. */
  readonly closed: Promise<void>;
  readonly #resources: CmIdResources;
  readonly #qp: Qp;
  readonly #pd: Pd;
  #hasEnded = false;
  #disposed = false;

  /** `connect` and `ConnectionRequest.accept` make connections for programs. */
  constructor(
    readonly id: CmId,
    private readonly channel: EventChannel,
    /** What the peer said when it connected or accepted, with zeros at its end. */
    readonly privateData: Uint8Array,
  ) {
    super();
    const { localAddr, peerAddr } = id;
    if (id.qp === undefined || localAddr === undefined || peerAddr === undefined)
      throw new VerbsError('rdma_connect', invalid('the identifier is not connected'));
    this.#resources = resourcesOf(id);
    this.#qp = id.qp;
    this.#pd = id.qp.pd;
    this.localAddress = localAddr;
    this.remoteAddress = peerAddr;
    this.closed = this.#watch();
  }

  /** The queue pair. It ends with the connection. */
  get qp(): Qp {
    return this.#qp;
  }

  /** The domain of the queue pair. */
  get pd(): Pd {
    return this.#pd;
  }

  get srq(): Srq | undefined {
    return this.#resources.srq;
  }

  get sendCq(): Cq | undefined {
    return this.#resources.sends?.cq;
  }

  get recvCq(): Cq | undefined {
    return this.#resources.receives?.cq;
  }

  /** The next completion of a send request. Another name of `nextSendComp`. */
  sendComp(signal?: AbortSignal): Promise<WorkCompletion> {
    return this.nextSendComp(signal);
  }

  /**
   * The next completion of a receive request: another name of `nextRecvComp`. When the peer ends the connection,
   * requests that are posted complete with WR_FLUSH_ERR; where none is posted, wait for {@link closed} as well.
   */
  recvComp(signal?: AbortSignal): Promise<WorkCompletion> {
    return this.nextRecvComp(signal);
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

  protected get sendCompletions(): Completions | undefined {
    return this.#resources.sends;
  }

  protected get recvCompletions(): Completions | undefined {
    return this.#resources.receives;
  }

  /** Follows what happens to the connection until it ends. */
  /** Has the connection keep the process alive while it lasts, as at first; one of a simulation never does. Idempotent. */
  ref(): this {
    return this.#refer(true);
  }

  /** Lets the process end while the connection lasts; whoever waits for a completion keeps it alive all the same. Idempotent. */
  unref(): this {
    return this.#refer(false);
  }

  #refer(isReferenced: boolean): this {
    if (!this.#disposed) queueOf(this.channel, CALL).reference(isReferenced);
    return this;
  }

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
    let stopTimer: (() => void) | undefined;
    const patience = new Promise<void>((resolve) => {
      stopTimer = after(this.#qp.context, FAREWELL_MS, resolve);
    });
    await Promise.race([this.closed, patience]);
    stopTimer?.();
  }
}
