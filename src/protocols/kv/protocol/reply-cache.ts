export const Arrival = {
  /** It was never seen. */
  NEW: 'new',
  /** It is the last one, once more. */
  REPEAT: 'repeat',
  /** The same, while its value is on its way. */
  UNDER_WAY: 'under way',
  OLD: 'old',
} as const;
export type Arrival = (typeof Arrival)[keyof typeof Arrival];

/** How far the last request of a slot has come. */
const Progress = { NONE: 0, SERVED: 1, UNDER_WAY: 2, ABANDONED: 3 } as const;

const OF_THE_LAST: readonly Arrival[] = [Arrival.NEW, Arrival.REPEAT, Arrival.UNDER_WAY, Arrival.NEW];

/**
 * Prevents a server from executing a request of one client twice. Per slot it keeps the number of the last request, and the reply if the request changed
 * something or named memory of the client. A slot has one request in flight: a later one means that the reply has arrived, or is not awaited.
 */
export class ReplyCache {
  readonly #last: Int32Array;
  readonly #progress: Uint8Array;
  readonly #answers: (Uint8Array | undefined)[];

  constructor(readonly size: number) {
    this.#last = new Int32Array(size);
    this.#progress = new Uint8Array(size);
    this.#answers = Array.from({ length: size }, () => undefined);
  }

  /** @param slot less than {@link size} */
  arrival(slot: number, sequence: number): Arrival {
    const progress = this.#progress[slot];
    if (progress === Progress.NONE) return Arrival.NEW;
    // The numbers wrap: whichever way is shorter leads from one to the other.
    const ahead = (sequence - this.#last[slot]) | 0;
    if (ahead === 0) return OF_THE_LAST[progress];
    return ahead > 0 ? Arrival.NEW : Arrival.OLD;
  }

  /** What was answered to the last request; undefined when it may be carried out again. */
  answer(slot: number): Uint8Array | undefined {
    return this.#answers[slot];
  }

  /** A request is carried out. @param answer to be kept, or undefined */
  served(slot: number, sequence: number, answer: Uint8Array | undefined): void {
    this.#set(slot, sequence, Progress.SERVED, answer);
  }

  /** A request is carried out once its value has come. */
  begin(slot: number, sequence: number): void {
    this.#set(slot, sequence, Progress.UNDER_WAY, undefined);
  }

  /** Whether a request waits for its value: not when a later one has come. */
  isUnderWay(slot: number, sequence: number): boolean {
    return this.#progress[slot] === Progress.UNDER_WAY && ((this.#last[slot] ^ sequence) | 0) === 0;
  }

  /** The value did not come: the request is not carried out, unless it comes again. Those before it stay old. */
  abandon(slot: number, sequence: number): void {
    if (this.isUnderWay(slot, sequence)) this.#progress[slot] = Progress.ABANDONED;
  }

  #set(slot: number, sequence: number, progress: number, answer: Uint8Array | undefined): void {
    this.#progress[slot] = progress;
    this.#last[slot] = sequence;
    this.#answers[slot] = answer;
  }
}
