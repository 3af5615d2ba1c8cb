import type { CompletionRing } from '../../providers/soft/index.js';
import { WcFlags, WcStatus } from '../../device/ibta/index.js';
import { RxeCqe, swapped } from './layouts.js';
import type { ProgramQueue } from './program-queue.js';

const OVER_UDP = 8;

/**
 * What kind of header begins the first 40 bytes of a datagram. A completion tells that in place of a service level, as adapters do
 * (IBTA A17.4.5.1): UCX drops what does not.
 */
export const HeaderType = { IPV6: OVER_UDP | 1, IPV4: OVER_UDP | 2 } as const;

/** Copies completions from the NIC's queue into a program's. */
export class CompletionTranslation {
  #producer = 0;
  /** Completions that the program was given. */
  told = 0;

  constructor(
    public queue: ProgramQueue,
    private readonly ring: () => CompletionRing,
    /** What completions of datagrams show as their service level. */
    private readonly headerType: number,
    /** Called with the word at which the entry of a request begins that was not carried out. */
    private readonly onFailure?: (at: number) => void,
  ) {}

  /** Copies what has completed, as far as the program's queue has room. @returns whether there was anything */
  push(): boolean {
    const ring = this.ring();
    ring.rewind();
    let at = ring.peek();
    if (at < 0) return false;
    const { queue } = this;
    const { headerType } = this;
    const { words: theirs, mask } = queue;
    const full = (queue.consumer - 1) & mask;
    const before = this.#producer;
    while (at >= 0 && this.#producer !== full) {
      translate(ring.words, at, theirs, queue.entry(this.#producer), headerType);
      if (ring.words[at + RxeCqe.STATUS] !== WcStatus.SUCCESS) this.onFailure?.(at);
      this.#producer = (this.#producer + 1) & mask;
      at = ring.next();
    }
    if (this.#producer === before) return false;
    this.told += (this.#producer - before) & mask;
    queue.producer = this.#producer;
    ring.release();
    return true;
  }

  /** Completions that the program was given and has not polled. */
  get unpolled(): number {
    const { queue } = this;
    return (this.#producer - queue.consumer) & queue.mask;
  }

  /** Whether there are completions for which the program's queue had no room. */
  get isHeldUp(): boolean {
    const ring = this.ring();
    ring.rewind();
    return ring.peek() >= 0;
  }

  /**
   * Goes on in a queue of another size, to which it copies what the program has not polled.
   *
   * @returns false when that does not fit
   */
  moveTo(successor: ProgramQueue): boolean {
    const { queue } = this;
    const { consumer } = queue;
    const queued = (this.#producer - consumer) & queue.mask;
    if (queued > successor.capacity) return false;
    for (let i = 0; i < queued; i += 1) {
      const from = queue.entry(consumer + i);
      successor.words.set(queue.words.subarray(from, from + queue.elementWords), successor.entry(i));
    }
    this.queue = successor;
    this.#producer = queued;
    successor.producer = queued;
    return true;
  }
}

function translate(ours: Int32Array, from: number, theirs: Int32Array, to: number, headerType: number): void {
  for (let i = 0; i < RxeCqe.SAME_WORDS; i += 1) theirs[to + i] = ours[from + i];
  if ((ours[from + RxeCqe.WC_FLAGS] & WcFlags.WITH_IMM) !== 0)
    theirs[to + RxeCqe.IMM_DATA] = swapped(ours[from + RxeCqe.IMM_DATA]);
  theirs[to + RxeCqe.PKEY_INDEX] = 0;
  theirs[to + RxeCqe.SL] = (ours[from + RxeCqe.WC_FLAGS] & WcFlags.GRH) === 0 ? 0 : headerType;
}
