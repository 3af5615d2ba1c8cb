import type { PeerProblem } from '../protocol/index.js';
import { UcsStatus } from '../wire/index.js';

/** What a message costs beside its bytes, so that messages of no bytes have a limit as well. */
export const MESSAGE_COST = 256;

/** Bytes that lie here for programs, of all peers together. */
export class KeptBytes {
  #used = 0;

  /** @param what lies here, for people */
  constructor(
    readonly limit: number,
    private readonly what: string,
  ) {}

  get used(): number {
    return this.#used;
  }

  /** @returns why there is no room for so many more; undefined when they are counted now */
  take(bytes: number): PeerProblem | undefined {
    if (this.#used + bytes > this.limit) {
      const text = `${bytes} bytes come, and ${this.#used} of ${this.limit} bytes for ${this.what} are in use`;
      return { status: UcsStatus.UCS_ERR_EXCEEDS_LIMIT, text };
    }
    this.#used += bytes;
    return undefined;
  }

  /** Some are in use no more. */
  give(bytes: number): void {
    this.#used -= bytes;
  }
}
