import { type Rate } from '../settings.js';

const BYTES_PER_MIB = 2 ** 20;
const BYTES_PER_GBIT = 1e9 / 8;

/** How many messages a second a rate is. */
export function messagesPerSecond({ limit, units }: Rate, sizeBytes: number): number {
  switch (units) {
    case 'M':
      return (limit * BYTES_PER_MIB) / sizeBytes;
    case 'g':
      return (limit * BYTES_PER_GBIT) / sizeBytes;
    case 'p':
      return limit;
  }
}

/** Lets a sender post bursts of messages, no more often than a rate allows: the software rate limiter of the C tools. */
export class RateLimiter {
  readonly #burst: number;
  readonly #gapMs: number;
  #left = 0;
  #dueMs: number | undefined;

  constructor(rate: Rate, sizeBytes: number) {
    this.#burst = rate.burst;
    this.#gapMs = (1000 * rate.burst) / messagesPerSecond(rate, sizeBytes);
  }

  /** Whether messages may be posted: the rest of a burst, or another one that is due. */
  admits(nowMs: number): boolean {
    if (this.#left > 0) return true;
    const dueMs = this.#dueMs ?? nowMs;
    if (nowMs < dueMs) return false;
    // A sender that was late catches up by one burst at most.
    this.#dueMs = Math.max(dueMs, nowMs - this.#gapMs) + this.#gapMs;
    this.#left = this.#burst;
    return true;
  }

  /** Messages were posted. @returns whether the burst goes on */
  count(messages: number): boolean {
    this.#left -= messages;
    return this.#left > 0;
  }
}
