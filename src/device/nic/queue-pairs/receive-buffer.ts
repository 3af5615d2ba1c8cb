import { assert, QpState, Syndrome, WcOpcode, type WcStatus } from '../../ibta/index.js';
import type { CopyStatus } from '../memory/copying/foreign-memory.js';
import type { NicCore } from '../nic-core.js';
import type { CompletionQueue } from '../queues/completion-queue.js';
import type { SharedReceiveQueue } from '../queues/shared-receive-queue.js';
import { flushStatus, nextCapacity, receiveSges, sgeTotal } from '../queues/work-queue.js';
import { RecvWqe } from '../rings/layout.js';
import type { FailedRequest, QpContext } from './qp-context.js';

/** A request that was not taken: nothing here refers to a ring that another queue pair may have by then. */
const NO_WORDS: Int32Array = new Int32Array(0);

/**
 * Where a responder puts what it receives: one request at a time is taken, filled and completed. It comes from the QP's
 * own receive queue, from the shared one that the QP was made with, or from the one that an XRC request names.
 */
export class ReceiveBuffer {
  /** Whether a request was taken and is not complete. It stays so when a message that began to fill it is dropped. */
  taken = false;
  /** Bytes that the request has room for. */
  capacity = 0;

  /** The request is at #words[#entry]: in the QP's own ring, or in a copy of what a shared queue had. */
  #words = NO_WORDS;
  #entry = 0;
  #numSge = 0;
  #copy: Int32Array | undefined;
  #srq: SharedReceiveQueue | undefined;
  #cq: CompletionQueue;
  #cause: Syndrome = Syndrome.NONE;

  constructor(
    private readonly qp: QpContext,
    private readonly core: NicCore,
  ) {
    this.#srq = qp.srq;
    this.#cq = qp.recvCq;
    if (qp.srq !== undefined) this.#copy = new Int32Array(qp.srq.entryWords);
  }

  /** The protection domain whose memory peers may use and requests may name. */
  get pd(): number {
    return this.#srq?.pd ?? this.qp.pd;
  }

  /** Whether its completions go there. A shared queue that is gone has none to come. */
  completesTo(cq: CompletionQueue): boolean {
    return this.#cq === cq && this.#srq?.destroyed !== true;
  }

  reset(): void {
    this.taken = false;
    this.#words = NO_WORDS;
  }

  /**
   * Chooses the shared queue that XRC requests go to until another is chosen (protocol/services.md 3.3).
   *
   * @returns why it cannot be: XRC_SRQ when the QP's domain has none of that number, or a message is open that goes to
   *   another; SRQ_UNUSABLE when it failed; otherwise NONE
   */
  choose(srqn: number, messageOpen: boolean): Syndrome {
    const chosen = this.#srq;
    if (chosen?.srqn === srqn && !chosen.destroyed) return chosen.failed ? Syndrome.SRQ_UNUSABLE : Syndrome.NONE;
    if (this.taken || messageOpen) return Syndrome.XRC_SRQ;
    const srq = this.core.xrcSrq(srqn, this.qp.xrcd);
    if (srq?.cq === undefined) return Syndrome.XRC_SRQ;
    if (srq.failed) return Syndrome.SRQ_UNUSABLE;
    this.#srq = srq;
    this.#cq = srq.cq;
    if (this.#copy === undefined || this.#copy.length < srq.entryWords) this.#copy = new Int32Array(srq.entryWords);
    return Syndrome.NONE;
  }

  /** Bytes that the request has room for which {@link take} would give, or -1 when there is none. Takes nothing. */
  get nextCapacity(): number {
    if (this.taken) return this.capacity;
    return this.#srq?.nextCapacity ?? nextCapacity(this.qp.rq);
  }

  /** Takes the oldest request; false when there is none. */
  take(): boolean {
    if (this.taken) return true;
    const srq = this.#srq;
    const { rq } = this.qp;
    if (srq === undefined) {
      if (!rq.has(rq.head)) return false;
      this.#words = rq.words;
      this.#entry = rq.entry(rq.head);
    } else {
      assert(this.#copy !== undefined, 'a shared queue without room for what it gives');
      if (!srq.take(this.#copy)) return false;
      this.#words = this.#copy;
      this.#entry = 0;
    }
    this.#numSge = receiveSges(this.#words, this.#entry, srq?.maxSge ?? rq.maxSge);
    this.capacity = sgeTotal(this.#words, this.#entry + RecvWqe.DATA, this.#numSge);
    this.taken = true;
    return true;
  }

  /**
   * Puts `lengthBytes` of a packet where `messageOffset` of the message belongs; the mover tells why it could not.
   *
   * @param ends the message ends with it, and is all in memory when this is READY
   */
  scatter(
    messageOffset: number,
    source: Uint8Array,
    sourceOffset: number,
    lengthBytes: number,
    ends: boolean,
  ): CopyStatus {
    return this.core.mover.scatter(
      this.#words,
      this.#entry + RecvWqe.DATA,
      this.#numSge,
      this.pd,
      messageOffset,
      source,
      sourceOffset,
      lengthBytes,
      this.qp,
      'requests',
      ends,
    );
  }

  /** Completes the request taken. `srcQp` is the peer's QP. */
  complete(
    status: WcStatus,
    opcode: WcOpcode,
    byteLen: number,
    immData: number,
    wcFlags: number,
    solicited: boolean,
    syndrome: Syndrome,
    detail: Int32Array | undefined,
    srcQp = this.qp.destQpn,
  ): void {
    assert(this.taken, 'a receive request completes that was not taken');
    const { qp } = this;
    const wrIdLo = this.#words[this.#entry + RecvWqe.WR_ID_LO];
    const wrIdHi = this.#words[this.#entry + RecvWqe.WR_ID_HI];
    this.taken = false;
    // A destroyed queue pair completes nothing any more; its completion queue may be gone as well.
    if (this.#srq?.destroyed === true) return;
    if (this.#srq === undefined) {
      // The slot is free before the program can see the completion, and is not read after.
      qp.rq.retire((qp.rq.head + 1) | 0);
      qp.rq.publish();
    }
    this.#cq.push(
      wrIdLo,
      wrIdHi,
      status,
      opcode,
      byteLen,
      immData,
      qp.qpn,
      srcQp,
      wcFlags,
      solicited,
      syndrome,
      detail,
    );
  }

  completeFailed({ status, syndrome, detail }: FailedRequest): void {
    this.complete(status, WcOpcode.RECV, 0, 0, 0, true, syndrome, detail);
  }

  /** Completes as flushed what the QP has: all of its own queue, of a shared one what it has taken (protocol/services.md 3.4). */
  flush(cause: Syndrome): void {
    const { detail } = this.core;
    detail.fill(0);
    detail[0] = QpState.ERR;
    detail[1] = cause;
    this.#cause = cause;
    if (this.#srq === undefined) {
      this.taken = false;
      for (let left = this.qp.rq.count; left > 0 && this.take(); left -= 1) this.#flushTaken();
    } else if (this.taken) {
      this.#flushTaken();
    }
  }

  #flushTaken(): void {
    const status = flushStatus(this.#cause);
    this.complete(status, WcOpcode.RECV, 0, 0, 0, false, Syndrome.FLUSHED, this.core.detail);
  }
}
