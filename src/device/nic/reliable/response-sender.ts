import { AccessFlags, assert, psnAdd, psnDiff, Syndrome } from '../../ibta/index.js';
import { Aeth, aethOffset, atomicAckOffset, NakCode, Opcode, writeAeth } from '../../wire/index.js';
import { CopyStatus } from '../memory/copying/foreign-memory.js';
import type { RemoteGrant } from '../memory/remote-grant.js';
import type { NicCore } from '../nic-core.js';
import type { QpContext } from '../queue-pairs/qp-context.js';
import { PendingWork, packetCost, TransmitResult } from '../queue-pairs/turns.js';
import { refusalOf } from './memory-refusals.js';
import type { ResponderResource } from './responder-resources.js';

/** A credit code that says "no end-to-end flow control" (protocol/packets.md 1.4). */
export const ACK_SYNDROME = Aeth.ACK | Aeth.CREDITS_NOT_IN_USE;

/** FLUSHes that may wait to be answered, and that are remembered: rxe does not count them in `max_rd_atomic` (protocol/reliable.md 2.5). */
export const MAX_FLUSHES = 128;

/** Whom a sender tells that what it was to read has gone. */
interface Refuses {
  refuseRead(psn: number, again: boolean, syndrome: Syndrome): void;
}

/** One READ, or other request with an answer of its own, that waits for it. */
class Job {
  atomic = false;
  flush = false;
  /** Whether it answers a request that was answered before. */
  again = false;
  serial = 0;
  psn = 0;
  packets = 0;
  /** What each of them carries, but the last. */
  segmentBytes = 0;
  sent = 0;
  /** What a READ reads; undefined for an answer without data. */
  grant: RemoteGrant | undefined;
  offset = 0;
  lengthBytes = 0;
  msn = 0;
  readonly answer = new Uint8Array(8);
}

/**
 * The sending half of a responder. READ and atomic responses go out in the order of their requests; of the
 * acknowledgements that fall due meanwhile only the newest is sent, after them, since it covers those before it
 * (protocol/reliable.md 2.4).
 */
export class ResponseSender {
  /** A ring of those that wait, with room for as many as ever waited at a time: most peers never have many. */
  #jobs: Job[] = [];
  #head = 0;
  #count = 0;
  /** Jobs that answer for the first time, and how many of them the peer may have. */
  #fresh = 0;
  #depth = 0;
  /** FLUSHes that are answered for the first time: not among {@link #fresh}. */
  #freshFlushes = 0;
  #serial = 0;
  #ackDue = false;
  #ackPsn = 0;
  #ackSyndrome = ACK_SYNDROME;
  #ackMsn = 0;

  constructor(
    private readonly qp: QpContext,
    private readonly responder: Refuses,
    private readonly core: NicCore,
  ) {}

  /** Makes room for the answers to `depth` requests and forgets those that wait. */
  reset(depth: number): void {
    this.#depth = depth;
    this.#ackDue = false;
    this.clearJobs();
  }

  /** Makes room for the answers to `depth` requests; those that wait stay. */
  resize(depth: number): void {
    this.#depth = depth;
  }

  /** Forgets all requests that wait to be answered. */
  clearJobs(): void {
    this.#head = 0;
    this.#count = 0;
    this.#fresh = 0;
    this.#freshFlushes = 0;
    this.qp.copies?.answering.drop();
  }

  dropAcknowledgement(): void {
    this.#ackDue = false;
  }

  /**
   * Forgets what waits at or beyond `psn`: a requester that went back to it asks for all of that again. What waits
   * before it stays, for it belongs to the same return.
   */
  dropFrom(psn: number): void {
    while (this.#count > 0) {
      const job = this.#job(this.#count - 1);
      // Counted from where it begins: the longest READ has 2^23 packets, half of all PSNs.
      if (psnDiff(psn, job.psn) >= job.packets) return;
      this.#count -= 1;
      this.#uncount(job);
    }
  }

  /** Whether the peer has as many requests outstanding as it may have. */
  get full(): boolean {
    return this.#fresh >= this.#depth;
  }

  /** Whether as many FLUSHes wait as may. */
  get isFullOfFlushes(): boolean {
    return this.#freshFlushes >= MAX_FLUSHES;
  }

  /** Whether one more repeat can wait. */
  get hasRoom(): boolean {
    return this.#repeats < this.#depth;
  }

  /** Whether one more repeat of a FLUSH can wait. */
  get hasFlushRoom(): boolean {
    return this.#repeats < this.#depth + MAX_FLUSHES;
  }

  get #repeats(): number {
    return this.#count - this.#fresh - this.#freshFlushes;
  }

  /** Whether the peer is about to hear that a packet is missing. */
  get sequenceNakDue(): boolean {
    return this.#ackDue && this.#ackSyndrome === (Aeth.NAK | NakCode.PSN_SEQUENCE_ERROR);
  }

  /** Whether the peer is about to hear that a request failed for good. */
  get refusalDue(): boolean {
    return this.#ackDue && this.#ackSyndrome > (Aeth.NAK | NakCode.PSN_SEQUENCE_ERROR);
  }

  /** Whether a response that bears `psn` waits to be sent anyway. */
  willAnswer(psn: number): boolean {
    for (let i = 0; i < this.#count; i += 1) {
      const { psn: first, sent, packets } = this.#job(i);
      const distance = psnDiff(psn, first);
      if (distance >= sent && distance < packets) return true;
    }
    return false;
  }

  /** An ACK or NAK of `psn` falls due. */
  acknowledge(psn: number, syndrome: number, msn: number): void {
    if (this.#ackDue) {
      this.core.counters.ackDeferred += 1;
      // A duplicate of something old must not hide the NAK of something new.
      if (psnDiff(psn, this.#ackPsn) < 0) return;
    }
    this.#ackDue = true;
    this.#ackPsn = psn;
    this.#ackSyndrome = syndrome;
    this.#ackMsn = msn;
    this.core.schedule(this.qp, PendingWork.RECEIVING);
  }

  /** Queues the responses to a READ of `lengthBytes` at `offset` of the grant's region, the first of which bears `psn`. */
  queueRead(
    psn: number,
    packets: number,
    segmentBytes: number,
    grant: RemoteGrant | undefined,
    offset: number,
    lengthBytes: number,
    msn: number,
    again: boolean,
    flush = false,
  ): void {
    const job = this.#append(psn, again, flush);
    job.atomic = false;
    job.packets = packets;
    job.segmentBytes = segmentBytes;
    job.sent = 0;
    job.grant = grant;
    job.offset = offset;
    job.lengthBytes = lengthBytes;
    job.msn = msn;
  }

  /** Queues a READ response without data, with which FLUSH and ATOMIC_WRITE are answered. */
  queueConfirmation(psn: number, msn: number, again: boolean, flush: boolean): void {
    this.queueRead(psn, 1, this.qp.mtuBytes, undefined, 0, 0, msn, again, flush);
  }

  queueAtomic(resource: ResponderResource, again: boolean): void {
    const job = this.#append(resource.firstPsn, again, false);
    job.atomic = true;
    job.packets = 1;
    job.sent = 0;
    job.grant = undefined;
    job.msn = resource.msn;
    job.answer.set(resource.answer);
  }

  /** Sends READ and atomic responses, at most `budget` packets. */
  transmit(budget: number): TransmitResult {
    let left = budget;
    while (this.#count > 0) {
      if (left <= 0) return TransmitResult.MORE;
      const job = this.#jobs[this.#head];
      const cost = job.atomic ? 1 : packetCost(job.segmentBytes);
      const sent = job.atomic ? this.#sendAtomic(job) : this.#sendRead(job);
      if (sent !== undefined) return sent;
      left -= cost;
    }
    return TransmitResult.IDLE;
  }

  /** Sends the acknowledgement that is due, if one is and no response has to go before it. */
  transmitAcknowledgement(): TransmitResult {
    if (!this.#ackDue || this.#count > 0) return TransmitResult.IDLE;
    return this.#sendAcknowledge() ? TransmitResult.IDLE : TransmitResult.BLOCKED;
  }

  #append(psn: number, again: boolean, flush: boolean): Job {
    // A response implies every acknowledgement before it.
    if (this.#ackDue && this.#ackSyndrome === ACK_SYNDROME && psnDiff(psn, this.#ackPsn) > 0) {
      this.#ackDue = false;
      this.core.counters.ackDeferred += 1;
    }
    if (this.#count === this.#jobs.length) this.#grow();
    const job = this.#job(this.#count);
    this.#count += 1;
    this.#serial = (this.#serial + 1) | 0;
    job.serial = this.#serial;
    job.psn = psn;
    job.again = again;
    job.flush = flush;
    if (!again && flush) this.#freshFlushes += 1;
    else if (!again) this.#fresh += 1;
    this.core.schedule(this.qp, PendingWork.RECEIVING);
    return job;
  }

  /**
   * Makes room for one more. There are never more than twice the depth and {@link MAX_FLUSHES}: repeats have as many places as what is asked
   * for the first time, and take none of those.
   */
  #grow(): void {
    const inOrder = Array.from({ length: this.#count }, (_, i) => this.#job(i));
    this.#jobs = [...inOrder, new Job()];
    this.#head = 0;
  }

  /** The job that is `distance` places behind the next. */
  #job(distance: number): Job {
    return this.#jobs[(this.#head + distance) % this.#jobs.length];
  }

  #finish(): void {
    assert(this.#count > 0, 'an answer has left that did not wait');
    this.#uncount(this.#jobs[this.#head]);
    this.#head = (this.#head + 1) % this.#jobs.length;
    this.#count -= 1;
  }

  #uncount({ again, flush }: Job): void {
    if (!again && flush) this.#freshFlushes -= 1;
    else if (!again) this.#fresh -= 1;
  }

  /** @returns why not, when it is not sent */
  #sendAtomic(job: Job): TransmitResult | undefined {
    const { builder } = this.core;
    const opcode = this.qp.opcodeClass | Opcode.RC_ATOMIC_ACKNOWLEDGE;
    if (!builder.open(this.qp, opcode, job.psn, 0, false, false)) return TransmitResult.BLOCKED;
    writeAeth(builder.bytes, builder.offset + aethOffset[opcode], ACK_SYNDROME, job.msn);
    const at = builder.offset + atomicAckOffset[opcode];
    for (let i = 0; i < 8; i += 1) builder.bytes[at + i] = job.answer[i];
    builder.close();
    this.#finish();
    return undefined;
  }

  /** @returns why not, when it is not sent */
  #sendRead(job: Job): TransmitResult | undefined {
    const { qp, core } = this;
    const { builder } = core;
    const psn = psnAdd(job.psn, job.sent);
    const { segmentBytes } = job;
    const begin = job.sent * segmentBytes;
    const length = Math.min(job.lengthBytes - begin, segmentBytes);
    if (job.grant?.usable === false && !this.#reopen(job)) {
      this.#giveUp(job, psn, Syndrome.RESPONDER_ACCESS);
      return undefined;
    }
    const { grant } = job;
    const first = job.sent === 0;
    const last = job.sent === job.packets - 1;
    const place = last
      ? first
        ? Opcode.RC_READ_RESP_ONLY
        : Opcode.RC_READ_RESP_LAST
      : first
        ? Opcode.RC_READ_RESP_FIRST
        : Opcode.RC_READ_RESP_MIDDLE;
    const opcode = qp.opcodeClass | place;
    if (!builder.open(qp, opcode, psn, length, false, false, segmentBytes > qp.mtuBytes)) return TransmitResult.BLOCKED;
    if (aethOffset[opcode] !== 0) writeAeth(builder.bytes, builder.offset + aethOffset[opcode], ACK_SYNDROME, job.msn);
    if (grant !== undefined) {
      const { mover } = core;
      const { region } = grant;
      if (region.isPlain) mover.load(region, job.offset + begin, builder.bytes, builder.payload, length);
      else {
        const { serial, lengthBytes, offset } = job;
        const { bytes, payload } = builder;
        const loaded = mover.loadForeign(qp, grant, serial, begin, lengthBytes, offset, bytes, payload, length);
        if (loaded === CopyStatus.LATER) return TransmitResult.IDLE;
        if (loaded === CopyStatus.FAILED) {
          this.#giveUp(job, psn, refusalOf(mover.syndrome));
          return undefined;
        }
      }
    }
    builder.close();
    job.sent += 1;
    if (last) this.#finish();
    return undefined;
  }

  /** The key was closed since the request was accepted; the region may have been changed and still hold the range. */
  #reopen(job: Job): boolean {
    const { memory } = this.core;
    const grant =
      job.grant && memory.reopen(job.grant, this.qp.qpn, AccessFlags.REMOTE_READ, job.offset, job.lengthBytes);
    if (grant === undefined) return false;
    job.grant = grant;
    job.offset = memory.begin;
    return true;
  }

  /** What a READ was to read has gone. What lies behind one that fails is void; behind a repeat it is not. */
  #giveUp({ again }: Job, psn: number, syndrome: Syndrome): void {
    if (again) {
      this.#finish();
    } else {
      this.clearJobs();
      this.#ackDue = false;
    }
    this.responder.refuseRead(psn, again, syndrome);
  }

  #sendAcknowledge(): boolean {
    const { builder } = this.core;
    const opcode = this.qp.opcodeClass | Opcode.RC_ACKNOWLEDGE;
    if (!builder.open(this.qp, opcode, this.#ackPsn, 0, false, false)) return false;
    writeAeth(builder.bytes, builder.offset + aethOffset[opcode], this.#ackSyndrome, this.#ackMsn);
    if (this.#ackSyndrome > (Aeth.NAK | NakCode.PSN_SEQUENCE_ERROR)) builder.remark(this.qp.errorCause);
    builder.close();
    this.#ackDue = false;
    return true;
  }
}
