import { WcStatus } from '../../spec/index.js';
import { requireBytes } from '../command-error.js';
import type { CompChannel } from './comp-channel.js';
import { CompletionQueue as Header, CqArm, Cqe, completionQueueShape, Ring, RING_HEADER_WORDS } from '../layout.js';
import type { NicCounters } from '../counters.js';
import type { NicEvents } from '../ports.js';

/** Numbers that say why a request failed, as {@link Cqe.DETAIL} carries them. */
export type Detail = Int32Array;

/** The NIC's end of a completion queue. */
export class CompletionQueue {
  /** Set once an entry was lost; nothing is written any more (PROTOCOL.md 3.8). */
  overrun = false;
  /** QPs that complete here. */
  users = 0;

  readonly #words: Int32Array;
  readonly #mask: number;
  #producer: number;
  #knownConsumer: number;

  constructor(
    readonly cqn: number,
    memory: SharedArrayBuffer,
    entries: number,
    readonly channel: CompChannel | undefined,
    private readonly events: NicEvents,
    private readonly counters: NicCounters,
    /** Called once, when the first entry is lost. */
    private readonly onOverrun: (cq: CompletionQueue) => void,
  ) {
    const shape = completionQueueShape(entries);
    requireBytes(memory, shape.bytes);
    this.#words = new Int32Array(memory);
    this.#mask = shape.entries - 1;
    this.#producer = this.#words[Ring.PRODUCER];
    this.#knownConsumer = this.#words[Ring.CONSUMER];
  }

  /**
   * Writes one entry and raises the event that was asked for.
   *
   * @param solicited - whether a solicited-only arming is satisfied; an error always satisfies it (PROTOCOL.md 2.10)
   */
  push(
    wrIdLo: number,
    wrIdHi: number,
    status: WcStatus,
    opcode: number,
    byteLen: number,
    immData: number,
    qpNum: number,
    srcQp: number,
    wcFlags: number,
    solicited: boolean,
    vendorErr: number,
    detail: Detail | undefined,
  ): void {
    if (this.overrun || !this.#hasRoom()) return;
    const words = this.#words;
    const base = RING_HEADER_WORDS + (this.#producer & this.#mask) * Cqe.SIZE;
    words[base + Cqe.WR_ID_LO] = wrIdLo;
    words[base + Cqe.WR_ID_HI] = wrIdHi;
    words[base + Cqe.STATUS] = status;
    words[base + Cqe.OPCODE] = opcode;
    words[base + Cqe.VENDOR_ERR] = vendorErr;
    words[base + Cqe.BYTE_LEN] = byteLen;
    words[base + Cqe.IMM_DATA] = immData;
    words[base + Cqe.QP_NUM] = qpNum;
    words[base + Cqe.SRC_QP] = srcQp;
    words[base + Cqe.WC_FLAGS] = wcFlags;
    for (let i = 0; i < Cqe.DETAIL_WORDS; i += 1) words[base + Cqe.DETAIL + i] = detail === undefined ? 0 : detail[i];
    this.#producer = (this.#producer + 1) | 0;
    Atomics.store(words, Ring.PRODUCER, this.#producer);
    this.counters.completions += 1;
    if (this.channel !== undefined) this.#announce(this.channel, solicited || status !== WcStatus.SUCCESS);
  }

  #announce(channel: CompChannel, solicited: boolean): void {
    const arm = Atomics.load(this.#words, Header.ARM);
    if (arm === CqArm.NONE || (arm === CqArm.SOLICITED && !solicited)) return;
    Atomics.store(this.#words, Header.ARM, CqArm.NONE);
    channel.post(this.cqn);
    this.events.completionEvent(channel.handle);
  }

  #hasRoom(): boolean {
    if ((this.#producer - this.#knownConsumer) >>> 0 <= this.#mask) return true;
    this.#knownConsumer = Atomics.load(this.#words, Ring.CONSUMER);
    if ((this.#producer - this.#knownConsumer) >>> 0 <= this.#mask) return true;
    this.overrun = true;
    Atomics.store(this.#words, Header.OVERRUN, 1);
    this.onOverrun(this);
    return false;
  }
}
