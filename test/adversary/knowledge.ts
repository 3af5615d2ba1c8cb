import type { Choices } from '../fuzz/random.js';

/** A number that stands between somebody and what is not theirs. */
export interface Secret {
  readonly bits: 24 | 32;
  readonly truths: () => readonly number[];
  /** Numbers of that kind that the adversary came by honestly: are others near them? */
  readonly near?: () => readonly number[];
}

/** Bits that a number near another one may differ in. */
const NEAR_BITS = 9;

/**
 * What an adversary knows: the protocol, all addresses, and its own numbers; the numbers of others it guesses. An insider was
 * told them all: what it cannot do either is no danger, and a check that does not notice what it does is no check.
 */
export class Knowledge {
  /** Chance that every guess of this attempt was right. */
  odds = 1;
  /** Where each search through all numbers has come to. */
  readonly #searches = new Map<Secret, number>();

  constructor(
    readonly choices: Choices,
    readonly insider: boolean,
  ) {}

  /** By chance, one after the other, the small ones first, or beside those that are known. */
  guess(secret: Secret): number {
    const { choices } = this;
    const truths = secret.truths();
    if (this.insider) return choices.of(truths);
    const size = 2 ** secret.bits;
    this.odds *= truths.length / size;
    const known = secret.near?.() ?? [];
    const way = choices.below(10);
    if (way < 2 && known.length > 0) return (choices.of(known) ^ choices.below(1 << NEAR_BITS)) >>> 0;
    if (way < 4) {
      const next = this.#searches.get(secret) ?? (choices.u32() >>> 0) % size;
      this.#searches.set(secret, (next + 1) % size);
      return next;
    }
    return way === 4 ? choices.below(1024) : (choices.u32() >>> 0) % size;
  }

  /** What is not the adversary's; an insider takes what is, so that only the leave differs. */
  instead<T>(forbidden: T, allowed: T): T {
    return this.insider ? allowed : forbidden;
  }
}
