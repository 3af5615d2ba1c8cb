import { check } from './failure.js';
import type { Message } from './message.js';
import type { Completion } from '../../src/device/nic/test/rings.js';

const FIELDS = ['opcode', 'byteLen', 'wcFlags'] as const;

/** Messages on their way to one receiver, and the rule by which they may come out there. */
export interface Deliveries {
  post(message: Message): void;
  /** Finds the message that a completion is about; `payload` gives the first bytes that came with it. */
  take(where: string, completion: Completion, payload: (length: number) => Uint8Array): Message;
  /** At the end of a run in which nothing went wrong. */
  checkEnd(): void;
}

function sameImmediate(completion: Completion, { wcFlags, hasImmediate, immData }: Message): boolean {
  return completion.wcFlags === wcFlags && (!hasImmediate || completion.immData === immData >>> 0);
}

/** Each once, and in order. */
export class ReliableDeliveries implements Deliveries {
  readonly #expected: Message[] = [];
  #received = 0;

  post(message: Message): void {
    this.#expected.push(message);
  }

  take(where: string, completion: Completion, payload: (length: number) => Uint8Array): Message {
    const message = this.#expected.shift();
    check(message !== undefined, () => `${where}: a message that nobody sent, or one that came twice`);
    for (const field of FIELDS)
      check(
        completion[field] === message[field],
        () => `${where}: ${field} is ${String(completion[field])}, not ${String(message[field])}`,
      );
    check(
      sameImmediate(completion, message),
      () => `${where}: immediate data ${String(completion.immData)}, not ${String(message.immData >>> 0)}`,
    );
    check(
      Buffer.compare(payload(message.payload.length), message.payload) === 0,
      () => `${where}: message ${String(this.#received)} of ${String(message.byteLen)} bytes has wrong bytes`,
    );
    this.#received += 1;
    return message;
  }

  checkEnd(): void {
    check(this.#expected.length === 0, () => `${String(this.#expected.length)} messages never came`);
  }
}

/** How often and in which order a network lets messages come that nobody sends again. */
export interface Disorder {
  /** Times that a message may come. */
  readonly copies: number;
  readonly inOrder: boolean;
}

/** Whole or not at all: as often as the network made copies, and in order unless it changes that. */
export class UnreliableDeliveries implements Deliveries {
  readonly #sent: { readonly message: Message; copies: number }[] = [];
  /** Where packets keep their order: the first message that may still come. */
  #next = 0;

  constructor(private readonly disorder: Disorder) {}

  post(message: Message): void {
    this.#sent.push({ message, copies: 0 });
  }

  take(where: string, completion: Completion, payload: (length: number) => Uint8Array): Message {
    const { inOrder, copies } = this.disorder;
    let found = -1;
    for (let i = inOrder ? this.#next : 0; i < this.#sent.length; i += 1) {
      const { message, copies: before } = this.#sent[i];
      if (before >= copies || (found >= 0 && before >= this.#sent[found].copies)) continue;
      if (FIELDS.some((field) => completion[field] !== message[field]) || !sameImmediate(completion, message)) continue;
      if (Buffer.compare(payload(message.payload.length), message.payload) !== 0) continue;
      found = i;
      // Of equal messages the first: what comes after it can then still come.
      if (before === 0) break;
    }
    check(
      found >= 0,
      () => `${where}: ${String(completion.byteLen)} bytes that nobody sent, that came too often or too late`,
    );
    this.#sent[found].copies += 1;
    this.#next = found + 1;
    return this.#sent[found].message;
  }

  checkEnd(): void {
    // Any of them may be lost.
  }
}
