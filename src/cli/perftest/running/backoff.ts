import { type CompChannel, type Context, type Cq, VerbsError } from '../../../entry/index.js';

/** Empty looks in a row, some tens of microseconds, after which looking pauses. */
const PATIENCE = 500;
const NAP_MS = 0.02;
const LOOKS_PER_CLOCK = 64;
/** Silence after which the event loop gets a turn: the peer may have left. */
const SILENCE_MS = 20;
const nobody = new Int32Array(new SharedArrayBuffer(4));

/** What a side does while nothing comes. */
export class Backoff {
  readonly #isThread: boolean;
  readonly #channel: CompChannel | undefined;
  readonly #cqs: readonly Cq[];
  #empty = 0;
  #silentSince = 0;
  #turnAt = 0;
  #armed = false;

  /** @param channel sleep on its events; all queues are on it then */
  constructor({ host }: Pick<Context, 'host'>, channel: CompChannel | undefined, cqs: readonly Cq[]) {
    this.#isThread = host === 'thread';
    this.#channel = channel;
    this.#cqs = cqs;
  }

  busy(): void {
    this.#empty = 0;
  }

  /** Nothing came. @returns whether nothing has come for so long that the event loop should have a turn */
  pause(): boolean {
    const empty = this.#empty;
    this.#empty = empty + 1;
    if (empty === 0) this.#silentSince = this.#turnAt = performance.now();
    if (this.#channel !== undefined) return this.#sleep(this.#channel);
    if (empty % LOOKS_PER_CLOCK === LOOKS_PER_CLOCK - 1) {
      const now = performance.now();
      if (now - this.#turnAt > SILENCE_MS) {
        this.#turnAt = now;
        return true;
      }
    }
    // An inline NIC lives from our looking. One in a thread may need the core that we hold.
    if (empty >= PATIENCE && this.#isThread) Atomics.wait(nobody, 0, 0, NAP_MS);
    return false;
  }

  /** For how long nothing has come; milliseconds. */
  get silentMs(): number {
    return this.#empty === 0 ? 0 : performance.now() - this.#silentSince;
  }

  /** Arms the queues; when there is still nothing to be found after that, waits for an event. */
  #sleep(channel: CompChannel): boolean {
    if (!this.#armed) {
      for (const cq of this.#cqs) cq.reqNotify();
      this.#armed = true;
      return false;
    }
    try {
      channel.getCqEvent(SILENCE_MS).ackEvents();
      this.#armed = false;
      return false;
    } catch (error) {
      if (error instanceof VerbsError && error.errno === 'ETIMEDOUT') return true;
      throw error;
    }
  }
}
