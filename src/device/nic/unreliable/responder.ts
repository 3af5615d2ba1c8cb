import { AccessFlags, DropReason, psnAdd, Syndrome, WcFlags, WcOpcode, WcStatus } from '../../ibta/index.js';
import {
  bthPadCount,
  bthPsn,
  bthSolicited,
  getU32,
  ICRC_BYTES,
  immOffset,
  OpcodeBit,
  opcodeBits,
  opcodeHeaderBytes,
  rethLength,
  rethOffset,
  rethRkey,
  rethVaHi,
  rethVaLo,
} from '../../wire/index.js';
import { CopyStatus } from '../memory/copying/foreign-memory.js';
import type { RemoteGrant } from '../memory/remote-grant.js';
import { SilentResponder } from './silent-responder.js';

/** Bytes of the longest message (protocol/reliable.md 2.2). */
const MAX_MESSAGE_BYTES = 2 ** 31;

/** The kind of message that has begun and not ended. */
const Unfinished = { NONE: 0, SEND: OpcodeBit.SEND, WRITE: OpcodeBit.WRITE } as const;

const BEGINS = OpcodeBit.FIRST | OpcodeBit.ONLY;
const ENDS = OpcodeBit.LAST | OpcodeBit.ONLY;

/**
 * The responder of a UC QP (protocol/reliable.md 2.3, the UC column, and 3.1). A message that lacks a packet, or that may not be
 * what it is, is dropped as a whole and without a word, and the receive request that it began to fill waits for the next
 * one (IBTA 9.9.3, class D). Only a local error, a receive request that names memory it may not, ends the QP (class A).
 */
export class UnreliableResponder extends SilentResponder {
  #expectedPsn = 0;
  #unfinished: number = Unfinished.NONE;
  /** The rest of a message that was dropped is passed over. */
  #skipping = false;
  /** Bytes of the open message that have arrived. */
  #received = 0;
  /** Target of the open WRITE; undefined when it has no bytes. */
  #grant: RemoteGrant | undefined;
  #begin = 0;
  #dmaLength = 0;

  override start(): void {
    this.#expectedPsn = this.qp.attr.rqPsn;
    this.#skipping = false;
  }

  onRequest(bytes: Uint8Array, offset: number, lengthBytes: number): void {
    const opcode = bytes[offset];
    const bits = opcodeBits[opcode];
    const psn = bthPsn(bytes, offset);
    const inOrder = psn === this.#expectedPsn;
    if (!inOrder && !this.#skipping) this.core.counters.outOfSeqRequest += 1;
    if ((bits & BEGINS) !== 0) {
      // Whatever came before, here a message begins; one that is still open lost its end.
      if (this.#unfinished !== Unfinished.NONE) this.#drop();
      this.#skipping = false;
    } else if (!inOrder || (bits & this.#unfinished) === 0) {
      this.#drop();
      return;
    }
    this.#expectedPsn = psnAdd(psn, 1);
    const header = opcodeHeaderBytes[opcode];
    const pad = bthPadCount(bytes, offset);
    const payload = lengthBytes - header - ICRC_BYTES - pad;
    if (!this.#hasRightLength(bits, payload, pad)) this.#drop();
    else if ((bits & OpcodeBit.SEND) !== 0) this.#onSend(bytes, offset, opcode, bits, offset + header, payload);
    else this.#onWrite(bytes, offset, opcode, bits, offset + header, payload);
  }

  override flush(cause: Syndrome): void {
    this.#close();
    super.flush(cause);
  }

  override reset(): void {
    this.#close();
    super.reset();
  }

  /** Whether the payload has the length that its place in the message calls for (protocol/reliable.md 2.2). */
  #hasRightLength(bits: number, payload: number, pad: number): boolean {
    const mtu = this.qp.mtuBytes;
    if ((bits & (OpcodeBit.FIRST | OpcodeBit.MIDDLE)) !== 0) return payload === mtu && pad === 0;
    return payload <= mtu && (payload > 0 || (bits & OpcodeBit.LAST) === 0);
  }

  #onSend(bytes: Uint8Array, offset: number, opcode: number, bits: number, at: number, payload: number): void {
    const receive = this.receive;
    if ((bits & BEGINS) !== 0) {
      if (!receive.take()) {
        this.#notReady();
        return;
      }
      this.#received = 0;
    }
    if (this.#received + payload > Math.min(receive.capacity, MAX_MESSAGE_BYTES)) {
      this.#drop(DropReason.TOO_LONG, this.#received + payload, receive.capacity);
      return;
    }
    const ends = (bits & ENDS) !== 0;
    const stored = receive.scatter(this.#received, bytes, at, payload, ends);
    if (stored === CopyStatus.LATER) {
      this.#comeAgain(bytes, offset);
      return;
    }
    if (stored === CopyStatus.FAILED) {
      const { syndrome, detail } = this.core.mover;
      this.qp.enterError(syndrome, { half: 'receiving', status: WcStatus.LOC_PROT_ERR, syndrome, detail });
      return;
    }
    this.#received += payload;
    if (!ends) this.#unfinished = Unfinished.SEND;
    else this.#complete(bytes, offset, opcode, WcOpcode.RECV, this.#received);
  }

  #onWrite(bytes: Uint8Array, offset: number, opcode: number, bits: number, at: number, payload: number): void {
    if ((this.qp.attr.qpAccessFlags & AccessFlags.REMOTE_WRITE) === 0) {
      this.#drop(DropReason.ACCESS);
      return;
    }
    const withImm = (bits & OpcodeBit.IMM) !== 0;
    if (withImm && !this.receive.take()) {
      this.#notReady();
      return;
    }
    const begins = (bits & BEGINS) !== 0;
    const ends = (bits & ENDS) !== 0;
    if (begins && !this.#openWrite(bytes, offset + rethOffset[opcode])) {
      this.#drop(DropReason.ACCESS);
      return;
    }
    const left = this.#dmaLength - this.#received;
    const grant = this.#grant;
    // Between two packets of one message the key may have been closed, or the memory taken away.
    if ((ends ? payload !== left : payload >= left) || grant?.usable === false) {
      this.#drop();
      return;
    }
    if (grant !== undefined) {
      const { mover } = this.core;
      const to = this.#begin + this.#received;
      if (grant.region.isPlain) mover.store(grant.region, to, bytes, at, payload);
      else {
        const stored = mover.storeForeign(this.qp, grant, to, bytes, at, payload, ends);
        if (stored === CopyStatus.LATER) this.#comeAgain(bytes, offset);
        if (stored === CopyStatus.FAILED) this.#drop();
        if (stored !== CopyStatus.READY) return;
      }
    }
    this.#received += payload;
    if (ends) this.qp.remoteWrites?.completed(this.#dmaLength);
    if (!ends) this.#unfinished = Unfinished.WRITE;
    else if (withImm) this.#complete(bytes, offset, opcode, WcOpcode.RECV_RDMA_WITH_IMM, this.#dmaLength);
    else this.#close();
  }

  /** Finds the target of a WRITE; false when the peer may not write there. */
  #openWrite(bytes: Uint8Array, reth: number): boolean {
    const { qp, core } = this;
    const length = rethLength(bytes, reth);
    this.#received = 0;
    this.#dmaLength = length;
    this.#grant = undefined;
    // A WRITE of nothing may name anything (protocol/reliable.md 2.8).
    if (length === 0) return true;
    if (length > MAX_MESSAGE_BYTES) return false;
    const { memory } = core;
    const rkey = rethRkey(bytes, reth);
    const hi = rethVaHi(bytes, reth);
    const lo = rethVaLo(bytes, reth);
    this.#grant = memory.openRemote(rkey, qp.pd, qp.qpn, AccessFlags.REMOTE_WRITE, hi, lo, length);
    this.#begin = memory.begin;
    return this.#grant !== undefined;
  }

  #complete(bytes: Uint8Array, offset: number, opcode: number, wcOpcode: WcOpcode, byteLen: number): void {
    const imm = immOffset[opcode];
    this.#close();
    this.core.counters.rdmaRecvs += 1;
    this.receive.complete(
      WcStatus.SUCCESS,
      wcOpcode,
      byteLen,
      imm === 0 ? 0 : getU32(bytes, offset + imm),
      imm === 0 ? 0 : WcFlags.WITH_IMM,
      bthSolicited(bytes, offset) !== 0,
      Syndrome.NONE,
      undefined,
    );
  }

  /** The packet waits for memory, and is the next one once more. */
  #comeAgain(bytes: Uint8Array, offset: number): void {
    this.#expectedPsn = bthPsn(bytes, offset);
  }

  /** No receive request is posted: nobody is told, and the message is lost. */
  #notReady(): void {
    this.core.counters.rxNoReceive += 1;
    this.note(DropReason.NO_RECEIVE);
    this.#skip();
  }

  #drop(reason: DropReason = DropReason.LOSS, a = 0, b = 0): void {
    if (!this.#skipping) {
      this.core.counters.rxMessageDropped += 1;
      this.note(reason, a, b);
    }
    this.#skip();
  }

  #skip(): void {
    this.qp.copies?.requests.forget();
    this.#close();
    this.#skipping = true;
  }

  #close(): void {
    this.#unfinished = Unfinished.NONE;
    this.#grant = undefined;
  }
}
