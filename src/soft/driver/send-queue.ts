import { SendWqe, sendQueueShape } from '../../nic/index.js';
import { type QpCap, type QpType, SendFlags, WrOpcode } from '../../spec/index.js';
import {
  highWord,
  invalid,
  lowWord,
  PostError,
  type Problem,
  queueFullProblem,
  sendProblem,
  type SendSge,
  sendStateProblem,
  type SendWr,
} from '../../verbs/index.js';
import {
  sendControl,
  writeCompareAdd,
  writeInline,
  writeRemote,
  writeSendHeader,
  writeSgeList,
  writeSwap,
} from './entries.js';
import { WorkRing } from './work-ring.js';

/** Memory of the program behind an address, for inline data that is named by one; undefined when none is known there. */
export type MemoryLookup = (addr: bigint | number, lengthBytes: number) => Uint8Array | undefined;

const NO_PIECES: readonly never[] = [];

/** Whether all pieces name memory by address and key, so that they can stand in an entry as they are. */
function areSges(pieces: readonly SendSge[]): pieces is readonly Exclude<SendSge, { bytes: Uint8Array }>[] {
  for (let i = 0; i < pieces.length; i += 1) if ('bytes' in pieces[i]) return false;
  return true;
}

/** The driver's end of a send queue, for requests that come as objects. */
export class SendQueue {
  readonly ring: WorkRing;
  /** The ring's memory, byte by byte, for inline data. */
  readonly bytes: Uint8Array;

  constructor(
    private readonly type: QpType,
    readonly cap: QpCap,
    readonly maxMessageBytes: number,
    private readonly lookUp: MemoryLookup,
  ) {
    this.ring = new WorkRing(sendQueueShape(cap.maxSendWr, cap.maxSendSge, cap.maxInlineData), cap.maxSendWr);
    this.bytes = new Uint8Array(this.ring.memory);
  }

  /**
   * Publishes requests up to the first that is refused.
   *
   * @throws PostError naming that one
   */
  post(wrs: readonly SendWr[]): void {
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

  #write(wr: SendWr): Problem | undefined {
    const at = this.ring.reserve();
    if (at < 0) return queueFullProblem('send', this.cap.maxSendWr);
    const { words } = this.ring;
    const { opcode, wrId = 0, sendFlags = 0 } = wr;
    const pieces: readonly SendSge[] = wr.sgList ?? NO_PIECES;
    writeSendHeader(words, at, sendControl(opcode, sendFlags, pieces.length), lowWord(wrId), highWord(wrId));
    if ((sendFlags & SendFlags.INLINE) !== 0) {
      const problem = this.#writeInline(at, pieces);
      if (problem !== undefined) return problem;
    } else if (areSges(pieces)) {
      writeSgeList(words, at + SendWqe.DATA, pieces);
    }
    switch (wr.opcode) {
      case WrOpcode.SEND:
        break;
      case WrOpcode.SEND_WITH_IMM:
        words[at + SendWqe.IMM_DATA] = wr.immData;
        break;
      case WrOpcode.SEND_WITH_INV:
        words[at + SendWqe.IMM_DATA] = wr.invalidateRkey;
        break;
      case WrOpcode.RDMA_WRITE_WITH_IMM:
        words[at + SendWqe.IMM_DATA] = wr.immData;
        writeRemote(words, at, wr.rdma.remoteAddr, wr.rdma.rkey);
        break;
      case WrOpcode.RDMA_WRITE:
      case WrOpcode.RDMA_READ:
        writeRemote(words, at, wr.rdma.remoteAddr, wr.rdma.rkey);
        break;
      case WrOpcode.ATOMIC_CMP_AND_SWP:
        writeRemote(words, at, wr.atomic.remoteAddr, wr.atomic.rkey);
        writeCompareAdd(words, at, wr.atomic.compareAdd);
        writeSwap(words, at, wr.atomic.swap);
        break;
      case WrOpcode.ATOMIC_FETCH_AND_ADD:
        writeRemote(words, at, wr.atomic.remoteAddr, wr.atomic.rkey);
        writeCompareAdd(words, at, wr.atomic.compareAdd);
        break;
    }
    this.ring.accept();
    return undefined;
  }

  #writeInline(at: number, pieces: readonly SendSge[]): Problem | undefined {
    const { words } = this.ring;
    words[at + SendWqe.CONTROL] &= 0xffff;
    words[at + SendWqe.INLINE_BYTES] = 0;
    let written = 0;
    for (let i = 0; i < pieces.length; i += 1) {
      const piece = pieces[i];
      const data = 'bytes' in piece ? piece.bytes : this.lookUp(piece.addr, piece.length);
      if (data === undefined)
        return invalid(
          `sgList[${i}] names memory that is not registered`,
          'Give inline data that is not in a memory region as { bytes }',
        );
      writeInline(words, this.bytes, at, written, data);
      written += data.length;
    }
    return undefined;
  }
}
