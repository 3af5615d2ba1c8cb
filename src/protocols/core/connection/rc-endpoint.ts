import type { CmId, Connection } from '../../../api/rdmacm/index.js';
import type { Cq, Qp, VerbsError } from '../../../api/verbs/index.js';
import type { Lease } from '../memory/buffer-pool.js';
import { type Receiver, ReceiveQueue } from '../memory/receive-queue.js';
import type { Engine } from '../progress/engine.js';
import type { Hold } from '../progress/loop-progress.js';
import { type SendListener, SendQueue } from '../progress/send-queue.js';

/**
 * The state of an {@link RcEndpoint}. It only moves to the right, and may skip states.
 *
 * - `connecting`: the queue pair and its receives exist; the peer may send already.
 * - `open`: both directions work.
 * - `draining`: nothing more is sent or delivered; adapters may still work on requests in flight.
 * - `closed`: the queue pair was destroyed; neither the NIC nor the peer reaches the memory of this end.
 */
export type RcState = 'connecting' | 'open' | 'draining' | 'closed';

/** The queues of an {@link RcEndpoint}. */
export interface RcQueues {
  /** Named in messages about leaks. */
  readonly owner: string;
  readonly sends: number;
  /** Receives that are posted at once. */
  readonly receives: number;
  /** Receives that may be posted later. Default {@link receives}. */
  readonly maxReceives?: number;
  /** Bytes of the buffer of a receive. */
  readonly bufferBytes: number;
  /** Buffers that must be left in the pool, so that something can be sent. Default 0. */
  readonly spare?: number;
  readonly inlineBytes: number;
  readonly maxSendSge: number;
}

/** One end of a reliable connection: its queue pair, its queues, and its state. A protocol derives its end from it. */
export abstract class RcEndpoint<T> implements SendListener<T>, Receiver {
  protected readonly qp: Qp;
  protected readonly sends: SendQueue<T>;
  protected readonly receives: ReceiveQueue;
  protected connection: Connection | undefined;
  readonly #hold: Hold;
  readonly #deferred: (() => void)[] = [];
  #state: RcState = 'connecting';
  /** It ended before its connection came, which {@link attach} ends. */
  #endsAtOnce = false;

  /** @throws VerbsError ENOMEM when there is no room, EIO when the device was lost; then nothing is left but the queue pair, which is the identifier's */
  constructor(
    readonly engine: Engine,
    id: CmId,
    { owner, sends, receives, maxReceives = receives, bufferBytes, spare = 0, inlineBytes, maxSendSge }: RcQueues,
  ) {
    const cap = { maxSendWr: sends, maxRecvWr: maxReceives, maxSendSge, maxRecvSge: 1, maxInlineData: inlineBytes };
    this.qp = id.createQp(engine.pd, { sendCq: engine.cq, recvCq: engine.cq, cap });
    this.sends = new SendQueue(engine, this.qp, sends, this, owner);
    this.receives = new ReceiveQueue(engine, this.qp, this, { bytes: bufferBytes, owner, spare });
    try {
      this.receives.deepenNow(receives);
    } catch (error) {
      this.sends.destroyed();
      this.receives.end();
      throw error;
    }
    this.#hold = engine.hold();
  }

  get state(): RcState {
    return this.#state;
  }

  /** Whether something may still be sent or delivered. */
  get isActive(): boolean {
    return this.#state === 'connecting' || this.#state === 'open';
  }

  ref(): void {
    this.#hold.ref();
    this.connection?.ref();
  }

  unref(): void {
    this.#hold.unref();
    this.connection?.unref();
  }

  /** The queue pair was destroyed. Idempotent. */
  destroyed(): void {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    this.sends.destroyed();
    this.receives.end();
    this.#runDeferred();
    this.#hold.release();
  }

  abstract onDone(kept: T | undefined, lease: Lease | undefined): void;
  abstract onFailed(kept: T | undefined, lease: Lease | undefined, cq: Cq | undefined): void;
  abstract onRefused(error: VerbsError): void;
  abstract onMessage(slot: number, bytes: Uint8Array, cq: Cq): void;
  abstract onReceiveError(cq: Cq): void;

  onReceiveRefused(error: VerbsError): void {
    this.onRefused(error);
  }

  /** The connection has ended. Everything that completed before was handled. */
  protected abstract onDisconnected(): void;

  protected attach(connection: Connection): void {
    this.connection = connection;
    if (this.#endsAtOnce) this.disposeSoon();
    void connection.closed.then(() => {
      this.engine.readAll(() => this.isActive);
      this.onDisconnected();
    });
  }

  /** Moves to `open`, and runs what was deferred. */
  protected opened(): void {
    if (this.#state === 'connecting') this.#state = 'open';
    this.#runDeferred();
  }

  /** Runs `action` once the endpoint is open or closed. @returns false when it is not connecting, and `action` is the caller's to run */
  protected defer(action: () => void): boolean {
    if (this.#state === 'connecting') this.#deferred.push(action);
    return this.#state === 'connecting';
  }

  /** Moves to `draining`. @returns false when it was draining or closed before */
  protected drain(): boolean {
    const { isActive } = this;
    if (isActive) this.#state = 'draining';
    return isActive;
  }

  /**
   * Moves to `draining`, and in a microtask disposes of the connection, which destroys the queue pair, and of this end. Until the queue
   * pair is destroyed its receives keep their buffers: the peer can still write there. So an end without a connection waits for it;
   * where none comes, `establish` destroys the queue pair and calls {@link destroyed}.
   */
  protected disposeSoon(): void {
    this.drain();
    const { connection } = this;
    this.#endsAtOnce = connection === undefined;
    if (connection === undefined) return;
    queueMicrotask(() => {
      connection[Symbol.dispose]();
      this.destroyed();
    });
  }

  #runDeferred(): void {
    for (const action of this.#deferred.splice(0)) action();
  }
}
