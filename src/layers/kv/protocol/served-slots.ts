/** What a request is that has come to a slot. */
export const Arrival = {
  /** It was never seen. */
  NEW: 'new',
  /** It is the last one, once more. */
  REPEAT: 'repeat',
  /** There was a later one. */
  OLD: 'old',
} as const;
export type Arrival = (typeof Arrival)[keyof typeof Arrival];

/**
 * What a server remembers of the slots of one client, so that nothing is carried out twice: the number of the last request of each, and what was answered
 * to it, if it changed anything. One request is under way for each slot at a time: a later one says that the answer has come, or that nobody
 * waits for it.
 */
export class ServedSlots {
  readonly #last: Int32Array;
  readonly #isUsed: Uint8Array;
  readonly #answers: (Uint8Array | undefined)[];

  constructor(readonly size: number) {
    this.#last = new Int32Array(size);
    this.#isUsed = new Uint8Array(size);
    this.#answers = Array.from({ length: size }, () => undefined);
  }

  /** @param slot less than {@link size} */
  arrival(slot: number, sequence: number): Arrival {
    if (this.#isUsed[slot] === 0) return Arrival.NEW;
    // The numbers wrap: whichever way is shorter leads from one to the other.
    const ahead = (sequence - this.#last[slot]) | 0;
    if (ahead === 0) return Arrival.REPEAT;
    return ahead > 0 ? Arrival.NEW : Arrival.OLD;
  }

  /** What was answered to the last request; undefined when it changed nothing, and may be carried out again. */
  answer(slot: number): Uint8Array | undefined {
    return this.#answers[slot];
  }

  /** A request is carried out. @param answer to be kept, or undefined */
  served(slot: number, sequence: number, answer: Uint8Array | undefined): void {
    this.#isUsed[slot] = 1;
    this.#last[slot] = sequence;
    this.#answers[slot] = answer;
  }
}
