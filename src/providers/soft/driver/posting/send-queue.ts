import { type QpCap, QpType, SendFlags, WrOpcode } from '../../../../device/ibta/index.js';
import { sendQueueShape, SendWqe } from '../../../../device/nic/index.js';
import {
  bindMwProblem,
  type DatagramDestination,
  highWord,
  type InlineData,
  invalid,
  lowWord,
  type Mw,
  type MwBind,
  namesSharedQueue,
  PostError,
  type Problem,
  queueFullProblem,
  sendProblem,
  type SendSge,
  sendStateProblem,
  type SendWr,
} from '../../../../api/verbs/index.js';
import { addressHandleNumber } from '../address-handle.js';
import type { OpenDevice } from '../context-base.js';
import { nextKeyOf, noteBound, writeBindOf } from './bind.js';
import {
  sendControl,
  writeCompareAdd,
  writeDatagram,
  writeFlush,
  writeInline,
  writeRemote,
  writeSendHeader,
  writeSgeList,
  writeSharedQueue,
  writeSwap,
} from './entries.js';
import { WorkRing } from './work-ring.js';

const NO_PIECES: readonly never[] = [];

/** Whether a piece brings its bytes. A field that is there, but undefined, counts as absent. */
function isInline(piece: SendSge): piece is InlineData {
  return 'bytes' in piece && piece.bytes instanceof Uint8Array;
}

/** Whether all pieces name memory by address and key, so that they can stand in an entry as they are. */
function areSges(pieces: readonly SendSge[]): pieces is readonly Exclude<SendSge, { bytes: Uint8Array }>[] {
  for (let i = 0; i < pieces.length; i += 1) if (isInline(pieces[i])) return false;
  return true;
}

/** That a datagram names an address handle that is none, or none any more. */
export function handleProblem(): Problem {
  return invalid('ud.ah is not a live address handle of this context', 'Make one by pd.createAh');
}

/** The driver's end of a send queue, for requests that come as objects. */
export class SendQueue {
  readonly ring: WorkRing;
  readonly maxMessageBytes: number;

  constructor(
    readonly context: OpenDevice,
    readonly type: QpType,
    readonly cap: QpCap,
  ) {
    this.maxMessageBytes = context.limits.maxMessageBytes;
    const shape = sendQueueShape(cap.maxSendWr, cap.maxSendSge, cap.maxInlineData);
    this.ring = new WorkRing(shape, cap.maxSendWr, context.spareRings);
  }

  /**
   * Publishes requests up to the first that is refused.
   *
   * @throws PostError naming that one
   */
  post(wrs: readonly SendWr[]): void {
    this.ring.rollBack();
    const refused = sendStateProblem(this.ring.state);
    for (let i = 0; i < wrs.length; i += 1) {
      const wr = wrs[i];
      const problem = refused ?? sendProblem(this.type, this.cap, this.maxMessageBytes, wr) ?? this.#write(wr);
      if (problem === undefined) continue;
      if (this.ring.pending) this.ring.publish();
      throw new PostError('ibv_post_send', problem, wr, i);
    }
    this.ring.publish();
  }

  /** Publishes the request that binds a window of type 1, which has its new key then. @returns why not, or undefined */
  bind(mw: Mw, bind: MwBind): Problem | undefined {
    const { ring } = this;
    const problem = bindMwProblem(this.type, mw, bind) ?? sendStateProblem(ring.state);
    if (problem !== undefined) return problem;
    ring.rollBack();
    const at = ring.reserve();
    if (at < 0) return queueFullProblem('send', this.cap.maxSendWr);
    const { wrId = 0, sendFlags = 0, bindInfo } = bind;
    const rkey = nextKeyOf(mw);
    writeSendHeader(ring.words, at, sendControl(WrOpcode.BIND_MW, sendFlags, 0), lowWord(wrId), highWord(wrId));
    const foreign = writeBindOf(ring.words, at, this.context, mw, rkey, bindInfo);
    if (foreign !== undefined) return foreign;
    ring.accept();
    ring.publish();
    noteBound(mw, rkey);
    return undefined;
  }

  #write(wr: SendWr): Problem | undefined {
    const at = this.ring.reserve();
    if (at < 0) return queueFullProblem('send', this.cap.maxSendWr);
    const { words } = this.ring;
    const { opcode, wrId = 0, sendFlags = 0 } = wr;
    const pieces: readonly SendSge[] = wr.sgList ?? NO_PIECES;
    writeSendHeader(words, at, sendControl(opcode, sendFlags, pieces.length), lowWord(wrId), highWord(wrId));
    let problem: Problem | undefined;
    if ((sendFlags & SendFlags.INLINE) !== 0) problem = this.#writeInline(at, pieces);
    else if (areSges(pieces)) writeSgeList(words, at + SendWqe.DATA, pieces);
    problem ??= this.#writeParticulars(at, wr);
    if (wr.xrc !== undefined && this.type === QpType.XRC_SEND && namesSharedQueue(opcode))
      writeSharedQueue(words, at, wr.xrc.remoteSrqn);
    if (problem === undefined) this.ring.accept();
    return problem;
  }

  /** Writes what requests of this opcode alone have. */
  #writeParticulars(at: number, wr: SendWr): Problem | undefined {
    const { words } = this.ring;
    switch (wr.opcode) {
      case WrOpcode.SEND:
        return this.#writeDestination(at, wr.ud);
      case WrOpcode.SEND_WITH_IMM:
        words[at + SendWqe.IMM_DATA] = wr.immData;
        return this.#writeDestination(at, wr.ud);
      case WrOpcode.SEND_WITH_INV:
      case WrOpcode.LOCAL_INV:
        words[at + SendWqe.IMM_DATA] = wr.invalidateRkey;
        return undefined;
      case WrOpcode.RDMA_WRITE_WITH_IMM:
        words[at + SendWqe.IMM_DATA] = wr.immData;
        writeRemote(words, at, wr.rdma.remoteAddr, wr.rdma.rkey);
        return undefined;
      case WrOpcode.RDMA_WRITE:
      case WrOpcode.RDMA_READ:
      case WrOpcode.ATOMIC_WRITE:
        writeRemote(words, at, wr.rdma.remoteAddr, wr.rdma.rkey);
        return undefined;
      case WrOpcode.FLUSH:
        writeRemote(words, at, wr.rdma.remoteAddr, wr.rdma.rkey);
        writeFlush(words, at, wr.flush.length, wr.flush.type, wr.flush.level);
        return undefined;
      case WrOpcode.ATOMIC_CMP_AND_SWP:
        writeRemote(words, at, wr.atomic.remoteAddr, wr.atomic.rkey);
        writeCompareAdd(words, at, wr.atomic.compareAdd);
        writeSwap(words, at, wr.atomic.swap);
        return undefined;
      case WrOpcode.ATOMIC_FETCH_AND_ADD:
        writeRemote(words, at, wr.atomic.remoteAddr, wr.atomic.rkey);
        writeCompareAdd(words, at, wr.atomic.compareAdd);
        return undefined;
      case WrOpcode.BIND_MW:
        return writeBindOf(words, at, this.context, wr.bindMw.mw, wr.bindMw.rkey, wr.bindMw.bindInfo);
    }
  }

  #writeDestination(at: number, ud: DatagramDestination | undefined): Problem | undefined {
    // Other types than UD have a peer, and look at nothing that is given here.
    if (ud === undefined || this.type !== QpType.UD) return undefined;
    const handle = addressHandleNumber(ud.ah, this.context);
    if (handle < 0) return handleProblem();
    writeDatagram(this.ring.words, at, handle, ud.remoteQpn, ud.remoteQkey);
    return undefined;
  }

  #writeInline(at: number, pieces: readonly SendSge[]): Problem | undefined {
    const { words } = this.ring;
    words[at + SendWqe.CONTROL] &= 0xffff;
    words[at + SendWqe.INLINE_BYTES] = 0;
    let written = 0;
    for (let i = 0; i < pieces.length; i += 1) {
      const piece = pieces[i];
      const data = isInline(piece) ? piece.bytes : this.context.memoryAt(piece.addr, piece.length, piece.lkey);
      if (data === undefined)
        return invalid(
          `sgList[${i}] names no registered memory of the program`,
          'Memory of a device is not sent inline; give data that is in no memory region as { bytes }',
        );
      writeInline(words, this.ring.bytes, at, written, data);
      written += data.length;
    }
    return undefined;
  }
}
