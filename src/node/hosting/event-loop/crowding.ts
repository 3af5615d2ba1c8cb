/** Offering the processor takes a quarter of a µs when nobody else wants it. */
const SHARED_US = 5;
/** Offers in a row that others took: they look for something as well, most likely for what this thread is to do. */
const SHARED_OFFERS = 4;
/** Offering takes the other's time slice, some ms, when somebody computes there. */
const TAKEN_US = 200;
/**
 * Who was left alone for so many times as long as others then took loses little to them. V8 collects and compiles now and then; were each time of that a
 * reason to sleep longer, whoever once slept for long, while the program began, would do so for ever.
 */
const SELDOM = 16;
const LEAST_PAUSE_US = 1_000;
const MOST_SLEEP_US = 256_000;
/** To leave takes some 20 µs, and more where others are. */
const MOST_STAY_US = 8_000;

export interface Processor {
  nowUs(): number;
  /** Lets others have it, if they want to; returns when it is this thread's turn again. */
  yield(): void;
  leave(): void;
}

/** A time in which something is not done again: twice as long each time that it was, and half as long when nobody wanted it for so long. */
class Pause {
  #us = LEAST_PAUSE_US;
  #untilUs = -Infinity;
  #unwantedSinceUs = 0;

  constructor(private readonly mostUs: number) {}

  isOver(nowUs: number): boolean {
    return nowUs >= this.#untilUs;
  }

  begin(nowUs: number): void {
    this.#untilUs = nowUs + this.#us;
    this.#us = Math.min(this.mostUs, 2 * this.#us);
    this.#unwantedSinceUs = this.#untilUs;
  }

  end(): void {
    this.#untilUs = -Infinity;
  }

  forget(): void {
    this.#us = LEAST_PAUSE_US;
  }

  unwanted(nowUs: number): void {
    if (this.#us === LEAST_PAUSE_US || nowUs - this.#unwantedSinceUs < this.#us) return;
    this.#us /= 2;
    this.#unwantedSinceUs = nowUs;
  }
}

/**
 * Whether others compute on the processor on which this thread looks for what it awaits. Then looking does not pay: who offers the
 * processor to others again and again comes after all of them, while who sleeps goes before them as soon as something wakes him.
 *
 * Two who look for each other's doings are no better off on one processor, though each makes way for the other; and the kernel brings them together
 * there, as it has who is woken run where he was woken from, and does not part them again. So who meets others goes to another processor.
 */
export class Crowding {
  readonly #sleeping = new Pause(MOST_SLEEP_US);
  readonly #staying = new Pause(MOST_STAY_US);
  #shared = 0;
  /** How long this thread has looked since others took the processor, up to then. */
  #aloneUs = 0;
  #lookedAtUs = Infinity;

  constructor(private readonly processor: Processor) {}

  /** Whether others were found there a moment ago. */
  isCrowded(nowUs: number): boolean {
    return !this.#sleeping.isOver(nowUs);
  }

  looks(nowUs: number): void {
    this.#lookedAtUs = nowUs;
  }

  /** Offers the processor to others, and sees whether they take it. Where they do so again and again, the next look at it is later each time. */
  offer(): void {
    const { processor } = this;
    const begunUs = processor.nowUs();
    processor.yield();
    const nowUs = processor.nowUs();
    const takenUs = nowUs - begunUs;
    this.#aloneUs += Math.max(0, begunUs - this.#lookedAtUs);
    this.#lookedAtUs = nowUs;
    if (takenUs < TAKEN_US) this.#sleeping.unwanted(nowUs);
    else {
      if (this.#aloneUs >= SELDOM * takenUs) this.#sleeping.forget();
      this.#sleeping.begin(nowUs);
      this.#aloneUs = 0;
    }
    this.#shared = takenUs < SHARED_US ? 0 : this.#shared + 1;
    if (this.#shared === 0) this.#staying.unwanted(nowUs);
    if (this.#shared < SHARED_OFFERS || !this.#staying.isOver(nowUs)) return;
    this.#shared = 0;
    this.#staying.begin(nowUs);
    processor.leave();
    this.#sleeping.end();
  }
}
