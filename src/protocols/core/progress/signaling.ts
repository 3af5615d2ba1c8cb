import { SendFlags } from '../../../device/ibta/index.js';

const UNSIGNALED = 0;

/**
 * Which requests of a send queue are signaled: those that somebody waits for, and some of the others, so that there is always one that tells of the end of those
 * before it. Whoever is told of a request asks the peer for an acknowledgement of it, which costs both ends a system call.
 */
export class Signaling {
  /** Requests after which one is signaled in any case, and places of the queue that only signaled ones take. */
  readonly #most: number;
  /** Since the last that is signaled. */
  #unsignaled = 0;

  /** @param depth requests that may be under way */
  constructor(depth: number) {
    this.#most = depth >> 2;
  }

  /** Whether nothing tells of the end of the last request. Never where the queue is full. */
  get endsUnsignaled(): boolean {
    return this.#unsignaled > 0;
  }

  /**
   * The flags of the next request.
   *
   * @param isAwaited whether somebody waits for its end
   * @param room places of the queue that are free, this one's among them
   */
  next(isAwaited: boolean, room: number): number {
    const isSignaled = isAwaited || this.#unsignaled >= this.#most || room <= this.#most;
    this.#unsignaled = isSignaled ? 0 : this.#unsignaled + 1;
    return isSignaled ? SendFlags.SIGNALED : UNSIGNALED;
  }
}
