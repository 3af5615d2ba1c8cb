import type { AhAttr } from '../../ibta/index.js';
import { type CmAttribute, type CmMessage, encodeCmMessage } from '../../wire/index.js';
import type { CmCounters } from '../counters.js';
import type { CmHost } from '../host.js';

/** How often, and how many times, an address of this machine is looked at where no device is: 0.8 s in all. */
const LOOK_INTERVAL_US = 100_000;
const MAX_LOOKS = 8;

/** What becomes of a message to an address of this machine where no device is. */
export interface Absence {
  isVacant(): boolean;
  /** No device came there in time. The message is not sent any more. */
  onAbsent(): void;
}

/** A message that is sent again until it is answered, or has been sent too often. */
export class Retransmission {
  readonly #timer: number;
  #mad: Uint8Array | undefined;
  #attribute: CmAttribute | undefined;
  #to: AhAttr | undefined;
  #intervalUs = 0;
  #left = 0;
  #held = false;
  #absence: Absence | undefined;
  /** Looks at a vacant address since it was seen to be vacant. */
  #looks = 0;

  constructor(
    private readonly host: CmHost,
    private readonly counters: CmCounters,
    /** The message was sent as often as it may be, or the time of {@link wait} is over. */
    private readonly expired: () => void,
  ) {
    this.#timer = host.timers.take();
    host.timers.assign(this.#timer, { onTimer: () => this.#onTimer() });
  }

  /**
   * Sends a message now, and again after each interval, `retries` times. To a vacant address of this machine it is sent as soon
   * as a device comes there.
   */
  start(message: CmMessage, to: AhAttr, intervalUs: number, retries: number, absence?: Absence): void {
    this.#mad = encodeCmMessage(message);
    this.#attribute = message.attribute;
    this.#to = to;
    this.#intervalUs = intervalUs;
    this.#left = retries;
    this.#held = false;
    this.#absence = absence;
    this.#looks = 0;
    this.counters.add('tx_msgs', message.attribute);
    this.host.send(to, this.#mad);
    if (!this.#look()) this.#arm(intervalUs);
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

  /** A device of this machine is gone: if it was the one that is to answer, that is noticed now, and not when the next repeat is due. */
  lookAgain(): void {
    if (this.#mad !== undefined && this.#looks === 0) this.#look();
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

  /** Waits for a device to come to a vacant address. @returns false where the address is not vacant */
  #look(): boolean {
    if (this.#absence?.isVacant() !== true) {
      this.#looks = 0;
      return false;
    }
    this.#looks += 1;
    this.#arm(LOOK_INTERVAL_US);
    return true;
  }

  #onTimer(): void {
    const wasVacant = this.#looks > 0;
    if (this.#mad !== undefined && this.#look()) {
      if (this.#looks <= MAX_LOOKS) return;
      this.stop();
      this.#absence?.onAbsent();
      return;
    }
    // A device has come: the peer has missed nothing so far.
    if (wasVacant) this.#left += 1;
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
