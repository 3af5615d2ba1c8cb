import { Flag, flagsOf, Kind, kindOf, rulesOf, unknownFlags } from './kinds.js';
import { ReceiveCredits } from '../../core/index.js';
import type { Hello } from './hello.js';

/**
 * What one end takes: it checks every message of the peer, and knows how many the peer may send. Pure: whoever uses it posts the
 * receives, and says so.
 */
export class IncomingSide {
  /** Receives that are posted, or will be once the program has taken what is in them. */
  readonly credits: ReceiveCredits;
  /** Of fragments whose last has not come. */
  #fragmentBytes = 0;
  #hasFragments = false;
  #isHungry = false;
  #hasClosed = false;
  #lie = '';

  /** @param own what this end says of itself; as many receives as its window are posted */
  constructor(private readonly own: Hello) {
    this.credits = new ReceiveCredits(own.window);
  }

  /** What the peer said that cannot be; once it has, nothing of it counts any more. */
  get lie(): string {
    return this.#lie;
  }

  /** How many more receives would help the peer: the window doubles as long as the peer runs out of credit. */
  get growth(): number {
    const { window } = this.credits;
    return this.#isHungry ? Math.min(window, this.own.maxWindow - window) : 0;
  }

  /** So many receives more are posted than there were. */
  widened(receives: number): void {
    this.credits.widen(receives);
    this.#isHungry = false;
  }

  /**
   * A message has come.
   *
   * @returns its kind, or undefined for a {@link lie}
   */
  onMessage(immediate: number, byteLength: number): Kind | undefined {
    const kind = kindOf(immediate);
    const lie = this.#check(kind, flagsOf(immediate), byteLength);
    if (lie !== undefined) {
      this.#lie = lie;
      return undefined;
    }
    if ((flagsOf(immediate) & Flag.HUNGRY) !== 0) this.#isHungry = true;
    this.#count(kind, byteLength);
    // It has rules, so it is one.
    return kind as Kind;
  }

  /** The peer has lied about something else than this side looks at. */
  distrust(lie: string): void {
    this.#lie = lie;
  }

  #check(kind: number, flags: number, byteLength: number): string | undefined {
    const rules = rulesOf(kind);
    if (this.#hasClosed) return 'a message came after CLOSE';
    if (!this.credits.arrive()) return 'a message came without credit';
    if (rules === undefined) return `a message is of kind ${kind}, which does not exist`;
    const { name, payload } = rules;
    if (unknownFlags(flags) !== 0) return `${name} has flags 0x${flags.toString(16)}, which do not all exist`;
    if (payload === 'none' && byteLength > 0) return `${name} has ${byteLength} bytes, where it has none`;
    if (payload === 'full' && byteLength !== this.own.bufferBytes)
      return `${name} has ${byteLength} bytes, where it fills a buffer of ${this.own.bufferBytes}`;
    if (kind === Kind.DISCARD && !this.#hasFragments) return 'DISCARD came where there was nothing to discard';
    // Another fragment follows MORE, of a byte at least.
    const coming = kind === Kind.MORE ? 1 : 0;
    if (rules.carries && this.#fragmentBytes + byteLength + coming > this.own.maxMessageBytes)
      return `a message has more than ${this.own.maxMessageBytes} bytes, the most that this end takes`;
    return undefined;
  }

  #count(kind: number, byteLength: number): void {
    if (kind === Kind.CLOSE) this.#hasClosed = true;
    if (rulesOf(kind)?.carries !== true) return;
    this.#hasFragments = kind === Kind.MORE;
    this.#fragmentBytes = kind === Kind.MORE ? this.#fragmentBytes + byteLength : 0;
  }
}
