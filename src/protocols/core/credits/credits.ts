import { assert } from '../../../device/ibta/index.js';

// Counters of 16 bits that wrap, as messages carry them. Of two of them the later is the one that less than half of the circle lies before.
const MASK = 0xffff;

/** As many messages can be allowed at a time: more could not be told from fewer. */
export const MAX_WINDOW = 0x7fff;

/**
 * With fewer a sender who keeps one in reserve would never fill half of a window; or each message that tells of credit would make another due,
 * for ever.
 */
export const MIN_WINDOW = 3;

function isWindow(count: number): boolean {
  return Number.isInteger(count) && count >= MIN_WINDOW && count <= MAX_WINDOW;
}

/** How many messages a sender may still send. The receiver has a buffer for each of them. */
export class SendCredits {
  #sent = 0;
  #limit: number;

  /**
   * @param window messages that the receiver takes to begin with, {@link MIN_WINDOW} to {@link MAX_WINDOW}
   * @param reserved of those that it may send, how many are kept for what must not wait behind data: that the other direction has new credit
   * @param most as large as the receiver has said that its window can become
   */
  constructor(
    window: number,
    private readonly reserved = 1,
    private readonly most = MAX_WINDOW,
  ) {
    assert(isWindow(window) && isWindow(most), `a window of ${window} to ${most} messages`);
    this.#limit = window;
  }

  /** Messages of data that may be sent now. */
  get available(): number {
    return Math.max(0, this.#left - this.reserved);
  }

  /** Messages of the protocol itself that may be sent now. */
  get availableForControl(): number {
    return this.#left;
  }

  /** A message is sent. At least one of its kind must be {@link available}. */
  take(): void {
    assert(this.#left > 0, 'a message is sent without credit');
    this.#sent = (this.#sent + 1) & MASK;
  }

  /**
   * The receiver says up to which message it takes them, 16 bits. Old news changes nothing.
   *
   * @returns false when that is a lie: less than it has said before, or more than there can be at a time
   */
  grant(limit: number): boolean {
    const more = (limit - this.#limit) & MASK;
    if (limit >>> 16 !== 0 || more + this.#left > this.most) return false;
    this.#limit = limit;
    return true;
  }

  get #left(): number {
    return (this.#limit - this.#sent) & MASK;
  }
}

/** How many messages a receiver has allowed, and when that is to be told. It has a buffer for each. */
export class ReceiveCredits {
  /** Number of the next message that comes. */
  #arrived = 0;
  /** The first message that it has no buffer for. */
  #limit: number;
  #told: number;
  #window: number;

  /** @param window buffers for messages, which the peer knows of; {@link MIN_WINDOW} to {@link MAX_WINDOW} */
  constructor(window: number) {
    assert(isWindow(window), `a window of ${window} messages`);
    this.#window = window;
    this.#limit = window;
    this.#told = window;
  }

  /** Messages that may be under way, or be read by the program, at a time. */
  get window(): number {
    return this.#window;
  }

  /** What messages to the peer carry, 16 bits; say {@link tell} when one does. */
  get limit(): number {
    return this.#limit;
  }

  /** Whether the peer is to be told, if need be by a message of its own: what it does not know of is half of the window. */
  get isDue(): boolean {
    return 2 * ((this.#limit - this.#told) & MASK) >= this.#window;
  }

  /** A message has come. @returns false when the peer had no credit for it */
  arrive(): boolean {
    if (this.#arrived === this.#told) return false;
    this.#arrived = (this.#arrived + 1) & MASK;
    return true;
  }

  replenish(): void {
    const open = (this.#limit - this.#arrived) & MASK;
    assert(open < this.#window, 'more buffers come back than messages have come');
    this.#limit = (this.#limit + 1) & MASK;
  }

  /** The buffer of the message that came last is there no more. */
  narrow(): void {
    assert(isWindow(this.#window - 1), `a window of ${this.#window - 1} messages`);
    this.#window -= 1;
  }

  /** There are so many buffers more. */
  widen(more: number): void {
    assert(more >= 0 && isWindow(this.#window + more), `a window of ${this.#window + more} messages`);
    this.#window += more;
    this.#limit = (this.#limit + more) & MASK;
  }

  /** A message to the peer carries {@link limit}. */
  tell(): void {
    this.#told = this.#limit;
  }
}
