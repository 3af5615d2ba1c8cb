import type { AhAttr } from '../../ibta/index.js';
import { type CmAttribute, type CmMessage, encodeCmMessage } from '../../wire/index.js';
import type { CmCounters } from '../counters.js';
import type { CmHost } from '../host.js';

/** A message that is sent again until it is answered, or has been sent too often. */
export class Retransmission {
  readonly #timer: number;
  #mad: Uint8Array | undefined;
  #attribute: CmAttribute | undefined;
  #to: AhAttr | undefined;
  #intervalUs = 0;
  #left = 0;
  #held = false;

  constructor(
    private readonly host: CmHost,
    private readonly counters: CmCounters,
    /** The message was sent as often as it may be, or the time of {@link wait} is over. */
    private readonly expired: () => void,
  ) {
    this.#timer = host.timers.take();
    host.timers.assign(this.#timer, { onTimer: () => this.#onTimer() });
  }

  /** Sends a message now, and again after each interval, `retries` times. */
  start(message: CmMessage, to: AhAttr, intervalUs: number, retries: number): void {
    this.#mad = encodeCmMessage(message);
    this.#attribute = message.attribute;
    this.#to = to;
    this.#intervalUs = intervalUs;
    this.#left = retries;
    this.#held = false;
    this.counters.add('tx_msgs', message.attribute);
    this.host.send(to, this.#mad);
    this.#arm(intervalUs);
  }

  /**
   * The peer asks for more time (MRA): the next repeat comes after that long, and later ones as usual. It may ask once
   * before each, or we would wait for ever.
   */
  hold(forUs: number): void {
    if (this.#mad === undefined || this.#held) return;
    this.#held = true;
    this.#arm(forUs);
  }

  /** Nothing is sent any more; `expired` is called after that long. */
  wait(forUs: number): void {
    this.stop();
    this.#arm(forUs);
  }

  stop(): void {
    this.#mad = undefined;
    this.host.timers.cancel(this.#timer);
  }

  /** Gives the timer back; nothing can be sent any more. */
  release(): void {
    this.#mad = undefined;
    this.host.timers.release(this.#timer);
  }

  #arm(afterUs: number): void {
    this.host.timers.arm(this.#timer, this.host.nowUs + afterUs);
  }

  #onTimer(): void {
    if (this.#mad === undefined || this.#to === undefined || this.#attribute === undefined || this.#left === 0) {
      this.#mad = undefined;
      this.expired();
      return;
    }
    this.#left -= 1;
    this.#held = false;
    this.counters.add('tx_retries', this.#attribute);
    this.host.send(this.#to, this.#mad);
    this.#arm(this.#intervalUs);
  }
}
