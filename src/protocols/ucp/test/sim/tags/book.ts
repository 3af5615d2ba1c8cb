import { check } from '../../../../../../test/sim/failure.js';
import type { SendStep } from './plan.js';

export interface SentMessage {
  readonly number: number;
  readonly step: SendStep;
  got: BookedReceive | undefined;
}

/** A receive, and when it was posted among those of its worker. */
export interface BookedReceive {
  readonly at: number;
  readonly order: number;
  readonly tag: number;
  readonly mask: number;
}

interface Received {
  readonly message: SentMessage;
  readonly receive: BookedReceive;
}

/** The bytes of a message: its number, and others that only it has there. */
export function contentOf(number: number, length: number): Uint8Array {
  const bytes = new Uint8Array(length).map((_, i) => (number * 37 + i * 7 + (i >> 8) * 13) & 0xff);
  if (length >= 4) new DataView(bytes.buffer).setUint32(0, number, true);
  return bytes;
}

/** What was sent, who got it, and whether that is as UCP says: whole, once, to a receive that wanted it, and in order. */
export class TagBook {
  readonly #messages: SentMessage[] = [];
  readonly #received: Received[] = [];
  #empty = 0;

  get sent(): number {
    return this.#messages.length;
  }

  get received(): number {
    return this.#received.length + this.#empty;
  }

  send(step: SendStep): SentMessage {
    const message = { number: this.#messages.length, step, got: undefined };
    this.#messages.push(message);
    return message;
  }

  receive(receive: BookedReceive, tag: number, bytes: Uint8Array): void {
    const who = `the receive of worker ${receive.at} for tag ${receive.tag} of mask ${receive.mask}`;
    check(((tag ^ receive.tag) & receive.mask) === 0, () => `${who} got tag ${tag}`);
    if (bytes.length === 0) {
      this.#empty += 1;
      const isThere = this.#messages.some(({ step }) => step.bytes === 0 && step.to === receive.at && step.tag === tag);
      check(isThere, () => `${who} got a message of no bytes that nobody has sent`);
      return;
    }
    check(bytes.length >= 4, () => `${who} got ${bytes.length} bytes`);
    const number = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
    const message = this.#messages.at(number);
    check(message !== undefined && number < 2 ** 31, () => `${who} got message ${number}, which nobody has sent`);
    const { step } = message;
    check(step.to === receive.at && step.tag === tag && step.bytes === bytes.length, () => {
      return `${who} got message ${number} as one of ${bytes.length} bytes, tag ${tag}, and it is ${JSON.stringify(step)}`;
    });
    check(message.got === undefined, () => `${who} got message ${number}, which another has got`);
    const expected = contentOf(number, bytes.length);
    const wrong = bytes.findIndex((byte, i) => byte !== expected[i]);
    check(wrong < 0, () => `${who} got ${bytes[wrong]} at ${wrong} of message ${number}, which is ${expected[wrong]}`);
    message.got = receive;
    this.#received.push({ message, receive });
  }

  /** @throws SimulationFailure when a message has overtaken another of the same sender */
  verifyOrder(): void {
    for (const pair of this.#pairs())
      for (const [i, { message: later, receive }] of pair.entries())
        for (const { message: earlier, receive: other } of pair.slice(0, i)) {
          const isFor = ((earlier.step.tag ^ receive.tag) & receive.mask) === 0;
          check(!isFor || other.order < receive.order, () => {
            return `message ${later.number} has overtaken ${earlier.number} from ${later.step.from} to ${later.step.to}`;
          });
        }
  }

  /** Received messages of one sender to one worker, in the order in which they were sent. */
  #pairs(): Received[][] {
    const pairs = new Map<string, Received[]>();
    for (const one of [...this.#received].sort((a, b) => a.message.number - b.message.number)) {
      const { from, to } = one.message.step;
      const pair = pairs.get(`${from} ${to}`);
      if (pair === undefined) pairs.set(`${from} ${to}`, [one]);
      else pair.push(one);
    }
    return [...pairs.values()];
  }
}
