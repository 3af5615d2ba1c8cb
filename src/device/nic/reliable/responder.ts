import {
  AccessFlags,
  EventType,
  psnAdd,
  psnDiff,
  type QpAttr,
  type Refusal,
  RefusalReason,
  Syndrome,
  WcFlags,
  WcOpcode,
  WcStatus,
} from '../../ibta/index.js';
import {
  Aeth,
  bthAckRequest,
  bthPadCount,
  bthPsn,
  bthSolicited,
  getU32,
  ICRC_BYTES,
  iethOffset,
  immOffset,
  NakCode,
  OpcodeBit,
  opcodeBits,
  opcodeHeaderBytes,
  type PacketMeta,
  rethLength,
  rethOffset,
  rethRkey,
  rethVaHi,
  rethVaLo,
  xrcethOffset,
  xrcethSrqn,
} from '../../wire/index.js';
import { Row } from '../../stand-in/index.js';
import { CopyStatus } from '../memory/copying/foreign-memory.js';
import type { RemoteGrant } from '../memory/remote-grant.js';
import type { NicCore } from '../nic-core.js';
import type { ReceivingHalf } from '../queue-pairs/halves.js';
import type { FailedRequest, QpContext } from '../queue-pairs/qp-context.js';
import { ReceiveBuffer } from '../queue-pairs/receive-buffer.js';
import { type TransmitResult } from '../queue-pairs/turns.js';
import type { CompletionQueue } from '../queues/completion-queue.js';
import { ANSWERED, AnsweredRequests, MAX_DMA_BYTES } from './answered-requests.js';
import { eventOf, nakOf, refusalOf } from './memory-refusals.js';
import { ACK_SYNDROME, ResponseSender } from './response-sender.js';

/** The NAK that was sent for the expected PSN (protocol/reliable.md 2.3, rows 1 and 4). */
const NakSent = { NONE: 0, SEQUENCE_ERROR: 1, NOT_READY: 2 } as const;
type NakSent = (typeof NakSent)[keyof typeof NakSent];

const NO_BYTES = new Uint8Array(0);

/** The kind of message that has begun and not ended. */
const Unfinished = { NONE: 0, SEND: OpcodeBit.SEND, WRITE: OpcodeBit.WRITE } as const;

/** The responder of a reliable service (RC and XRC): executes requests in PSN order, in the order of checks of protocol/reliable.md 2.3. */
export class Responder implements ReceivingHalf {
  readonly sender: ResponseSender;
  /** What the requester of the packet being looked at cuts messages into, and wants answers to READs cut into. */
  segmentBytes = 0;
  readonly #receive: ReceiveBuffer;
  readonly #answered: AnsweredRequests;

  #source: Uint8Array = NO_BYTES;
  #expectedPsn = 0;
  #accessFlags = 0;
  #msn = 0;
  /** The NAK sent for the expected PSN: packets ahead of it draw no second one. */
  #nakSent: NakSent = NakSent.NONE;
  /** The last PSN dropped for coming too early. */
  #aheadPsn = 0;
  /** The expected packet came before the NAK that asks for it had left. */
  #untold = false;

  #unfinished: number = Unfinished.NONE;
  /** Bytes of the open message that have arrived. */
  #received = 0;
  /** Target of the open WRITE, and where in its region that begins. */
  #grant: RemoteGrant | undefined;
  #offset = 0;
  #dmaLength = 0;
  #refusal: Refusal | undefined;
  /** WRITEs without immediate data that were carried out: nothing else tells of them here. */
  #writeRequests = 0;

  constructor(
    private readonly qp: QpContext,
    private readonly core: NicCore,
  ) {
    this.sender = new ResponseSender(qp, this, core);
    this.#answered = new AnsweredRequests(qp, this, core);
    this.#receive = new ReceiveBuffer(qp, core);
  }

  start(): void {
    const { rqPsn, maxDestRdAtomic, qpAccessFlags } = this.qp.attr;
    this.#accessFlags = qpAccessFlags;
    this.#begin(rqPsn, maxDestRdAtomic);
  }

  counters(): Record<string, number> {
    return { rx_write_requests: this.#writeRequests };
  }

  get refusal(): Refusal | undefined {
    return this.#refusal;
  }

  reset(): void {
    this.#begin(0, 0);
  }

  /** The peer may have another number of answered requests outstanding. */
  onAttributes({ maxDestRdAtomic }: Partial<QpAttr>): void {
    this.#accessFlags = this.qp.attr.qpAccessFlags;
    if (maxDestRdAtomic === undefined) return;
    this.#answered.resize(maxDestRdAtomic);
    this.sender.resize(maxDestRdAtomic);
  }

  transmit(budget: number): TransmitResult {
    return this.sender.transmit(budget);
  }

  transmitAcknowledgement(): TransmitResult {
    return this.sender.transmitAcknowledgement();
  }

  completesTo(cq: CompletionQueue): boolean {
    return this.#receive.completesTo(cq);
  }

  onFrame(): void {
    // Frames go to raw packet QPs alone.
  }

  /** Starts at `psn` with room for `depth` answered requests. */
  #begin(psn: number, depth: number): void {
    this.#expectedPsn = psn;
    this.#refusal = undefined;
    this.#writeRequests = 0;
    this.#msn = 0;
    this.#tellStandIn();
    this.#nakSent = NakSent.NONE;
    this.#unfinished = Unfinished.NONE;
    this.#answered.reset(depth);
    this.#receive.reset();
    this.sender.reset(depth);
  }

  completeFailed(failed: FailedRequest): void {
    this.#receive.completeFailed(failed);
  }

  flush(cause: Syndrome): void {
    // Answers to the requests before a refused one are still owed: the NAK follows them (protocol/reliable.md 2.4).
    if (!this.sender.refusalDue) this.sender.clearJobs();
    // The last message may be the one that was lost: it must not count as delivered.
    if (cause === Syndrome.CQ_OVERRUN) this.sender.dropAcknowledgement();
    if (this.#unfinished === Unfinished.WRITE) this.qp.remoteWrites?.failed();
    this.#unfinished = Unfinished.NONE;
    this.#receive.flush(cause);
  }

  /** A request packet that was found to belong to this QP. */
  onRequest(bytes: Uint8Array, offset: number, lengthBytes: number, meta: PacketMeta): void {
    const opcode = bytes[offset];
    const psn = bthPsn(bytes, offset);
    const distance = psnDiff(psn, this.#expectedPsn);
    if (distance > 0) {
      this.#onAhead(psn);
      return;
    }
    this.segmentBytes = Math.max(meta.segmentBytes, this.qp.mtuBytes);
    const bits = opcodeBits[opcode];
    if (distance < 0) {
      this.core.counters.duplicateRequest += 1;
      if ((bits & ANSWERED) !== 0) this.#answered.onDuplicate(bytes, offset, bits, psn);
      else this.sender.acknowledge(psnAdd(this.#expectedPsn, -1), ACK_SYNDROME, this.#msn);
      return;
    }
    this.#untold = this.sender.sequenceNakDue;
    this.#nakSent = NakSent.NONE;
    const xrceth = xrcethOffset[opcode];
    const objection =
      xrceth === 0
        ? Syndrome.NONE
        : this.#receive.choose(xrcethSrqn(bytes, offset + xrceth), this.#unfinished !== Unfinished.NONE);
    const header = opcodeHeaderBytes[opcode];
    const pad = bthPadCount(bytes, offset);
    const payload = lengthBytes - header - ICRC_BYTES - pad;
    this.#source = meta.payload ?? bytes;
    const at = offset + header + meta.payloadShift;
    if (objection !== Syndrome.NONE) this.#refuseQueue(objection);
    else if (!this.#isInSequence(bits)) this.refuse(opcode, payload, RefusalReason.SEQUENCE, this.#unfinished);
    else if ((bits & OpcodeBit.SEND) !== 0) this.#onSend(bytes, offset, opcode, bits, at, payload, pad);
    else if ((bits & OpcodeBit.WRITE) !== 0) this.#onWrite(bytes, offset, opcode, bits, at, payload, pad);
    else if ((bits & ANSWERED) !== 0) this.#answered.onRequest(bytes, offset, bits, psn, payload, this.#source, at);
    else this.refuse(opcode, payload, RefusalReason.OPCODE);
  }

  /**
   * The memory of a READ that was accepted has gone before all of it was sent. A repeat of one changes nothing here: the
   * peer may have had its answer long ago.
   */
  refuseRead(psn: number, again: boolean, syndrome: Syndrome): void {
    const nakCode = nakOf(syndrome);
    this.sender.acknowledge(psn, Aeth.NAK | nakCode, this.#msn);
    // What stands behind it may have ended the queue pair already.
    if (again || !this.qp.mayReceive) return;
    // A receive request that is being filled belongs to a message behind this one, and is flushed.
    this.qp.raise(eventOf(nakCode), syndrome);
    this.qp.enterError(syndrome);
  }

  /** An XRC request names a shared receive queue of another domain or kind, or one that failed (protocol/services.md 3.3). */
  #refuseQueue(why: Syndrome): void {
    const { REMOTE_OPERATIONAL_ERROR, INVALID_REQUEST } = NakCode;
    this.#nak(why === Syndrome.SRQ_UNUSABLE ? REMOTE_OPERATIONAL_ERROR : INVALID_REQUEST);
    this.qp.raise(EventType.QP_REQ_ERR, why);
    this.qp.enterError(why);
  }

  /** protocol/reliable.md 2.3, row 1: one NAK per gap. */
  #onAhead(psn: number): void {
    this.core.counters.outOfSeqRequest += 1;
    // PSNs that fall again while the gap is open: the requester went back and its resent packet was lost as well.
    const again = this.#nakSent === NakSent.SEQUENCE_ERROR && psnDiff(psn, this.#aheadPsn) <= 0;
    this.#aheadPsn = psn;
    if (this.#nakSent !== NakSent.NONE && !again) return;
    this.#nakSent = NakSent.SEQUENCE_ERROR;
    this.#nak(NakCode.PSN_SEQUENCE_ERROR);
  }

  /** protocol/reliable.md 2.3, row 2. */
  #isInSequence(bits: number): boolean {
    const continues = (bits & (OpcodeBit.MIDDLE | OpcodeBit.LAST)) !== 0;
    return this.#unfinished === Unfinished.NONE ? !continues : continues && (bits & this.#unfinished) !== 0;
  }

  /** Whether the payload has the length that its place in the message calls for (protocol/reliable.md 2.2). */
  #hasRightLength(bits: number, payload: number, pad: number): boolean {
    const { segmentBytes } = this;
    if ((bits & (OpcodeBit.FIRST | OpcodeBit.MIDDLE)) !== 0) return payload === segmentBytes && pad === 0;
    return payload <= segmentBytes && (payload > 0 || (bits & OpcodeBit.LAST) === 0);
  }

  #onSend(
    bytes: Uint8Array,
    offset: number,
    opcode: number,
    bits: number,
    at: number,
    payload: number,
    pad: number,
  ): void {
    if (this.#unfinished === Unfinished.NONE) {
      if (!this.#receive.take()) {
        this.#notReady();
        return;
      }
      this.#received = 0;
    }
    if (!this.#hasRightLength(bits, payload, pad)) {
      this.refuse(opcode, payload, RefusalReason.PACKET_LENGTH, payload, this.segmentBytes);
      return;
    }
    const room = Math.min(this.#receive.capacity, MAX_DMA_BYTES);
    if (this.#received + payload > room) {
      const length = this.#received + payload;
      this.#note(opcode, length, RefusalReason.RECEIVE_LENGTH, length, room);
      const detail = this.#setDetail(length, room, 0, 0, 0);
      this.#failReceive(WcStatus.LOC_LEN_ERR, Syndrome.LOCAL_LENGTH, detail, NakCode.INVALID_REQUEST);
      return;
    }
    const ends = (bits & (OpcodeBit.LAST | OpcodeBit.ONLY)) !== 0;
    const stored = this.#receive.scatter(this.#received, this.#source, at, payload, ends);
    if (stored === CopyStatus.LATER) return;
    if (stored === CopyStatus.FAILED) {
      const { mover } = this.core;
      this.#failReceive(WcStatus.LOC_PROT_ERR, mover.syndrome, mover.detail, NakCode.REMOTE_OPERATIONAL_ERROR);
      return;
    }
    this.#received += payload;
    if (!ends) {
      this.#unfinished = Unfinished.SEND;
      this.executed(1, false, bthAckRequest(bytes, offset) !== 0);
      return;
    }
    let wcFlags = 0;
    let immData = 0;
    if ((bits & OpcodeBit.IMM) !== 0) {
      wcFlags = WcFlags.WITH_IMM;
      immData = getU32(bytes, offset + immOffset[opcode]);
    } else if ((bits & OpcodeBit.INVALIDATE) !== 0) {
      wcFlags = WcFlags.WITH_INV;
      immData = getU32(bytes, offset + iethOffset[opcode]);
      if (!this.core.memory.invalidate(immData, this.pd, this.qp.qpn)) {
        const detail = this.#setDetail(immData, this.#expectedPsn, 0, 0, 0);
        const { REMOTE_ACCESS_ERROR } = NakCode;
        this.#failReceive(WcStatus.REM_INV_REQ_ERR, Syndrome.INVALIDATE_FAILED, detail, REMOTE_ACCESS_ERROR);
        return;
      }
    }
    this.#completeReceive(WcOpcode.RECV, this.#received, immData, wcFlags, bthSolicited(bytes, offset) !== 0);
    this.executed(1, true, bthAckRequest(bytes, offset) !== 0);
  }

  #onWrite(
    bytes: Uint8Array,
    offset: number,
    opcode: number,
    bits: number,
    at: number,
    payload: number,
    pad: number,
  ): void {
    if ((this.#accessFlags & AccessFlags.REMOTE_WRITE) === 0) {
      this.#refuseWrite(opcode, payload, RefusalReason.QP_ACCESS, AccessFlags.REMOTE_WRITE, this.#accessFlags);
      return;
    }
    const ends = (bits & (OpcodeBit.LAST | OpcodeBit.ONLY)) !== 0;
    const withImm = (bits & OpcodeBit.IMM) !== 0;
    if (withImm && !this.#receive.take()) {
      this.#notReady();
      return;
    }
    if (!this.#hasRightLength(bits, payload, pad)) {
      this.#refuseWrite(opcode, payload, RefusalReason.PACKET_LENGTH, payload, this.segmentBytes);
      return;
    }
    if (this.#unfinished === Unfinished.NONE && !this.#openWrite(bytes, offset + rethOffset[opcode], opcode)) return;
    const left = this.#dmaLength - this.#received;
    if (ends ? payload !== left : payload >= left) {
      this.#refuseWrite(opcode, payload, RefusalReason.MESSAGE_LENGTH, this.#dmaLength);
      return;
    }
    if (this.#grant?.usable === false && !this.#reopenWrite(this.#grant)) return;
    const grant = this.#grant;
    if (grant !== undefined) {
      const { mover } = this.core;
      const to = this.#offset + this.#received;
      if (grant.region.isPlain) mover.store(grant.region, to, this.#source, at, payload);
      else {
        const stored = mover.storeForeign(this.qp, grant, to, this.#source, at, payload, ends);
        if (stored === CopyStatus.LATER) return;
        if (stored === CopyStatus.FAILED) {
          if (this.#unfinished === Unfinished.NONE) this.qp.remoteWrites?.failed();
          this.refuseFault(this.#expectedPsn, grant.rkey);
          return;
        }
      }
    }
    this.#received += payload;
    this.#unfinished = ends ? Unfinished.NONE : Unfinished.WRITE;
    if (ends) this.qp.remoteWrites?.completed(this.#dmaLength);
    if (withImm) {
      const immData = getU32(bytes, offset + immOffset[opcode]);
      const solicited = bthSolicited(bytes, offset) !== 0;
      this.#completeReceive(WcOpcode.RECV_RDMA_WITH_IMM, this.#dmaLength, immData, WcFlags.WITH_IMM, solicited);
    } else if (ends) this.#writeRequests += 1;
    this.executed(1, ends, bthAckRequest(bytes, offset) !== 0);
  }

  /** Checks the target of a WRITE; false when it was refused. */
  #openWrite(bytes: Uint8Array, reth: number, opcode: number): boolean {
    const length = rethLength(bytes, reth);
    if (length > MAX_DMA_BYTES) {
      this.#refuseWrite(opcode, length, RefusalReason.FIELDS);
      return false;
    }
    this.#received = 0;
    this.#dmaLength = length;
    this.#grant = undefined;
    if (length === 0) return true;
    const hi = rethVaHi(bytes, reth);
    const lo = rethVaLo(bytes, reth);
    this.#grant = this.demand(rethRkey(bytes, reth), hi, lo, length, AccessFlags.REMOTE_WRITE);
    this.#offset = this.core.memory.begin;
    if (this.#grant !== undefined) return true;
    this.qp.remoteWrites?.failed();
    return false;
  }

  /** One that is open is counted where it is broken off. */
  #refuseWrite(opcode: number, length: number, reason: RefusalReason, a = 0, b = 0): void {
    if (this.#unfinished === Unfinished.NONE) this.qp.remoteWrites?.failed();
    this.refuse(opcode, length, reason, a, b);
  }

  /**
   * Between two packets of one message the region may have been deregistered, its memory taken away, or its key
   * invalidated. One that was changed may still hold what the message names.
   */
  #reopenWrite(closed: RemoteGrant): boolean {
    const { memory } = this.core;
    const length = this.#dmaLength;
    this.#grant = memory.reopen(closed, this.qp.qpn, AccessFlags.REMOTE_WRITE, this.#offset, length);
    if (this.#grant === undefined)
      this.refuseAccess(this.#expectedPsn, closed.rkey, 0, 0, length, AccessFlags.REMOTE_WRITE);
    else this.#offset = memory.begin;
    return this.#grant !== undefined;
  }

  /**
   * Opens the memory that a request names (protocol/reliable.md 2.3, row 6), `memory.begin` says where; one that names what it may
   * not is refused.
   */
  demand(rkey: number, hi: number, lo: number, length: number, access: number): RemoteGrant | undefined {
    const grant = this.core.memory.openRemote(rkey, this.pd, this.qp.qpn, access, hi, lo, length);
    if (grant === undefined) this.refuseAccess(this.#expectedPsn, rkey, hi, lo, length, access);
    return grant;
  }

  /** Messages executed, modulo 2^24 (protocol/reliable.md 2.1). */
  get msn(): number {
    return this.#msn;
  }

  /** The domain whose memory the peer may use: that of the QP, or in XRC of the shared receive queue it names. */
  get pd(): number {
    const { pd } = this.qp;
    return pd === 0 ? this.#receive.pd : pd;
  }

  #completeReceive(opcode: WcOpcode, byteLen: number, immData: number, wcFlags: number, solicited: boolean): void {
    this.core.counters.rdmaRecvs += 1;
    this.#unfinished = Unfinished.NONE;
    this.#receive.complete(WcStatus.SUCCESS, opcode, byteLen, immData, wcFlags, solicited, Syndrome.NONE, undefined);
  }

  /** Row 7: the packet took effect. */
  executed(packets: number, endsMessage: boolean, ackRequest: boolean): void {
    const last = this.#expectedPsn;
    this.#expectedPsn = psnAdd(last, packets);
    if (endsMessage) this.#msn = (this.#msn + 1) & 0xffffff;
    this.#tellStandIn();
    if (this.#untold && psnDiff(this.#aheadPsn, this.#expectedPsn) >= 0) {
      // Packets ahead of the gap were dropped; an ACK instead of the NAK would hide that from the peer.
      this.#nakSent = NakSent.SEQUENCE_ERROR;
      this.#nak(NakCode.PSN_SEQUENCE_ERROR);
    } else if (ackRequest) {
      this.sender.acknowledge(last, ACK_SYNDROME, this.#msn);
    }
  }

  #tellStandIn(): void {
    const { words } = this.core.peers;
    const { peerRow } = this.qp;
    words[peerRow + Row.EXPECTED_PSN] = this.#expectedPsn;
    words[peerRow + Row.MSN] = this.#msn;
  }

  /** No receive request is posted: ask the peer to come again later. */
  #notReady(): void {
    this.core.counters.sendRnrErr += 1;
    this.#nakSent = NakSent.NOT_READY;
    this.sender.acknowledge(this.#expectedPsn, Aeth.RNR_NAK | this.qp.attr.minRnrTimer, this.#msn);
  }

  #nak(code: number): void {
    this.sender.acknowledge(this.#expectedPsn, Aeth.NAK | code, this.#msn);
  }

  /** A request that the protocol does not allow here (NAK invalid request). */
  refuse(opcode: number, length: number, reason: RefusalReason, a = 0, b = 0): void {
    this.#note(opcode, length, reason, a, b);
    const detail = this.#setDetail(this.#expectedPsn, opcode, length, this.#unfinished, 0);
    if (this.#receive.taken) {
      const { INVALID_REQUEST } = NakCode;
      this.#failReceive(WcStatus.REM_INV_REQ_ERR, Syndrome.RESPONDER_INVALID_REQUEST, detail, INVALID_REQUEST);
      return;
    }
    this.#nak(NakCode.INVALID_REQUEST);
    this.qp.raise(EventType.QP_REQ_ERR, Syndrome.RESPONDER_INVALID_REQUEST);
    this.qp.enterError(Syndrome.RESPONDER_INVALID_REQUEST);
  }

  #note(opcode: number, lengthBytes: number, reason: RefusalReason, a: number, b: number): void {
    this.#refusal = { reason, psn: this.#expectedPsn, lengthBytes, opcode, access: 0, a, b };
  }

  /** A key that does not open what the peer wants. */
  refuseAccess(psn: number, rkey: number, hi: number, lo: number, length: number, access: number): void {
    const why = this.core.memory.refusal(rkey, this.pd, this.qp.qpn, access, hi, lo);
    this.#refusal = { ...why, psn, lengthBytes: length, opcode: -1, access };
    this.#refuseMemory(psn, Syndrome.RESPONDER_ACCESS, this.#setDetail(psn, rkey, hi, lo, length));
  }

  /** The key opens what the peer wants, but the memory is not there, or its device has failed, as the mover has found. */
  refuseFault(psn: number, rkey: number): void {
    const { syndrome, detail } = this.core.mover;
    const [, hi, lo, failure] = detail;
    this.#refuseMemory(psn, refusalOf(syndrome), this.#setDetail(psn, rkey, hi, lo, failure));
  }

  #refuseMemory(psn: number, syndrome: Syndrome, detail: Int32Array): void {
    const nakCode = nakOf(syndrome);
    detail[5] = nakCode;
    if (this.#receive.taken) {
      const status = nakCode === NakCode.REMOTE_ACCESS_ERROR ? WcStatus.LOC_ACCESS_ERR : WcStatus.LOC_PROT_ERR;
      this.#failReceive(status, syndrome, detail, nakCode);
      return;
    }
    this.sender.acknowledge(psn, Aeth.NAK | nakCode, this.#msn);
    this.qp.raise(eventOf(nakCode), syndrome);
    this.qp.enterError(syndrome);
  }

  /** Ends the message being received with an error on its receive request and a NAK. */
  #failReceive(status: WcStatus, syndrome: Syndrome, detail: Int32Array, nakCode: number): void {
    this.#nak(nakCode);
    this.qp.enterError(syndrome, { half: 'receiving', status, syndrome, detail });
  }

  #setDetail(a: number, b: number, c: number, d: number, e: number): Int32Array {
    const { detail } = this.core;
    detail[0] = a;
    detail[1] = b;
    detail[2] = c;
    detail[3] = d;
    detail[4] = e;
    detail[5] = 0;
    return detail;
  }
}
