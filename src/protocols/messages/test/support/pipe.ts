import assert from 'node:assert/strict';
import { Kind, rulesOf } from '../../protocol/kinds.js';
import type { Hello } from '../../protocol/hello.js';
import { emptyFrame, type Outgoing } from '../../protocol/outgoing.js';
import { Protocol } from '../../protocol/protocol.js';

/** A message whose bytes are all its number, so that fragments of one are told from those of another. */
export interface NumberedMessage extends Outgoing {
  readonly number: number;
}

interface InFlight {
  readonly immediate: number;
  readonly byteLength: number;
  readonly number: number;
}

export const SMALL: Hello = { window: 4, maxWindow: 16, bufferBytes: 256, maxMessageBytes: 4096 };

/** One end on a lossless pipe: a protocol, receives that are counted, and a program that takes messages when it is told to. */
export class End {
  readonly protocol: Protocol<NumberedMessage>;
  readonly wire: InFlight[] = [];
  /** What the program took: numbers and lengths. */
  readonly taken: { number: number; byteLength: number }[] = [];
  readonly kinds: Kind[] = [];
  readonly #held: (InFlight & { kind: Kind })[] = [];
  readonly #frame = emptyFrame<NumberedMessage>();
  posted: number;
  #assembled: { number: number; byteLength: number } | undefined;
  #numbers = 0;

  constructor(readonly own: Hello = SMALL) {
    this.protocol = new Protocol(own);
    this.posted = own.window;
  }

  send(byteLength: number): NumberedMessage {
    const message = { byteLength, framedBytes: 0, number: (this.#numbers += 1) };
    this.protocol.outgoing.add(message);
    return message;
  }

  /** Puts all on the wire that may go. @returns how much */
  transmit(): number {
    let count = 0;
    for (; this.protocol.outgoing.next(this.#frame); count += 1) {
      const { kind, immediate, byteLength, message } = this.#frame;
      this.protocol.outgoing.sent(this.#frame);
      this.kinds.push(kind);
      this.wire.push({ immediate, byteLength, number: message?.number ?? 0 });
    }
    return count;
  }

  /** Takes the oldest message that the peer put on the wire. @returns whether there was one */
  deliverFrom(peer: End): boolean {
    const message = peer.wire.shift();
    if (message === undefined) return false;
    assert.ok(this.posted > 0, 'a message finds a receive');
    this.posted -= 1;
    const { incoming } = this.protocol;
    const kind = this.protocol.onMessage(message.immediate, message.byteLength);
    assert.ok(kind !== undefined, incoming.lie);
    if (rulesOf(kind)?.carries === true) this.#held.push({ ...message, kind });
    else this.#repost();
    return true;
  }

  /** The program takes what is in the oldest receive. @returns whether there was anything */
  take(): boolean {
    const frame = this.#held.shift();
    if (frame === undefined) return false;
    this.#repost();
    if (frame.kind === Kind.DISCARD) {
      this.#assembled = undefined;
      return true;
    }
    const { number } = (this.#assembled ??= { number: frame.number, byteLength: 0 });
    assert.equal(frame.number, number, 'fragments are of one message');
    this.#assembled.byteLength += frame.byteLength;
    if (frame.kind === Kind.DATA) {
      this.taken.push(this.#assembled);
      this.#assembled = undefined;
    }
    return true;
  }

  /** Posts as many receives more as would help, up to so many. */
  widen(atMost: number): void {
    const { incoming } = this.protocol;
    const more = Math.min(incoming.growth, atMost);
    this.posted += more;
    if (more > 0) incoming.widened(more);
  }

  #repost(): void {
    this.posted += 1;
    this.protocol.incoming.credits.replenish();
  }
}

/** Two ends that know each other. */
export function ends(own: Hello = SMALL, peer: Hello = SMALL): [End, End] {
  const pair: [End, End] = [new End(own), new End(peer)];
  pair[0].protocol.begin(peer);
  pair[1].protocol.begin(own);
  return pair;
}

/** Lets everything happen that can. @returns how many messages of all kinds that took */
export function settle(a: End, b: End): number {
  let count = 0;
  for (;;) {
    let moved = a.transmit() + b.transmit();
    count += moved;
    for (const [end, peer] of [
      [a, b],
      [b, a],
    ] as const) {
      while (end.deliverFrom(peer)) moved += 1;
      while (end.take()) moved += 1;
    }
    assert.ok(count < 100_000, 'two ends that are done fall silent');
    if (moved === 0) return count;
  }
}
