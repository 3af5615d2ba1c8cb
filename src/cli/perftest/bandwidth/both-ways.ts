import { type Count } from './bandwidth.js';
import { type Receiver } from './receiver.js';
import { type Run } from '../running/run.js';
import { type Sender } from './sender.js';
import { type Timing } from '../running/timing.js';

/** Sends and takes messages at once. */
export class BothWays implements Run {
  readonly #sender: Sender;
  readonly #receiver: Receiver;
  readonly #timing: Timing | undefined;
  readonly #begins: boolean;

  /** @param begins whether this side sends at once; the other one only when a message came, so that both are there */
  constructor(sender: Sender, receiver: Receiver, timing: Timing | undefined, begins: boolean) {
    this.#sender = sender;
    this.#receiver = receiver;
    this.#timing = timing;
    this.#begins = begins;
  }

  begin(): void {
    if (this.#begins) this.#timing?.begin(performance.now());
  }

  get over(): boolean {
    return this.#sender.over && this.#receiver.over;
  }

  /** How many messages did not come. */
  get lost(): number {
    return this.#receiver.lost;
  }

  giveUp(): void {
    if (this.#receiver.hasBegun) this.#receiver.giveUp();
  }

  step(): boolean {
    if (this.#timing?.hasBegun === true) this.#timing.look(performance.now());
    const posted = (this.#begins || this.#receiver.hasBegun) && this.#sender.post();
    const received = this.#receiver.take();
    return this.#sender.take() || received || posted;
  }

  /** Of a number of messages, what was sent; of a time, what went either way. */
  result(): Count {
    const sent = this.#sender.result();
    if (this.#timing === undefined) return sent;
    return { ...sent, messages: sent.messages + this.#receiver.result().messages };
  }

  /** What went either way up to now, when the user ends the run before its end. */
  cut(nowMs: number): Count {
    const sent = this.#sender.cut(nowMs);
    return { ...sent, messages: sent.messages + this.#receiver.cut(nowMs).messages };
  }
}
