import { type QpAttr, QpState, SendFlags, Syndrome, WcOpcode, WcStatus } from '../../ibta/index.js';
import { ICRC_BYTES, ipUdpHeaderBytes, opcodeHeaderBytes } from '../../wire/index.js';
import { CopyStatus } from '../memory/copying/foreign-memory.js';
import { copyBytes } from '../memory/copying/word-copy.js';
import type { NicCore } from '../nic-core.js';
import type { FailedRequest, QpContext } from '../queue-pairs/qp-context.js';
import { PendingWork } from '../queue-pairs/turns.js';
import { flushStatus, sgeTotal } from '../queues/work-queue.js';
import { Cqe, SendWqe } from '../rings/layout.js';
import { Pacer } from './pacer.js';

/** What a service calls each request that it has in its completion, by `WrOpcode`. */
export type CompletionNames = readonly ({ readonly wcOpcode: number } | undefined)[];

/**
 * The send queue of a service that nobody acknowledges: a request is complete once it was handed to the link
 * (protocol/services.md 3.1), so the oldest one is always the one that is worked on. One that fails takes the QP to SQE, and those
 * behind it are flushed; the receive queue goes on (protocol/reliable.md 2.10).
 */
export class UnacknowledgedQueue {
  /** Bytes of the message last measured. */
  lengthBytes = 0;
  readonly #pacer = new Pacer();
  readonly #detail = new Int32Array(Cqe.DETAIL_WORDS);

  constructor(
    private readonly qp: QpContext,
    private readonly core: NicCore,
    private readonly names: CompletionNames,
  ) {}

  /** Begins sending, at the rate that the attributes name, if they name one. */
  start(): void {
    this.onAttributes(this.qp.attr);
  }

  onAttributes({ rateLimit }: Partial<QpAttr>): void {
    if (rateLimit !== undefined && rateLimit !== this.#pacer.rateKbps) this.limitRate(rateLimit);
  }

  /** `man ibv_modify_qp_rate_limit`; see {@link Pacer.limit}. */
  limitRate(rateKbps: number, maxBurstBytes?: number, typicalPacketBytes?: number): void {
    const { core, qp } = this;
    this.#pacer.limit(core.nowUs, rateKbps, maxBurstBytes, typicalPacketBytes);
    core.schedule(qp, PendingWork.SENDING);
  }

  /** Whether the rate lets a packet go now. When not, the QP's timer is set for when it does. */
  mayLeave(): boolean {
    const { core, qp } = this;
    const waitUs = this.#pacer.waitUs(core.nowUs);
    if (waitUs === 0) return true;
    core.timers.arm(qp.timerId, core.nowUs + waitUs);
    return false;
  }

  /** A packet with so many bytes of payload leaves: all of it, from its IP header to its ICRC, counts for the rate. */
  spendPacket(ipv6: boolean, opcode: number, payloadBytes: number): void {
    const padBytes = -payloadBytes & 3;
    this.spend(ipUdpHeaderBytes(ipv6) + opcodeHeaderBytes[opcode] + payloadBytes + padBytes + ICRC_BYTES);
  }

  spend(lengthBytes: number): void {
    this.#pacer.spend(lengthBytes);
  }

  /** The rate lets the next packet go. */
  onTimer(): void {
    this.core.schedule(this.qp, PendingWork.SENDING);
  }

  /**
   * Finds the length of the message that the entry at word `entry` describes, and checks the memory that it lies in.
   *
   * @returns false when the request failed for it
   */
  measure(entry: number, maxBytes: number): boolean {
    const { qp, core } = this;
    const { words, maxSge } = qp.sq;
    const control = words[entry + SendWqe.CONTROL];
    const numSge = (control >>> 16) & 0xff;
    if ((control & (SendFlags.INLINE << 8)) !== 0) {
      this.lengthBytes = words[entry + SendWqe.INLINE_BYTES];
      if (this.lengthBytes < 0 || this.lengthBytes > qp.maxInlineBytes) return this.refuse(entry);
    } else {
      if (numSge > maxSge) return this.refuse(entry);
      const { mover } = core;
      this.lengthBytes = sgeTotal(words, entry + SendWqe.DATA, numSge);
      if (!mover.check(words, entry + SendWqe.DATA, numSge, qp.pd, 0))
        return this.fail(WcStatus.LOC_PROT_ERR, mover.syndrome, mover.detail);
    }
    if (this.lengthBytes <= maxBytes) return true;
    return this.failWith(WcStatus.LOC_LEN_ERR, Syndrome.LOCAL_MESSAGE_TOO_LONG, this.lengthBytes, maxBytes);
  }

  /**
   * Copies `lengthBytes` of the message that the entry at word `entry` describes, from `begin` on.
   *
   * @returns false when the packet cannot leave now: its memory will say when it can; or the request failed, for its memory was
   *   deregistered since it was measured, or is not there
   */
  gather(entry: number, begin: number, target: Uint8Array, targetOffset: number, lengthBytes: number): boolean {
    const { sq, pd } = this.qp;
    const control = sq.words[entry + SendWqe.CONTROL];
    const data = entry + SendWqe.DATA;
    if ((control & (SendFlags.INLINE << 8)) !== 0) {
      copyBytes(target, targetOffset, sq.bytes, 4 * data + begin, lengthBytes);
      return true;
    }
    const { mover } = this.core;
    const numSge = (control >>> 16) & 0xff;
    const { words, head } = sq;
    const gathered = mover.gather(words, data, numSge, pd, begin, target, targetOffset, lengthBytes, this.qp, head);
    if (gathered === CopyStatus.FAILED) this.fail(WcStatus.LOC_PROT_ERR, mover.syndrome, mover.detail);
    return gathered === CopyStatus.READY;
  }

  /** Completes the oldest request: all of it was handed to the link. */
  succeed(lengthBytes: number): void {
    this.#complete(WcStatus.SUCCESS, lengthBytes, Syndrome.NONE, undefined);
  }

  /** Fails the oldest request, which makes no sense on this service. @returns false */
  refuse(entry: number): false {
    const control = this.qp.sq.words[entry + SendWqe.CONTROL];
    return this.failWith(WcStatus.LOC_QP_OP_ERR, Syndrome.LOCAL_BAD_WQE, control & 0xff, (control >>> 16) & 0xff);
  }

  /** As {@link fail}, with two numbers that say why. */
  failWith(status: WcStatus, syndrome: Syndrome, a: number, b: number): false {
    const detail = this.#detail.fill(0);
    detail[0] = a;
    detail[1] = b;
    return this.fail(status, syndrome, detail);
  }

  /** Ends the oldest request with an error, and sending with it. @returns false */
  fail(status: WcStatus, syndrome: Syndrome, detail: Int32Array): false {
    this.qp.enterSendQueueError({ half: 'sending', status, syndrome, detail });
    return false;
  }

  completeFailed({ status, syndrome, detail }: FailedRequest): void {
    this.#complete(status, 0, syndrome, detail);
  }

  flush(cause: Syndrome): void {
    const { qp } = this;
    const detail = this.#detail.fill(0);
    detail[0] = qp.state === QpState.SQE ? QpState.SQE : QpState.ERR;
    detail[1] = cause;
    for (let left = qp.sq.count; left > 0 && qp.sq.has(qp.sq.head); left -= 1)
      this.#complete(flushStatus(cause), 0, Syndrome.FLUSHED, detail);
  }

  reset(): void {
    this.#pacer.reset();
  }

  /** Retires first: a program that sees the completion may post into the slot at once. */
  #complete(status: WcStatus, byteLen: number, syndrome: Syndrome, detail: Int32Array | undefined): void {
    const { qp } = this;
    const { sq } = qp;
    const entry = sq.entry(sq.head);
    const control = sq.words[entry + SendWqe.CONTROL];
    const wrIdLo = sq.words[entry + SendWqe.WR_ID_LO];
    const wrIdHi = sq.words[entry + SendWqe.WR_ID_HI];
    const wcOpcode = this.names[control & 0xff]?.wcOpcode ?? WcOpcode.SEND;
    const success = status === WcStatus.SUCCESS;
    if (success && wcOpcode === WcOpcode.SEND) this.core.counters.rdmaSends += 1;
    sq.retire((sq.head + 1) | 0);
    if (success && !qp.sqSigAll && (control & (SendFlags.SIGNALED << 8)) === 0) return;
    sq.publish();
    qp.sendCq.push(wrIdLo, wrIdHi, status, wcOpcode, byteLen, 0, qp.qpn, 0, 0, false, syndrome, detail);
  }
}
