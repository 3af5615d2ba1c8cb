import type { CompletionRing } from '../../../api/soft/index.js';
import { WcFlags } from '../../../device/ibta/index.js';
import { RxeCqe, swapped } from './layouts.js';
import type { ProgramQueue } from './program-queue.js';

/** Copies completions from the NIC's queue into a program's. */
export class CompletionTranslation {
  #producer = 0;

  constructor(
    public queue: ProgramQueue,
    private readonly ring: () => CompletionRing,
  ) {}

  /** Copies what has completed, as far as the program's queue has room. @returns whether there was anything */
  push(): boolean {
    const ring = this.ring();
    ring.rewind();
    let at = ring.peek();
    if (at < 0) return false;
    const { queue } = this;
    const { words: theirs, mask } = queue;
    const full = (queue.consumer - 1) & mask;
    const before = this.#producer;
    while (at >= 0 && this.#producer !== full) {
      translate(ring.words, at, theirs, queue.entry(this.#producer));
      this.#producer = (this.#producer + 1) & mask;
      at = ring.next();
    }
    if (this.#producer === before) return false;
    queue.producer = this.#producer;
    ring.release();
    return true;
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

function translate(ours: Int32Array, from: number, theirs: Int32Array, to: number): void {
  for (let i = 0; i < RxeCqe.SAME_WORDS; i += 1) theirs[to + i] = ours[from + i];
  if ((ours[from + RxeCqe.WC_FLAGS] & WcFlags.WITH_IMM) !== 0)
    theirs[to + RxeCqe.IMM_DATA] = swapped(ours[from + RxeCqe.IMM_DATA]);
  theirs[to + RxeCqe.PKEY_INDEX] = 0;
  theirs[to + RxeCqe.SL] = 0;
}
