import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { MAX_WINDOW, MIN_WINDOW, ReceiveCredits, SendCredits } from '../index.js';

type Kind = 'data' | 'credit';

interface Message {
  readonly kind: Kind;
  readonly limit: number;
}

/** One end of a connection, beside counts that do not wrap. */
class End {
  readonly sends: SendCredits;
  readonly receives: ReceiveCredits;
  /** Under way to this end, in their order. */
  readonly incoming: Message[] = [];
  /** Messages that the program has not read. */
  unread = 0;
  sent = 0;
  read = 0;

  constructor(
    private readonly window: number,
    peerWindow: number,
  ) {
    this.sends = new SendCredits(peerWindow);
    this.receives = new ReceiveCredits(window);
  }

  /** Buffers that are there: what the peer may not exceed. */
  get free(): number {
    return this.window - this.unread - this.incoming.length;
  }

  send(peer: End, kind: Kind): void {
    this.sends.take();
    peer.incoming.push({ kind, limit: this.receives.limit });
    this.receives.tell();
    assert.ok(peer.free >= 0, 'a message has no buffer at the receiver');
    if (kind === 'data') this.sent += 1;
  }

  trySend(peer: End): boolean {
    if (this.sends.available === 0) return false;
    this.send(peer, 'data');
    return true;
  }

  /** Takes a message off the wire. */
  take(peer: End): boolean {
    const message = this.incoming.shift();
    if (message === undefined) return false;
    assert.ok(this.receives.arrive(), 'an honest peer had credit');
    assert.ok(this.sends.grant(message.limit), 'an honest peer does not lie');
    if (message.kind === 'data') this.unread += 1;
    else this.#replenish(peer);
    return true;
  }

  consume(peer: End): boolean {
    if (this.unread === 0) return false;
    this.unread -= 1;
    this.read += 1;
    this.#replenish(peer);
    return true;
  }

  /** Tells of credit when that is due, and can be told. */
  tell(peer: End): boolean {
    if (!this.receives.isDue || this.sends.availableForControl === 0) return false;
    this.send(peer, 'credit');
    return true;
  }

  #replenish(peer: End): void {
    this.receives.replenish();
    this.tell(peer);
  }
}

const window = fc.oneof(fc.integer({ min: MIN_WINDOW, max: 12 }), fc.integer({ min: MIN_WINDOW, max: MAX_WINDOW }));
const steps = fc.array(fc.tuple(fc.nat(1), fc.constantFrom('send', 'take', 'consume'), fc.nat(40)), { maxLength: 300 });

describe('credits', () => {
  it('never let a message come for which there is no buffer, and never let two programs wait for each other', () => {
    fc.assert(
      fc.property(window, window, steps, (a, b, plan) => {
        const ends = [new End(a, b), new End(b, a)];
        for (const [which, what, times] of plan) {
          const [end, peer] = [ends[which], ends[1 - which]];
          for (let i = 0; i < times; i += 1) {
            if (what === 'send') end.trySend(peer);
            else if (what === 'take') end.take(peer);
            else end.consume(peer);
            end.tell(peer);
          }
        }
        // What programs leave alone comes to rest, and then both can send whole windows but for what is kept in reserve.
        for (const [end, peer] of [ends, [...ends].reverse()]) {
          const target = end.sent + 3 * peer.receives.window;
          let idle = 0;
          while (end.sent < target) {
            const busy = [
              end.trySend(peer),
              peer.take(end),
              peer.consume(end),
              peer.tell(end),
              end.take(peer),
              end.tell(peer),
            ];
            idle = busy.includes(true) ? 0 : idle + 1;
            assert.ok(idle < 3, 'somebody waits for ever');
          }
        }
      }),
      { numRuns: 60 },
    );
  });

  it('come to rest: telling of credit does not go on for ever by itself', () => {
    for (let size = MIN_WINDOW; size < 20; size += 1) {
      const ends = [new End(size, size), new End(size, size)];
      while (ends[0].trySend(ends[1]));
      let steps = 0;
      const step = (end: End, peer: End): boolean => end.take(peer) || end.consume(peer) || end.tell(peer);
      while (step(ends[0], ends[1]) || step(ends[1], ends[0])) assert.ok((steps += 1) < 10 * size);
      assert.equal(ends[1].read, size - 1);
    }
  });

  it('count through the wrap', () => {
    const sends = new SendCredits(3);
    const receives = new ReceiveCredits(3);
    for (let i = 0; i < 200_000; i += 1) {
      assert.equal(sends.available, 2);
      sends.take();
      assert.ok(receives.arrive());
      receives.replenish();
      assert.ok(sends.grant(receives.limit));
      receives.tell();
    }
    assert.equal(receives.limit, (200_000 + 3) & 0xffff);
  });

  it('refuse a peer that sends without credit, or tells lies of it', () => {
    const receives = new ReceiveCredits(3);
    for (let i = 0; i < 3; i += 1) assert.ok(receives.arrive());
    assert.ok(!receives.arrive());
    const sends = new SendCredits(3);
    sends.take();
    for (const lie of [2, 0, MAX_WINDOW + 2, 0xffff, 0x10003, -1]) assert.ok(!sends.grant(lie), `${lie}`);
    assert.equal(sends.availableForControl, 2);
    assert.ok(sends.grant(MAX_WINDOW + 1));
    assert.equal(sends.availableForControl, MAX_WINDOW);
  });

  it('refuse more than the receiver has said that there would ever be', () => {
    const sends = new SendCredits(4, 2, 16);
    assert.ok(!sends.grant(17));
    sends.take();
    assert.ok(sends.grant(17));
    assert.ok(!sends.grant(18));
    assert.deepEqual([sends.available, sends.availableForControl], [14, 16]);
  });

  it('shrink with the window, by the buffer of a message that has come', () => {
    const receives = new ReceiveCredits(5);
    assert.ok(receives.arrive());
    receives.narrow();
    assert.deepEqual([receives.window, receives.limit, receives.isDue], [4, 5, false]);
    for (let i = 0; i < 4; i += 1) assert.ok(receives.arrive());
    assert.ok(!receives.arrive());
  });

  it('grow with the window', () => {
    const receives = new ReceiveCredits(4);
    assert.ok(!receives.isDue);
    receives.widen(12);
    assert.deepEqual([receives.window, receives.limit, receives.isDue], [16, 16, true]);
    receives.tell();
    assert.ok(!receives.isDue);
  });
});
