import type { WorkRing } from '../../providers/soft/index.js';
import { RecvWqe, SgeWords } from '../../device/nic/index.js';
import { RxeRecvWqe } from './layouts.js';
import type { ProgramQueue } from './program-queue.js';

/** Stands for numbers of pieces that no request may have. */
const TOO_MANY = 0xffff;

/**
 * Copies receive requests from a program's queue into the NIC's, one to one as `SendTranslation`. Programs ring no doorbell
 * for them: the NIC asks when it needs one.
 */
export class ReceiveTranslation {
  #next = 0;
  #offset = 0;
  #consumer = 0;

  constructor(
    public queue: ProgramQueue,
    private readonly ring: () => WorkRing,
    private readonly maxSge: number,
  ) {}

  /** Requests that the program has posted and the NIC has not used. */
  get posted(): number {
    const { queue } = this;
    return (queue.producer - queue.consumer) & queue.mask;
  }

  /** Copies what was posted. @returns whether there was anything */
  pull(): boolean {
    const { queue } = this;
    const produced = queue.producer;
    if (produced === this.#next) return false;
    const ring = this.ring();
    ring.rollBack();
    while (this.#next !== produced) {
      const at = ring.reserve();
      if (at < 0) break;
      this.#translate(queue.words, queue.entry(this.#next), ring.words, at);
      ring.accept();
      this.#next = (this.#next + 1) & queue.mask;
    }
    if (!ring.pending) return false;
    ring.publish();
    return true;
  }

  /** Tells the program which of its entries are free again. To come before the completions that say the same. */
  giveBack(): void {
    const consumer = (this.ring().taken + this.#offset) & this.queue.mask;
    if (consumer === this.#consumer) return;
    this.#consumer = consumer;
    this.queue.consumer = consumer;
  }

  reset(): void {
    this.#next = this.queue.producer;
    this.#offset = (this.#next - this.ring().taken) & this.queue.mask;
    this.#consumer = -1;
    this.giveBack();
  }

  /**
   * Goes on in a queue of another size, to which it copies what the NIC has not taken.
   *
   * @returns false when that does not fit
   */
  moveTo(successor: ProgramQueue): boolean {
    const { queue } = this;
    const [consumer, produced] = [queue.consumer, queue.producer];
    const posted = (produced - consumer) & queue.mask;
    if (posted > successor.capacity) return false;
    for (let i = 0; i < posted; i += 1) {
      const from = queue.entry(consumer + i);
      const entry = queue.words.subarray(from, from + Math.min(queue.elementWords, successor.elementWords));
      successor.words.set(entry, successor.entry(i));
    }
    const pulled = (this.#next - consumer) & queue.mask;
    successor.producer = posted;
    this.queue = successor;
    this.#next = pulled;
    this.#offset = -this.ring().taken;
    this.#consumer = -1;
    this.giveBack();
    return true;
  }

  #translate(theirs: Int32Array, from: number, ours: Int32Array, to: number): void {
    const numSge = theirs[from + RxeRecvWqe.NUM_SGE] >>> 0;
    ours[to + RecvWqe.WR_ID_LO] = theirs[from + RxeRecvWqe.WR_ID_LO];
    ours[to + RecvWqe.WR_ID_HI] = theirs[from + RxeRecvWqe.WR_ID_HI];
    ours[to + RecvWqe.NUM_SGE] = numSge > this.maxSge ? TOO_MANY : numSge;
    if (numSge > this.maxSge) return;
    for (let i = 0; i < numSge * SgeWords.SIZE; i += 1)
      ours[to + RecvWqe.DATA + i] = theirs[from + RxeRecvWqe.DATA + i];
  }
}
