import { nameOf, QpType, SendFlags, WrOpcode } from '../../../../device/ibta/index.js';
import { SendWqe, SgeWords } from '../../../../device/nic/index.js';
import {
  type Address,
  bytesProblem,
  hasOpcode,
  highWord,
  invalid,
  isAddress,
  isList,
  isObject,
  isU32,
  isWrId,
  listProblem,
  lowWord,
  mayBeInline,
  movesData,
  namesSharedQueue,
  objectProblem,
  opcodeProblem,
  type Problem,
  queueFullProblem,
  refuse,
  sendOpOf,
  sendOpProblem,
  sendStateProblem,
  type Sge,
  show,
  wrFlagsProblem,
  type WrId,
  wrIdProblem,
} from '../../../../api/verbs/index.js';
import { sendControl, writeInline, writeSendHeader, writeSge } from './entries.js';
import type { SendQueue } from './send-queue.js';

const FLAGS = SendFlags.FENCE | SendFlags.SIGNALED | SendFlags.SOLICITED;
const ATOMIC_BYTES = 8;

function isAtomic(opcode: number): boolean {
  return opcode === WrOpcode.ATOMIC_CMP_AND_SWP || opcode === WrOpcode.ATOMIC_FETCH_AND_ADD;
}

/** A bit, `1 << opcode`, for each opcode of which requests may be built. */
function buildable(type: QpType, sendOpsFlags: number): number {
  let mask = 0;
  for (const opcode of Object.values(WrOpcode))
    if (hasOpcode(type, opcode) && (sendOpsFlags & sendOpOf(opcode)) !== 0) mask |= 1 << opcode;
  return mask;
}

/**
 * Send requests that are being written straight into the queue: what is the same for all of them, from the beginning of
 * the batch over the data of each request to the end. The first mistake is kept until then; the batch is posted whole or
 * not at all. Nothing here makes an object, but for mistakes.
 */
export abstract class OpenBatch {
  /** Between start and complete or abort. */
  open = false;
  /** Word of the entry that is being written, or -1. */
  protected at = -1;
  /** Whether the entry says where it goes; only some types and opcodes need to. */
  protected addressed = false;

  readonly #buildable: number;
  #problem: Problem | undefined;
  #opcode = 0;
  #dataBytes = 0;
  /** Whether the request can still be given data. */
  #empty = false;
  #flags = 0;
  #wrIdLo = 0;
  #wrIdHi = 0;

  constructor(
    protected readonly queue: SendQueue,
    sendOpsFlags: number,
  ) {
    this.#buildable = buildable(queue.type, sendOpsFlags);
  }

  /** @throws VerbsError EINVAL when a batch is open already */
  start(): void {
    if (this.open)
      refuse('ibv_wr_start', invalid('a batch is open already', 'End it by wrComplete or wrAbort, or go on with it'));
    this.queue.ring.rollBack();
    this.#problem = undefined;
    this.at = -1;
    this.#flags = 0;
    this.#wrIdLo = 0;
    this.#wrIdHi = 0;
    this.open = true;
  }

  setWrId(wrId: WrId): void {
    if (!isWrId(wrId)) {
      this.fail(wrIdProblem(wrId));
      return;
    }
    this.#wrIdLo = lowWord(wrId);
    this.#wrIdHi = highWord(wrId);
  }

  setFlags(flags: number): void {
    if (isU32(flags) && (flags & ~FLAGS) === 0) this.#flags = flags;
    else this.fail(wrFlagsProblem(flags));
  }

  setSge(lkey: number, addr: Address, length: number): void {
    if (!this.#takesData('wrSetSge')) return;
    const { cap, ring } = this.queue;
    if (cap.maxSendSge < 1) {
      this.fail(invalid('a piece of memory, but cap.maxSendSge is 0', 'Ask for more in createQp'));
    } else if (this.#isPiece(lkey, addr, length)) {
      writeSge(ring.words, this.at + SendWqe.DATA, addr, length, lkey);
      this.#setPieces(1, length);
    }
  }

  setSgeList(list: readonly Sge[]): void {
    if (!this.#takesData('wrSetSgeList')) return;
    const { cap, ring } = this.queue;
    // An accessor of the list may abort the batch.
    const { at } = this;
    if (!isList(list)) {
      this.fail(listProblem('sgList', list));
      return;
    }
    if (list.length > cap.maxSendSge) {
      this.fail(invalid(`${list.length} pieces, but cap.maxSendSge is ${cap.maxSendSge}`, 'Ask for more in createQp'));
      return;
    }
    let total = 0;
    for (let i = 0; i < list.length; i += 1) {
      if (!isObject(list[i])) {
        this.fail(objectProblem(`sgList[${i}]`, list[i]));
        return;
      }
      const { lkey, addr, length } = list[i];
      if (!this.#isPiece(lkey, addr, length)) return;
      writeSge(ring.words, at + SendWqe.DATA + i * SgeWords.SIZE, addr, length, lkey);
      total += length;
    }
    this.#setPieces(list.length, total);
  }

  setInlineData(bytes: Uint8Array): void {
    if (!(bytes instanceof Uint8Array)) this.fail(bytesProblem('the data', bytes));
    else if (this.#beginInline('wrSetInlineData', bytes.length)) this.#appendInline(bytes);
  }

  setInlineDataList(list: readonly Uint8Array[]): void {
    if (!isList(list)) {
      this.fail(listProblem('list', list));
      return;
    }
    let total = 0;
    for (let i = 0; i < list.length; i += 1) {
      if (!(list[i] instanceof Uint8Array)) {
        this.fail(bytesProblem(`list[${i}]`, list[i]));
        return;
      }
      total += list[i].length;
    }
    if (!this.#beginInline('wrSetInlineDataList', total)) return;
    for (let i = 0; i < list.length; i += 1) this.#appendInline(list[i]);
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
    this.at = -1;
    this.queue.ring.rollBack();
  }

  /** Begins the next request. @returns whether it can be written */
  protected begin(opcode: WrOpcode): boolean {
    if (!this.open) refuse('ibv_wr_start', invalid('no batch is open', 'Begin one by wrStart'));
    this.#finish();
    if (this.#problem !== undefined) return false;
    const { ring, cap, type } = this.queue;
    if ((this.#buildable & (1 << opcode)) === 0) {
      this.fail(opcodeProblem(type, opcode) ?? sendOpProblem(opcode));
      return false;
    }
    const at = ring.reserve();
    if (at < 0) {
      this.fail(queueFullProblem('send', cap.maxSendWr));
      return false;
    }
    this.addressed = false;
    this.#opcode = opcode;
    this.#dataBytes = 0;
    this.#empty = movesData(opcode);
    writeSendHeader(ring.words, at, sendControl(opcode, this.#flags, 0), this.#wrIdLo, this.#wrIdHi);
    // Last: where this is interrupted no request has begun.
    this.at = at;
    return true;
  }

  protected fail(problem: Problem | undefined): void {
    this.#problem ??= problem;
  }

  /** Whether a request has begun that `what` can be said of. */
  protected hasRequest(what: string): boolean {
    if (this.at >= 0) return true;
    this.fail(invalid(`${what} comes before any request`, 'Call wrSend or another request first'));
    return false;
  }

  /** Gives the request all the data that it will have. That it fits is for the caller to know. */
  protected setWholeInline(bytes: Uint8Array): void {
    const { ring } = this.queue;
    writeInline(ring.words, ring.bytes, this.at, 0, bytes);
    this.#empty = false;
  }

  /** The request under the pen is complete. */
  #finish(): void {
    if (this.at < 0) return;
    this.fail(this.#missing());
    this.at = -1;
    if (this.#problem === undefined) this.queue.ring.accept();
  }

  /** What the request under the pen lacks. */
  #missing(): Problem | undefined {
    const opcode = this.#opcode;
    if (isAtomic(opcode) && this.#dataBytes !== ATOMIC_BYTES)
      return invalid(`an atomic fetches 8 bytes, not ${this.#dataBytes}`, 'Give it one piece of 8 bytes');
    if (this.addressed) return undefined;
    const { type } = this.queue;
    if (type === QpType.UD) return invalid('a datagram goes nowhere', 'Say where by wrSetUdAddr');
    if (type === QpType.XRC_SEND && namesSharedQueue(opcode))
      return invalid('an XRC request is for no shared receive queue', 'Name it by wrSetXrcSrqn');
    return undefined;
  }

  #takesData(what: string): boolean {
    if (!this.hasRequest(what)) return false;
    if (this.#empty) return true;
    this.fail(invalid(`${what}, but ${nameOf(WrOpcode, this.#opcode)} takes no more data`, 'Leave it out'));
    return false;
  }

  #isPiece(lkey: number, addr: Address, length: number): boolean {
    if (isU32(lkey) && isAddress(addr) && isU32(length)) return true;
    this.fail(
      invalid(
        `a piece is lkey ${show(lkey)}, address ${show(addr)}, length ${show(length)}`,
        'Keys and lengths are numbers of 32 bits, an address is a bigint of 64 bits or a safe integer, none negative',
      ),
    );
    return false;
  }

  #setPieces(count: number, total: number): void {
    const { ring, maxMessageBytes } = this.queue;
    ring.words[this.at + SendWqe.CONTROL] = sendControl(this.#opcode, this.#flags, count);
    this.#dataBytes = total;
    if (total > maxMessageBytes)
      this.fail(invalid(`the message is ${total} bytes, but the port takes ${maxMessageBytes}`, 'Send it in pieces'));
  }

  #beginInline(what: string, total: number): boolean {
    if (!this.#takesData(what)) return false;
    const { cap, ring } = this.queue;
    if (!mayBeInline(this.#opcode)) {
      this.fail(invalid(`${nameOf(WrOpcode, this.#opcode)} cannot be inline`, 'Use wrSetSge'));
      return false;
    }
    if (total > cap.maxInlineData) {
      this.fail(
        invalid(`${total} bytes inline, but cap.maxInlineData is ${cap.maxInlineData}`, 'Ask for more in createQp'),
      );
      return false;
    }
    ring.words[this.at + SendWqe.CONTROL] = sendControl(this.#opcode, this.#flags | SendFlags.INLINE, 0);
    ring.words[this.at + SendWqe.INLINE_BYTES] = 0;
    return true;
  }

  #appendInline(bytes: Uint8Array): void {
    const { ring } = this.queue;
    writeInline(ring.words, ring.bytes, this.at, ring.words[this.at + SendWqe.INLINE_BYTES], bytes);
  }
}
