import { SendWqe } from '../../nic/index.js';
import { flagNames, nameOf, type QpType, SendFlags, WrOpcode } from '../../spec/index.js';
import {
  type Address,
  hasOpcode,
  highWord,
  invalid,
  isAddress,
  isAtomicAligned,
  isU32,
  isWrId,
  lowWord,
  mayBeInline,
  opcodeProblem,
  type Problem,
  queueFullProblem,
  refuse,
  sendStateProblem,
  type Sge,
} from '../../verbs/index.js';
import {
  sendControl,
  writeCompareAdd,
  writeInline,
  writeRemote,
  writeSendHeader,
  writeSge,
  writeSwap,
} from './entries.js';
import type { SendQueue } from './send-queue.js';
import { SgeWords } from '../../nic/index.js';

const FLAGS = SendFlags.FENCE | SendFlags.SIGNALED | SendFlags.SOLICITED;
const ATOMIC_BYTES = 8;

function isAtomic(opcode: number): boolean {
  return opcode === WrOpcode.ATOMIC_CMP_AND_SWP || opcode === WrOpcode.ATOMIC_FETCH_AND_ADD;
}

/**
 * Send requests that are written straight into the queue, call by call, without an object for any (`ibv_wr_start` to
 * `ibv_wr_complete`). The first mistake is kept until the end; the batch is then posted whole or not at all.
 */
export class SendBatch {
  /** Between start and complete or abort. */
  open = false;

  #problem: Problem | undefined;
  /** Word of the entry that is being written, or -1. */
  #at = -1;
  #opcode = 0;
  #dataBytes = 0;
  #flags = 0;
  #wrIdLo = 0;
  #wrIdHi = 0;

  constructor(
    private readonly type: QpType,
    private readonly queue: SendQueue,
  ) {}

  /** @throws VerbsError EINVAL when a batch is open already */
  start(): void {
    if (this.open)
      refuse('ibv_wr_start', invalid('a batch is open already', 'End it by wrComplete or wrAbort, or go on with it'));
    this.open = true;
    this.#problem = undefined;
    this.#at = -1;
    this.#flags = 0;
    this.#wrIdLo = 0;
    this.#wrIdHi = 0;
  }

  setWrId(wrId: bigint | number): void {
    if (!isWrId(wrId)) {
      this.#fail(invalid(`wrId is ${String(wrId)}`, 'It is a bigint of 64 bits or a safe integer'));
      return;
    }
    this.#wrIdLo = lowWord(wrId);
    this.#wrIdHi = highWord(wrId);
  }

  setFlags(flags: number): void {
    if ((flags & ~FLAGS) === 0) this.#flags = flags;
    else
      this.#fail(
        invalid(
          `wrFlags has ${flagNames(SendFlags, flags & ~FLAGS)}`,
          'It takes FENCE, SIGNALED and SOLICITED; wrSetInlineData makes a request inline',
        ),
      );
  }

  /** SEND. */
  send(): void {
    this.#begin(WrOpcode.SEND);
  }

  /** SEND_WITH_IMM or SEND_WITH_INV: `value` is the immediate data or the key. */
  sendWith(opcode: typeof WrOpcode.SEND_WITH_IMM | typeof WrOpcode.SEND_WITH_INV, value: number): void {
    if (this.#begin(opcode)) this.#setImmediate(value);
  }

  /** RDMA_WRITE or RDMA_READ. */
  rdma(opcode: typeof WrOpcode.RDMA_WRITE | typeof WrOpcode.RDMA_READ, rkey: number, remoteAddr: Address): void {
    if (this.#begin(opcode)) this.#setRemote(rkey, remoteAddr);
  }

  writeImm(rkey: number, remoteAddr: Address, immData: number): void {
    if (!this.#begin(WrOpcode.RDMA_WRITE_WITH_IMM)) return;
    this.#setRemote(rkey, remoteAddr);
    this.#setImmediate(immData);
  }

  compareAndSwap(rkey: number, remoteAddr: Address, compare: Address, swap: Address): void {
    if (!this.#begin(WrOpcode.ATOMIC_CMP_AND_SWP)) return;
    this.#setAtomic(rkey, remoteAddr, compare);
    if (isWrId(swap)) writeSwap(this.queue.ring.words, this.#at, swap);
    else this.#fail(invalid(`swap is ${String(swap)}`, 'It is a bigint of 64 bits or a safe integer'));
  }

  fetchAndAdd(rkey: number, remoteAddr: Address, add: Address): void {
    if (this.#begin(WrOpcode.ATOMIC_FETCH_AND_ADD)) this.#setAtomic(rkey, remoteAddr, add);
  }

  setSge(lkey: number, addr: Address, length: number): void {
    if (!this.#hasRequest('wrSetSge')) return;
    const { queue } = this;
    if (queue.cap.maxSendSge < 1) {
      this.#fail(invalid('a piece of memory, but cap.maxSendSge is 0', 'Ask for more in createQp'));
    } else if (this.#isPiece(lkey, addr, length)) {
      const { words } = queue.ring;
      writeSge(words, this.#at + SendWqe.DATA, addr, length, lkey);
      words[this.#at + SendWqe.CONTROL] = sendControl(this.#opcode, this.#flags, 1);
      this.#setDataBytes(length);
    }
  }

  setSgeList(list: readonly Sge[]): void {
    if (!this.#hasRequest('wrSetSgeList')) return;
    const { cap, ring } = this.queue;
    if (list.length > cap.maxSendSge) {
      this.#fail(invalid(`${list.length} pieces, but cap.maxSendSge is ${cap.maxSendSge}`, 'Ask for more in createQp'));
      return;
    }
    let total = 0;
    for (let i = 0; i < list.length; i += 1) {
      const { lkey, addr, length } = list[i];
      if (!this.#isPiece(lkey, addr, length)) return;
      writeSge(ring.words, this.#at + SendWqe.DATA + i * SgeWords.SIZE, addr, length, lkey);
      total += length;
    }
    ring.words[this.#at + SendWqe.CONTROL] = sendControl(this.#opcode, this.#flags, list.length);
    this.#setDataBytes(total);
  }

  setInlineData(bytes: Uint8Array): void {
    if (!this.#hasRequest('wrSetInlineData')) return;
    const { cap, ring } = this.queue;
    if (!mayBeInline(this.#opcode)) {
      this.#fail(invalid(`${nameOf(WrOpcode, this.#opcode)} cannot be inline`, 'Use wrSetSge'));
    } else if (bytes.length > cap.maxInlineData) {
      this.#fail(
        invalid(
          `${bytes.length} bytes inline, but cap.maxInlineData is ${cap.maxInlineData}`,
          'Ask for more in createQp',
        ),
      );
    } else {
      ring.words[this.#at + SendWqe.CONTROL] = sendControl(this.#opcode, this.#flags, 0);
      writeInline(ring.words, this.queue.bytes, this.#at, 0, bytes);
    }
  }

  /**
   * Publishes the batch.
   *
   * @returns whether there was anything in it
   * @throws VerbsError for the first mistake since start; nothing is posted then
   */
  complete(): boolean {
    const { ring } = this.queue;
    if (!this.open) refuse('ibv_wr_complete', invalid('no batch is open', 'Begin one by wrStart'));
    this.#finish();
    this.open = false;
    const problem = this.#problem ?? (ring.pending ? sendStateProblem(ring.state) : undefined);
    if (problem !== undefined) {
      ring.rollBack();
      refuse('ibv_wr_complete', problem);
    }
    if (!ring.pending) return false;
    ring.publish();
    return true;
  }

  abort(): void {
    this.open = false;
    this.#at = -1;
    this.queue.ring.rollBack();
  }

  #begin(opcode: WrOpcode): boolean {
    this.#finish();
    if (this.#problem !== undefined) return false;
    if (!this.open) refuse('ibv_wr_start', invalid('no batch is open', 'Begin one by wrStart'));
    if (!hasOpcode(this.type, opcode)) {
      this.#fail(opcodeProblem(this.type, opcode));
      return false;
    }
    const { ring, cap } = this.queue;
    const at = ring.reserve();
    if (at < 0) {
      this.#fail(queueFullProblem('send', cap.maxSendWr));
      return false;
    }
    this.#at = at;
    this.#opcode = opcode;
    this.#dataBytes = 0;
    writeSendHeader(ring.words, at, sendControl(opcode, this.#flags, 0), this.#wrIdLo, this.#wrIdHi);
    return true;
  }

  /** The request under the pen is complete. */
  #finish(): void {
    if (this.#at < 0) return;
    if (isAtomic(this.#opcode) && this.#dataBytes !== ATOMIC_BYTES)
      this.#fail(invalid(`an atomic fetches 8 bytes, not ${this.#dataBytes}`, 'Give it one piece of 8 bytes'));
    this.#at = -1;
    if (this.#problem === undefined) this.queue.ring.accept();
  }

  #fail(problem: Problem | undefined): void {
    this.#problem ??= problem;
  }

  #hasRequest(what: string): boolean {
    if (this.#at >= 0) return true;
    this.#fail(invalid(`${what} comes before any request`, 'Call wrSend or another request first'));
    return false;
  }

  #isPiece(lkey: number, addr: Address, length: number): boolean {
    if (isU32(lkey) && isAddress(addr) && isU32(length)) return true;
    this.#fail(
      invalid(
        `a piece is lkey ${String(lkey)}, address ${String(addr)}, length ${String(length)}`,
        'Keys and lengths are numbers of 32 bits, an address is a bigint of 64 bits or a safe integer, none negative',
      ),
    );
    return false;
  }

  #setDataBytes(total: number): void {
    this.#dataBytes = total;
    if (total > this.queue.maxMessageBytes)
      this.#fail(invalid(`the message is ${total} bytes, but the port takes ${this.queue.maxMessageBytes}`));
  }

  #setImmediate(value: number): void {
    if (isU32(value)) this.queue.ring.words[this.#at + SendWqe.IMM_DATA] = value;
    else this.#fail(invalid(`immediate data or key is ${String(value)}`, 'It is a number of 32 bits, never negative'));
  }

  #setRemote(rkey: number, remoteAddr: Address): void {
    if (isU32(rkey) && isAddress(remoteAddr)) writeRemote(this.queue.ring.words, this.#at, remoteAddr, rkey);
    else
      this.#fail(
        invalid(
          `the peer's memory is rkey ${String(rkey)}, address ${String(remoteAddr)}`,
          'A key is a number of 32 bits, an address a bigint of 64 bits or a safe integer, neither negative',
        ),
      );
  }

  #setAtomic(rkey: number, remoteAddr: Address, compareAdd: Address): void {
    this.#setRemote(rkey, remoteAddr);
    if (!isAtomicAligned(remoteAddr))
      this.#fail(invalid(`an atomic at ${String(remoteAddr)}`, 'An atomic works at a multiple of 8'));
    else if (isWrId(compareAdd)) writeCompareAdd(this.queue.ring.words, this.#at, compareAdd);
    else this.#fail(invalid(`operand is ${String(compareAdd)}`, 'It is a bigint of 64 bits or a safe integer'));
  }
}
