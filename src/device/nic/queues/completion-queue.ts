import { WcStatus } from '../../ibta/index.js';
import { CommandError, requireBytes } from '../command-error.js';
import type { NicCounters } from '../counters.js';
import type { NicEvents } from '../nic-config.js';
import {
  completionQueueShape,
  CqArm,
  Cqe,
  CompletionQueue as Header,
  Ring,
  RING_HEADER_WORDS,
} from '../rings/layout.js';
import { isShared, readWord, writeWord } from '../rings/ring-words.js';
import type { CompChannel } from './comp-channel.js';
import type { EventModeration } from './event-moderation.js';
import type { CompletionQueueWatcher } from './watchers.js';

/** Numbers that say why a request failed, as {@link Cqe.DETAIL} carries them. */
export type Detail = Int32Array;

/** What a completion queue needs of its NIC. */
export interface CqCore {
  readonly counters: NicCounters;
  /** The present in ns on the device's clock, as two words. */
  readonly timestampLo: number;
  readonly timestampHi: number;
  readonly events: NicEvents;
  /** The first entry was lost. */
  onCqOverrun(cq: CompletionQueue): void;
}

export interface CompletionQueueParts {
  readonly cqn: number;
  readonly memory: ArrayBufferLike;
  readonly entries: number;
  readonly channel: CompChannel | undefined;
  /** The program accepts lost entries (`IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN`). */
  readonly ignoreOverrun: boolean;
}

export class CompletionQueue {
  readonly cqn: number;
  readonly channel: CompChannel | undefined;
  /** Set once an entry was lost; nothing is written any more (protocol/services.md 3.8). */
  overrun = false;
  /** QPs and shared receive queues that complete here. */
  users = 0;
  /** Set while events wait for more completions or for time to pass. */
  moderation: EventModeration | undefined;
  watcher: CompletionQueueWatcher | undefined;

  readonly #ignoreOverrun: boolean;
  /** Whether the driver may be in another thread. */
  readonly #shared: boolean;
  #words: Int32Array;
  #mask: number;
  #producer: number;
  #knownConsumer: number;

  constructor(
    parts: CompletionQueueParts,
    private readonly core: CqCore,
  ) {
    this.cqn = parts.cqn;
    this.channel = parts.channel;
    this.#ignoreOverrun = parts.ignoreOverrun;
    const shape = completionQueueShape(parts.entries);
    requireBytes(parts.memory, shape.bytes);
    this.#words = new Int32Array(parts.memory);
    this.#shared = isShared(parts.memory);
    this.#mask = shape.entries - 1;
    this.#producer = this.#words[Ring.PRODUCER];
    this.#knownConsumer = this.#words[Ring.CONSUMER];
  }

  get entries(): number {
    return this.#mask + 1;
  }

  /**
   * Writes one entry and raises the event that was asked for.
   *
   * @param solicited - whether a solicited-only arming is satisfied; an error always satisfies it (protocol/reliable.md 2.10)
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
    if (status === WcStatus.SUCCESS) {
      words[base + Cqe.TIMESTAMP_LO] = this.core.timestampLo;
      words[base + Cqe.TIMESTAMP_HI] = this.core.timestampHi;
      words[base + Cqe.PKEY_INDEX] = 0;
    } else {
      for (let i = 0; i < Cqe.DETAIL_WORDS; i += 1) words[base + Cqe.DETAIL + i] = detail === undefined ? 0 : detail[i];
    }
    this.#producer = (this.#producer + 1) | 0;
    writeWord(words, Ring.PRODUCER, this.#producer, this.#shared);
    this.core.counters.completions += 1;
    if (this.channel !== undefined) this.#announce(this.channel, solicited || status !== WcStatus.SUCCESS);
    this.watcher?.completed();
  }

  /** Goes on in another ring, to which it copies what was not polled. The driver waits meanwhile. */
  resize(memory: ArrayBufferLike, entries: number): void {
    const shape = completionQueueShape(entries);
    requireBytes(memory, shape.bytes);
    const consumer = Atomics.load(this.#words, Ring.CONSUMER);
    const queued = (this.#producer - consumer) >>> 0;
    if (queued > entries)
      throw new CommandError('EINVAL', `${queued} completions are queued, more than the ${entries} that are to fit`);
    const words = new Int32Array(memory);
    const mask = shape.entries - 1;
    for (let i = 0; i < queued; i += 1) {
      const index = (consumer + i) | 0;
      const from = RING_HEADER_WORDS + (index & this.#mask) * Cqe.SIZE;
      words.set(this.#words.subarray(from, from + Cqe.SIZE), RING_HEADER_WORDS + (index & mask) * Cqe.SIZE);
    }
    words[Header.ARM] = this.#words[Header.ARM];
    words[Header.OVERRUN] = this.#words[Header.OVERRUN];
    words[Ring.CONSUMER] = consumer;
    Atomics.store(words, Ring.PRODUCER, this.#producer);
    this.#words = words;
    this.#mask = mask;
    this.#knownConsumer = consumer;
  }

  /** Raises the event that is armed, if one is: moderation has waited long enough. */
  raise(): void {
    const { channel } = this;
    if (channel === undefined || Atomics.exchange(this.#words, Header.ARM, CqArm.NONE) === CqArm.NONE) return;
    channel.post(this.cqn);
    this.core.events.completionEvent(channel.handle);
    this.watcher?.completed();
  }

  #announce(channel: CompChannel, solicited: boolean): void {
    const arm = Atomics.load(this.#words, Header.ARM);
    if (arm === CqArm.NONE || (arm === CqArm.SOLICITED && !solicited)) return;
    if (this.moderation?.holdsBack() === true) return;
    Atomics.store(this.#words, Header.ARM, CqArm.NONE);
    channel.post(this.cqn);
    this.core.events.completionEvent(channel.handle);
  }

  #hasRoom(): boolean {
    if ((this.#producer - this.#knownConsumer) >>> 0 <= this.#mask) return true;
    this.watcher?.full();
    this.#knownConsumer = readWord(this.#words, Ring.CONSUMER, this.#shared);
    if ((this.#producer - this.#knownConsumer) >>> 0 <= this.#mask) return true;
    if (this.#ignoreOverrun) return false;
    this.overrun = true;
    Atomics.store(this.#words, Header.OVERRUN, 1);
    this.core.onCqOverrun(this);
    return false;
  }
}
