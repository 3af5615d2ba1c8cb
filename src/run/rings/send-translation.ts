import type { QpRings } from '../../providers/soft/index.js';
import { SendFlags, WrOpcode } from '../../device/ibta/index.js';
import { BindWqe, FlushWqe, SendWqe, SgeWords } from '../../device/nic/index.js';
import { RxeAtomic, RxeBind, RxeDatagram, RxeFlush, RxeRdma, RxeSendWqe, swapped } from './layouts.js';
import type { ProgramQueue } from './program-queue.js';

/** Flags that a request can have; others are checks of hardware's that we have no need of. */
const FLAGS = SendFlags.FENCE | SendFlags.SIGNALED | SendFlags.SOLICITED | SendFlags.INLINE;
const ATOMIC_WRITE_BYTES = 8;
const LOW_BYTE = 0xff;
/** Of a QP number, as it goes on the wire. */
const QPN_MASK = 0xffffff;
/**
 * Their length is that of their pieces. If a request claims more, it fails, as with rxe (`copy_data`): rxe's provider posts such a
 * request for `ibv_wr_set_inline_data` without IBV_SEND_INLINE.
 */
const DATA_OPCODES: ReadonlySet<number> = new Set([
  WrOpcode.SEND,
  WrOpcode.SEND_WITH_IMM,
  WrOpcode.SEND_WITH_INV,
  WrOpcode.RDMA_WRITE,
  WrOpcode.RDMA_WRITE_WITH_IMM,
  WrOpcode.RDMA_READ,
]);
/** Stands for numbers too large for their place: no request may have as many. */
const TOO_MANY = 0xff;

/** What a send queue grants, by which the room of its entries is known. */
export interface SendLimits {
  readonly maxSge: number;
  readonly maxInline: number;
}

/**
 * Copies what a program posts from its send queue into the NIC's. An entry there becomes an entry here, so that both have the
 * same numbers; what it says is for the NIC to judge.
 */
export class SendTranslation {
  /** Index of the program's entry that is read next. */
  #next = 0;
  /** From the NIC's numbers to the program's indices. */
  #offset = 0;
  #consumer = 0;
  #unsignaled = 0;
  /** The longest row of requests that were not SIGNALED. */
  mostUnsignaled = 0;
  /** More was posted than there was room for. */
  #blocked = false;

  constructor(
    readonly queue: ProgramQueue,
    private readonly rings: QpRings,
    private readonly limits: SendLimits,
    /** The NIC's number of an address handle, by the program's: -1 where it has none of that number. */
    private readonly addressHandle: (number: number) => number,
  ) {}

  /** Whether the program has posted what was not copied yet. */
  get hasPosted(): boolean {
    return this.queue.producer !== this.#next;
  }

  /** Requests that the program has posted and that are not complete, as far as it was told. */
  get outstanding(): number {
    const { queue } = this;
    return (queue.producer - queue.consumer) & queue.mask;
  }

  /** How long the messages are that the program has posted and that were not copied yet, as it says. */
  get postedBytes(): number {
    const { queue } = this;
    const { words, producer } = queue;
    let sum = 0;
    for (let at = this.#next; at !== producer; at = (at + 1) & queue.mask)
      sum += words[queue.entry(at) + RxeSendWqe.LENGTH] >>> 0;
    return sum;
  }

  /** Whether more was posted than there was room for. */
  get isBlocked(): boolean {
    return this.#blocked;
  }

  /** Copies what was posted. @returns whether there was anything */
  pull(): boolean {
    const { queue, rings } = this;
    const produced = queue.producer;
    if (produced === this.#next) return false;
    const { send } = rings;
    send.rollBack();
    while (this.#next !== produced) {
      const at = send.reserve();
      // Not before the NIC has done something.
      this.#blocked = at < 0;
      if (this.#blocked) break;
      this.#translate(queue.words, queue.entry(this.#next), send.words, at);
      send.accept();
      this.#next = (this.#next + 1) & queue.mask;
    }
    if (!send.pending) return false;
    send.publish();
    rings.ring();
    return true;
  }

  /** Tells the program which of its entries are free again. To come before the completions that say the same. */
  giveBack(): void {
    const consumer = (this.rings.send.taken + this.#offset) & this.queue.mask;
    if (consumer === this.#consumer) return;
    this.#consumer = consumer;
    this.queue.consumer = consumer;
  }

  /** The queue pair was reset: what was posted is gone. */
  reset(): void {
    const { queue, rings } = this;
    this.#next = queue.producer;
    this.#offset = (this.#next - rings.send.taken) & queue.mask;
    this.#consumer = -1;
    this.giveBack();
  }

  /** Writes the entry at word `to` of ours from the one at word `from` of the program's. */
  #translate(theirs: Int32Array, from: number, ours: Int32Array, to: number): void {
    // Once each: the program may change them meanwhile.
    const opcode = Math.min(theirs[from + RxeSendWqe.OPCODE] >>> 0, TOO_MANY);
    const flags = theirs[from + RxeSendWqe.FLAGS] & FLAGS;
    this.#unsignaled = (flags & SendFlags.SIGNALED) === 0 ? this.#unsignaled + 1 : 0;
    if (this.#unsignaled > this.mostUnsignaled) this.mostUnsignaled = this.#unsignaled;
    ours[to + SendWqe.WR_ID_LO] = theirs[from + RxeSendWqe.WR_ID_LO];
    ours[to + SendWqe.WR_ID_HI] = theirs[from + RxeSendWqe.WR_ID_HI];
    this.#translateKind(opcode, theirs, from, ours, to);
    if (opcode === WrOpcode.ATOMIC_WRITE) {
      this.#copyInline(theirs, from, ours, to, ATOMIC_WRITE_BYTES);
      ours[to + SendWqe.CONTROL] = opcode | ((flags | SendFlags.INLINE) << 8);
    } else if ((flags & SendFlags.INLINE) !== 0) {
      this.#copyInline(theirs, from, ours, to, theirs[from + RxeSendWqe.LENGTH] >>> 0);
      ours[to + SendWqe.CONTROL] = opcode | (flags << 8);
    } else {
      const lengthBytes = DATA_OPCODES.has(opcode) ? theirs[from + RxeSendWqe.LENGTH] >>> 0 : 0;
      const numSge = this.#copyPieces(theirs, from, ours, to, lengthBytes);
      ours[to + SendWqe.INLINE_BYTES] = 0;
      ours[to + SendWqe.CONTROL] = opcode | (flags << 8) | (numSge << 16);
    }
  }

  #translateKind(opcode: number, theirs: Int32Array, from: number, ours: Int32Array, to: number): void {
    switch (opcode) {
      case WrOpcode.SEND_WITH_INV:
      case WrOpcode.LOCAL_INV:
        ours[to + SendWqe.IMM_DATA] = theirs[from + RxeSendWqe.IMM_DATA];
        break;
      case WrOpcode.ATOMIC_CMP_AND_SWP:
      case WrOpcode.ATOMIC_FETCH_AND_ADD:
        copy(theirs, from + RxeAtomic.REMOTE_LO, ours, to + SendWqe.REMOTE_ADDR_LO, 2);
        copy(theirs, from + RxeAtomic.COMPARE_ADD_LO, ours, to + SendWqe.COMPARE_ADD_LO, 4);
        ours[to + SendWqe.RKEY] = theirs[from + RxeAtomic.RKEY];
        return;
      case WrOpcode.BIND_MW:
        copy(theirs, from + RxeBind.ADDR_LO, ours, to + SendWqe.REMOTE_ADDR_LO, 2);
        copy(theirs, from + RxeBind.LENGTH_LO, ours, to + BindWqe.LENGTH_LO, 2);
        ours[to + BindWqe.LKEY] = theirs[from + RxeBind.LKEY];
        ours[to + BindWqe.ACCESS] = theirs[from + RxeBind.ACCESS];
        ours[to + SendWqe.RKEY] = theirs[from + RxeBind.MW_RKEY];
        // Of the new key a program chooses the low byte, whatever it has above that (`rxe_do_bind_mw`).
        ours[to + SendWqe.IMM_DATA] =
          (theirs[from + RxeBind.MW_RKEY] & ~LOW_BYTE) | (theirs[from + RxeBind.NEW_RKEY] & LOW_BYTE);
        return;
      case WrOpcode.FLUSH: {
        const both = theirs[from + RxeFlush.TYPE_AND_LEVEL];
        copy(theirs, from + RxeFlush.REMOTE_LO, ours, to + SendWqe.REMOTE_ADDR_LO, 2);
        ours[to + FlushWqe.LENGTH] = theirs[from + RxeFlush.LENGTH];
        ours[to + SendWqe.RKEY] = theirs[from + RxeFlush.RKEY];
        ours[to + FlushWqe.FETH] = (both & 0xf) | (((both >>> 8) & 3) << 4);
        return;
      }
      case WrOpcode.SEND:
      case WrOpcode.SEND_WITH_IMM:
        // Only datagrams have an address; what stands there otherwise nobody looks at.
        ours[to + SendWqe.REMOTE_QPN] = theirs[from + RxeDatagram.REMOTE_QPN] & QPN_MASK;
        ours[to + SendWqe.REMOTE_QKEY] = theirs[from + RxeDatagram.REMOTE_QKEY];
        ours[to + SendWqe.ADDRESS_HANDLE] = this.addressHandle(theirs[from + RxeDatagram.AH_NUM]);
        break;
      default:
        copy(theirs, from + RxeRdma.REMOTE_LO, ours, to + SendWqe.REMOTE_ADDR_LO, 2);
        ours[to + SendWqe.RKEY] = theirs[from + RxeRdma.RKEY];
    }
    if (opcode === WrOpcode.SEND_WITH_IMM || opcode === WrOpcode.RDMA_WRITE_WITH_IMM)
      ours[to + SendWqe.IMM_DATA] = swapped(theirs[from + RxeSendWqe.IMM_DATA]);
  }

  #copyInline(theirs: Int32Array, from: number, ours: Int32Array, to: number, lengthBytes: number): void {
    const within = Math.min(lengthBytes, this.limits.maxInline);
    copy(theirs, from + RxeSendWqe.DATA, ours, to + SendWqe.DATA, Math.ceil(within / 4));
    ours[to + SendWqe.INLINE_BYTES] = lengthBytes;
  }

  /** @returns the number of pieces that the NIC is told of */
  #copyPieces(theirs: Int32Array, from: number, ours: Int32Array, to: number, lengthBytes: number): number {
    const numSge = theirs[from + RxeSendWqe.NUM_SGE] >>> 0;
    if (numSge > this.limits.maxSge) return TOO_MANY;
    copy(theirs, from + RxeSendWqe.DATA, ours, to + SendWqe.DATA, numSge * SgeWords.SIZE);
    let presentBytes = 0;
    for (let i = 0; i < numSge; i += 1)
      presentBytes += ours[to + SendWqe.DATA + i * SgeWords.SIZE + SgeWords.LENGTH] >>> 0;
    return lengthBytes > presentBytes ? TOO_MANY : numSge;
  }
}

function copy(source: Int32Array, from: number, target: Int32Array, to: number, words: number): void {
  for (let i = 0; i < words; i += 1) target[to + i] = source[from + i];
}
