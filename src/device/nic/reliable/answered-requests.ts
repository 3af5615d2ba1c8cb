import { AccessFlags, PlacementType, psnDiff, RefusalReason, SelectivityLevel, Syndrome } from '../../ibta/index.js';
import {
  atomicEthOffset,
  atomicEthRkey,
  atomicEthVaHi,
  atomicEthVaLo,
  fethOffset,
  fethPlacement,
  fethSelectivity,
  OpcodeBit,
  rethLength,
  rethOffset,
  rethRkey,
  rethVaHi,
  rethVaLo,
} from '../../wire/index.js';
import { atomicOperation, executeAtomic, executeAtomicWrite } from '../memory/copying/atomic-execution.js';
import { CopyStatus } from '../memory/copying/foreign-memory.js';
import type { RemoteGrant } from '../memory/remote-grant.js';
import type { NicCore } from '../nic-core.js';
import type { QpContext } from '../queue-pairs/qp-context.js';
import { type ResponderResource, ResponderResources } from './responder-resources.js';
import { MAX_FLUSHES, type ResponseSender } from './response-sender.js';

/** Bytes of the longest message, and so the largest DMA length of a RETH (protocol/reliable.md 2.2; 2.3, row 5). */
export const MAX_DMA_BYTES = 2 ** 31;

/** Requests with an answer of their own, of which the peer may have `max_dest_rd_atomic` outstanding. */
export const ANSWERED = OpcodeBit.READ_REQUEST | OpcodeBit.ATOMIC | OpcodeBit.FLUSH | OpcodeBit.ATOMIC_WRITE;

const PLACEMENTS = PlacementType.FLUSH_GLOBAL | PlacementType.FLUSH_PERSISTENT;

/** What an atomic has found: within a call, so that all queue pairs can share it. */
const answer = new Uint8Array(8);

interface Executor {
  readonly sender: ResponseSender;
  readonly msn: number;
  /** The protection domain whose memory the peer may use. */
  readonly pd: number;
  readonly segmentBytes: number;
  /** `packets` PSNs took effect. */
  executed(packets: number, endsMessage: boolean, ackRequest: boolean): void;
  demand(rkey: number, hi: number, lo: number, length: number, access: number): RemoteGrant | undefined;
  refuse(opcode: number, length: number, reason: RefusalReason, a?: number, b?: number): void;
  refuseAccess(psn: number, rkey: number, hi: number, lo: number, length: number, access: number): void;
  refuseFault(psn: number, rkey: number): void;
  refuseRead(psn: number, again: boolean, syndrome: Syndrome): void;
}

/**
 * Executes the requests that are answered rather than acknowledged, and answers them again when they come again: READ,
 * atomics, FLUSH and ATOMIC_WRITE (protocol/reliable.md 2.3, 2.5).
 */
export class AnsweredRequests {
  readonly #resources = new ResponderResources();
  /** FLUSHes apart from the others, which they would push out: the peer may not count them. */
  readonly #flushes = new ResponderResources();

  constructor(
    private readonly qp: QpContext,
    private readonly responder: Executor,
    private readonly core: NicCore,
  ) {}

  reset(depth: number): void {
    this.#resources.reset(depth);
    this.#flushes.reset(MAX_FLUSHES);
  }

  resize(depth: number): void {
    this.#resources.resize(depth);
  }

  /** A request that is next in PSN order. `payload` is the length of its data, pad left out, which are at `source[at]`. */
  onRequest(
    bytes: Uint8Array,
    offset: number,
    bits: number,
    psn: number,
    payload: number,
    source: Uint8Array,
    at: number,
  ): void {
    const { responder } = this;
    const { sender } = responder;
    const isFull = (bits & OpcodeBit.FLUSH) === 0 ? sender.full : sender.isFullOfFlushes;
    const lacking = this.#lackedBy(bytes, offset, bits);
    if (isFull || lacking !== 0) {
      const opcode = bytes[offset];
      const length = rethOffset[opcode] === 0 ? payload : rethLength(bytes, offset + rethOffset[opcode]);
      const { qpAccessFlags, maxDestRdAtomic } = this.qp.attr;
      if (lacking === 0) responder.refuse(opcode, length, RefusalReason.DEPTH, maxDestRdAtomic);
      else responder.refuse(opcode, length, RefusalReason.QP_ACCESS, lacking, qpAccessFlags);
    } else if ((bits & OpcodeBit.READ_REQUEST) !== 0) {
      this.#onRead(bytes, offset, psn, payload);
    } else if ((bits & OpcodeBit.ATOMIC) !== 0) {
      this.#onAtomic(bytes, offset, psn, payload);
    } else if ((bits & OpcodeBit.FLUSH) !== 0) {
      this.#onFlush(bytes, offset, psn, payload);
    } else {
      this.#onAtomicWrite(bytes, offset, psn, payload, source, at);
    }
  }

  /** A request that was executed before: answered again, and of atomics and ATOMIC_WRITE nothing more than that. */
  onDuplicate(bytes: Uint8Array, offset: number, bits: number, psn: number): void {
    const { sender } = this.responder;
    if (sender.willAnswer(psn)) return;
    const resource = this.#memoryOf(bits & ANSWERED).find(psn);
    if (resource?.operation !== (bits & ANSWERED) || !this.#answerAgain(bytes, offset, psn, resource))
      this.core.counters.rxBadDuplicate += 1;
  }

  #answerAgain(bytes: Uint8Array, offset: number, psn: number, resource: ResponderResource): boolean {
    const { sender } = this.responder;
    const { operation } = resource;
    if (operation === OpcodeBit.READ_REQUEST) return this.#readAgain(bytes, offset, psn, resource);
    if (operation === OpcodeBit.FLUSH) return this.#flushAgain(bytes, offset, psn, resource);
    sender.dropFrom(psn);
    if (!sender.hasRoom) return false;
    if (operation === OpcodeBit.ATOMIC) sender.queueAtomic(resource, true);
    else sender.queueConfirmation(psn, resource.msn, true, false);
    return true;
  }

  #memoryOf(operation: number): ResponderResources {
    return operation === OpcodeBit.FLUSH ? this.#flushes : this.#resources;
  }

  /** protocol/reliable.md 2.3, row 3: the access flags that the QP lacks to let its peer do this, 0 where it has them. */
  #lackedBy(bytes: Uint8Array, offset: number, bits: number): number {
    let needed: number = AccessFlags.REMOTE_WRITE;
    if ((bits & OpcodeBit.READ_REQUEST) !== 0) needed = AccessFlags.REMOTE_READ;
    else if ((bits & OpcodeBit.ATOMIC) !== 0) needed = AccessFlags.REMOTE_ATOMIC;
    else if ((bits & OpcodeBit.FLUSH) !== 0) needed = flushAccess(bytes, offset);
    return needed & ~this.qp.attr.qpAccessFlags;
  }

  #onRead(bytes: Uint8Array, offset: number, psn: number, payload: number): void {
    const { responder } = this;
    const opcode = bytes[offset];
    const reth = offset + rethOffset[opcode];
    const length = rethLength(bytes, reth);
    if (payload !== 0 || length > MAX_DMA_BYTES) {
      responder.refuse(opcode, length, RefusalReason.FIELDS);
      return;
    }
    const rkey = rethRkey(bytes, reth);
    const hi = rethVaHi(bytes, reth);
    const lo = rethVaLo(bytes, reth);
    const grant = length === 0 ? undefined : responder.demand(rkey, hi, lo, length, AccessFlags.REMOTE_READ);
    if (length > 0 && grant === undefined) return;
    const { begin } = this.core.memory;
    const { segmentBytes } = responder;
    const packets = Math.max(1, Math.ceil(length / segmentBytes));
    this.#resources.take().describe(OpcodeBit.READ_REQUEST, psn, packets, responder.pd, rkey, hi, lo, length);
    responder.executed(packets, true, false);
    responder.sender.queueRead(psn, packets, segmentBytes, grant, begin, length, responder.msn, false);
  }

  #onAtomic(bytes: Uint8Array, offset: number, psn: number, payload: number): void {
    const { responder } = this;
    const opcode = bytes[offset];
    const at = offset + atomicEthOffset[opcode];
    const lo = atomicEthVaLo(bytes, at);
    if (payload !== 0 || (lo & 7) !== 0) {
      responder.refuse(opcode, payload, payload === 0 ? RefusalReason.ALIGNMENT : RefusalReason.FIELDS);
      return;
    }
    const rkey = atomicEthRkey(bytes, at);
    const hi = atomicEthVaHi(bytes, at);
    const grant = responder.demand(rkey, hi, lo, 8, AccessFlags.REMOTE_ATOMIC);
    if (grant === undefined) return;
    const { begin } = this.core.memory;
    if (grant.region.isPlain) executeAtomic(opcode, bytes, at, grant.region, begin, answer);
    else {
      const { mover } = this.core;
      const operation = atomicOperation(opcode, bytes, at);
      const executed = mover.atomicForeign(this.qp, grant, begin, operation, answer);
      if (executed === CopyStatus.FAILED) responder.refuseFault(psn, rkey);
      if (executed !== CopyStatus.READY) return;
    }
    const resource = this.#resources.take();
    resource.describe(OpcodeBit.ATOMIC, psn, 1, responder.pd, rkey, hi, lo, 8);
    resource.answer.set(answer);
    responder.executed(1, true, false);
    resource.msn = responder.msn;
    responder.sender.queueAtomic(resource, false);
  }

  /** What a WRITE has put into memory is there for all to see already, so that a FLUSH only has to be allowed. */
  #onFlush(bytes: Uint8Array, offset: number, psn: number, payload: number): void {
    const { responder } = this;
    const opcode = bytes[offset];
    const reth = offset + rethOffset[opcode];
    const feth = offset + fethOffset[opcode];
    const length = rethLength(bytes, reth);
    const placement = fethPlacement(bytes, feth);
    const selectivity = fethSelectivity(bytes, feth);
    const known = selectivity <= SelectivityLevel.FLUSH_MR && (placement & ~PLACEMENTS) === 0;
    if (payload !== 0 || length > MAX_DMA_BYTES || placement === 0 || !known) {
      responder.refuse(opcode, length, RefusalReason.FIELDS);
      return;
    }
    const rkey = rethRkey(bytes, reth);
    const hi = rethVaHi(bytes, reth);
    const lo = rethVaLo(bytes, reth);
    if (this.#openFlush(bytes, offset, responder.pd) === undefined) {
      responder.refuseAccess(psn, rkey, hi, lo, length, flushAccess(bytes, offset));
      return;
    }
    const resource = this.#confirm(OpcodeBit.FLUSH, psn, rkey, hi, lo, length);
    resource.placement = placement;
    resource.selectivity = selectivity;
  }

  /** The memory that a FLUSH names: a range of it, or all that the key opens, where no range is looked at. */
  #openFlush(bytes: Uint8Array, offset: number, pd: number): RemoteGrant | undefined {
    const reth = offset + rethOffset[bytes[offset]];
    const [rkey, hi, lo] = [rethRkey(bytes, reth), rethVaHi(bytes, reth), rethVaLo(bytes, reth)];
    const selectivity = fethSelectivity(bytes, offset + fethOffset[bytes[offset]]);
    return this.#openRange(flushAccess(bytes, offset), pd, selectivity, rkey, hi, lo, rethLength(bytes, reth));
  }

  #openRange(
    access: number,
    pd: number,
    selectivity: number,
    rkey: number,
    hi: number,
    lo: number,
    length: number,
  ): RemoteGrant | undefined {
    const { qp, core } = this;
    if (selectivity === SelectivityLevel.FLUSH_MR) return core.memory.openWhole(rkey, pd, qp.qpn, access);
    return core.memory.openRemote(rkey, pd, qp.qpn, access, hi, lo, length);
  }

  /** A repeated FLUSH flushes again, when it is the same. Its address may be 0: rxe forgets it when it repeats one. */
  #flushAgain(bytes: Uint8Array, offset: number, psn: number, resource: ResponderResource): boolean {
    const { sender } = this.responder;
    const reth = offset + rethOffset[bytes[offset]];
    const feth = offset + fethOffset[bytes[offset]];
    const [hi, lo] = [rethVaHi(bytes, reth), rethVaLo(bytes, reth)];
    const { rkey, addrHi, addrLo, lengthBytes, placement, selectivity, pd } = resource;
    const same =
      fethPlacement(bytes, feth) === placement &&
      fethSelectivity(bytes, feth) === selectivity &&
      rethRkey(bytes, reth) === rkey &&
      ((hi === addrHi && lo === addrLo) || (hi === 0 && lo === 0)) &&
      rethLength(bytes, reth) === lengthBytes;
    if (!same) return false;
    sender.dropFrom(psn);
    if (!sender.hasFlushRoom) return false;
    const access = flushAccess(bytes, offset);
    if (this.#openRange(access, pd, selectivity, rkey, addrHi, addrLo, lengthBytes) === undefined)
      this.responder.refuseRead(psn, true, Syndrome.RESPONDER_ACCESS);
    else sender.queueConfirmation(psn, resource.msn, true, true);
    return true;
  }

  #onAtomicWrite(
    bytes: Uint8Array,
    offset: number,
    psn: number,
    payload: number,
    source: Uint8Array,
    at: number,
  ): void {
    const { responder } = this;
    const opcode = bytes[offset];
    const reth = offset + rethOffset[opcode];
    const lo = rethVaLo(bytes, reth);
    if (payload !== 8 || rethLength(bytes, reth) !== 8 || (lo & 7) !== 0) {
      responder.refuse(opcode, payload, (lo & 7) === 0 ? RefusalReason.FIELDS : RefusalReason.ALIGNMENT);
      return;
    }
    const rkey = rethRkey(bytes, reth);
    const hi = rethVaHi(bytes, reth);
    const grant = responder.demand(rkey, hi, lo, 8, AccessFlags.REMOTE_WRITE);
    if (grant === undefined) return;
    const { begin } = this.core.memory;
    if (grant.region.isPlain) executeAtomicWrite(source, at, grant.region, begin);
    else {
      const stored = this.core.mover.storeForeign(this.qp, grant, begin, source, at, 8, true);
      if (stored === CopyStatus.FAILED) responder.refuseFault(psn, rkey);
      if (stored !== CopyStatus.READY) return;
    }
    this.#confirm(OpcodeBit.ATOMIC_WRITE, psn, rkey, hi, lo, 8);
  }

  #confirm(operation: number, psn: number, rkey: number, hi: number, lo: number, length: number): ResponderResource {
    const { responder } = this;
    const resource = this.#memoryOf(operation).take();
    resource.describe(operation, psn, 1, responder.pd, rkey, hi, lo, length);
    responder.executed(1, true, false);
    resource.msn = responder.msn;
    responder.sender.queueConfirmation(psn, resource.msn, false, operation === OpcodeBit.FLUSH);
    return resource;
  }

  /** A repeated READ reads again, within what was asked for the first time. */
  #readAgain(bytes: Uint8Array, offset: number, psn: number, resource: ResponderResource): boolean {
    const { qp, core, responder } = this;
    const { sender } = responder;
    const reth = offset + rethOffset[bytes[offset]];
    const length = rethLength(bytes, reth);
    const rkey = rethRkey(bytes, reth);
    const hi = rethVaHi(bytes, reth);
    const lo = rethVaLo(bytes, reth);
    const skipped = ((hi >>> 0) - (resource.addrHi >>> 0)) * 2 ** 32 + ((lo >>> 0) - (resource.addrLo >>> 0));
    const { segmentBytes } = responder;
    const packets = Math.max(1, Math.ceil(length / segmentBytes));
    const inside =
      rkey === resource.rkey &&
      skipped >= 0 &&
      length <= resource.lengthBytes - skipped &&
      packets <= resource.packets - psnDiff(psn, resource.firstPsn);
    if (!inside) return false;
    sender.dropFrom(psn);
    if (!sender.hasRoom) return false;
    const { memory } = core;
    const grant =
      length === 0 ? undefined : memory.openRemote(rkey, resource.pd, qp.qpn, AccessFlags.REMOTE_READ, hi, lo, length);
    if (length > 0 && grant === undefined) responder.refuseRead(psn, true, Syndrome.RESPONDER_ACCESS);
    else sender.queueRead(psn, packets, segmentBytes, grant, memory.begin, length, responder.msn, true);
    return true;
  }
}

/** Access that the FLUSH at `offset` needs, on the QP as on the memory (protocol/reliable.md 2.3, rows 3 and 6). */
function flushAccess(bytes: Uint8Array, offset: number): number {
  const placement = fethPlacement(bytes, offset + fethOffset[bytes[offset]]);
  return (
    ((placement & PlacementType.FLUSH_GLOBAL) !== 0 ? AccessFlags.FLUSH_GLOBAL : 0) |
    ((placement & PlacementType.FLUSH_PERSISTENT) !== 0 ? AccessFlags.FLUSH_PERSISTENT : 0)
  );
}
