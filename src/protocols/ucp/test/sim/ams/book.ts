import { check } from '../../../../../../test/sim/failure.js';
import type { AmStep } from './plan.js';

export interface SentAm {
  readonly number: number;
  readonly step: AmStep;
  isCertain: boolean;
  handled: number;
}

/** The bytes of a message: the number comes first in its header. */
export function headerOf(number: number, length: number): Uint8Array {
  const header = new Uint8Array(length).map((_, i) => (number * 31 + i * 5) & 0xff);
  new DataView(header.buffer).setUint32(0, number, true);
  return header;
}

export function dataOf(number: number, length: number): Uint8Array {
  return new Uint8Array(length).map((_, i) => (number * 151 + i * 7 + (i >> 8) * 13) & 0xff);
}

/** Active messages that were sent, and how often and in which order they were handled. */
export class AmBook {
  readonly #sent: SentAm[] = [];
  /** The last of each sender that each worker has handled. */
  readonly #last = new Map<string, number>();

  get sent(): number {
    return this.#sent.length;
  }

  get handled(): number {
    return this.#sent.reduce((sum, { handled }) => sum + handled, 0);
  }

  get unhandled(): number {
    return this.#sent.filter(({ step }) => !step.isHandled).length;
  }

  send(step: AmStep): SentAm {
    const sent = { number: this.#sent.length, step, isCertain: false, handled: 0 };
    this.#sent.push(sent);
    return sent;
  }

  /** A worker handles a message. @returns which it is */
  handles(at: number, header: Uint8Array): SentAm {
    check(header.length >= 4, () => `worker ${at} handles a message with a header of ${header.length} bytes`);
    const number = new DataView(header.buffer, header.byteOffset).getUint32(0, true);
    const sent = this.#sent.find((one) => one.number === number);
    check(sent !== undefined, () => `worker ${at} handles message ${number}, which nobody has sent`);
    const { step } = sent;
    check(step.to === at && step.isHandled, () => `worker ${at} handles message ${number}, which is not for it`);
    sent.handled += 1;
    check(sent.handled === 1, () => `message ${number} was handled twice`);
    const isRight = Buffer.compare(header, headerOf(number, step.headerBytes)) === 0;
    check(isRight, () => `message ${number} came with another header of ${header.length} bytes`);
    const way = `${step.from} to ${at}`;
    const last = this.#last.get(way) ?? -1;
    check(last < number, () => `message ${number} from ${way} was handled after ${last}`);
    this.#last.set(way, number);
    return sent;
  }

  /** @param isBroken whether what was handed over may not have come */
  verify(isBroken: (one: number, other: number) => boolean): void {
    for (const { number, step, isCertain, handled } of this.#sent) {
      const isDue = isCertain && step.isHandled && !isBroken(step.from, step.to);
      check(!isDue || handled === 1, () => `message ${number} from ${step.from} to ${step.to} was never handled`);
    }
  }
}
