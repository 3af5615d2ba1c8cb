import { QpState, Syndrome, WcOpcode, WcStatus } from '../../spec/index.js';
import { Cqe, RecvWqe } from '../layout.js';
import type { NicCore } from '../nic-core.js';
import type { QueuePair } from '../queue-pair.js';
import { sgeTotal } from './work-queue.js';

/** The receive queue as the responder uses it: one entry at a time is filled and completed. */
export class ReceiveBuffer {
  /** Whether an entry was taken for the message that is being received. */
  taken = false;
  /** Bytes that the entry has room for. */
  capacity = 0;
  #entry = 0;
  readonly #detail = new Int32Array(Cqe.DETAIL_WORDS);

  constructor(
    private readonly qp: QueuePair,
    private readonly core: NicCore,
  ) {}

  reset(): void {
    this.taken = false;
  }

  /** Takes the oldest entry; false when there is none. */
  take(): boolean {
    const { rq } = this.qp;
    if (this.taken) return true;
    if (!rq.has(rq.head)) return false;
    this.#entry = rq.entry(rq.head);
    this.capacity = sgeTotal(rq.words, this.#entry + RecvWqe.DATA, this.#numSge);
    this.taken = true;
    return true;
  }

  /** Puts `lengthBytes` of a packet where `messageOffset` of the message belongs; the mover tells why it could not. */
  scatter(messageOffset: number, source: Uint8Array, sourceOffset: number, lengthBytes: number): boolean {
    const { qp, core } = this;
    const data = this.#entry + RecvWqe.DATA;
    return core.mover.scatter(qp.rq.words, data, this.#numSge, qp.pd, messageOffset, source, sourceOffset, lengthBytes);
  }

  /** Completes the entry taken. */
  complete(
    status: WcStatus,
    opcode: WcOpcode,
    byteLen: number,
    immData: number,
    wcFlags: number,
    solicited: boolean,
    syndrome: Syndrome,
    detail: Int32Array | undefined,
  ): void {
    const { qp } = this;
    const { words } = qp.rq;
    const wrIdLo = words[this.#entry + RecvWqe.WR_ID_LO];
    const wrIdHi = words[this.#entry + RecvWqe.WR_ID_HI];
    this.taken = false;
    // The slot is free before the program can see the completion, and is not read after.
    qp.rq.retire((qp.rq.head + 1) | 0);
    qp.rq.publish();
    qp.recvCq.push(
      wrIdLo,
      wrIdHi,
      status,
      opcode,
      byteLen,
      immData,
      qp.qpn,
      qp.destQpn,
      wcFlags,
      solicited,
      syndrome,
      detail,
    );
  }

  /** Completes every entry as flushed. */
  flush(cause: Syndrome): void {
    this.#detail[0] = QpState.ERR;
    this.#detail[1] = cause;
    this.taken = false;
    while (this.take())
      this.complete(WcStatus.WR_FLUSH_ERR, WcOpcode.RECV, 0, 0, 0, false, Syndrome.FLUSHED, this.#detail);
  }

  /** A driver may claim more entries than fit; it gets as many as fit. */
  get #numSge(): number {
    const { rq } = this.qp;
    return Math.min(rq.words[this.#entry + RecvWqe.NUM_SGE] >>> 0, rq.maxSge);
  }
}
