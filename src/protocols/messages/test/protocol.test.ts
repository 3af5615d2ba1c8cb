import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { Flag, immediateOf, Kind, limitOf } from '../protocol/kinds.js';
import { emptyFrame } from '../protocol/outgoing.js';
import { Protocol } from '../protocol/protocol.js';
import { End, ends, type NumberedMessage, settle, SMALL } from './support/pipe.js';

const BUFFER = SMALL.bufferBytes;

describe('the protocol of messages', () => {
  it('sends a message that fits a buffer as one DATA', () => {
    const [a, b] = ends();
    a.send(BUFFER);
    settle(a, b);
    assert.deepEqual(a.kinds, [Kind.DATA]);
    assert.deepEqual(b.taken, [{ number: 1, byteLength: BUFFER }]);
  });

  it('sends an empty message as one DATA', () => {
    const [a, b] = ends();
    a.send(0);
    settle(a, b);
    assert.deepEqual(b.taken, [{ number: 1, byteLength: 0 }]);
  });

  it('cuts a longer one into fragments that fill buffers, and ends it by DATA', () => {
    const [a, b] = ends();
    a.send(2 * BUFFER + 1);
    settle(a, b);
    assert.deepEqual(a.kinds, [Kind.MORE, Kind.MORE, Kind.DATA]);
    assert.deepEqual(b.taken, [{ number: 1, byteLength: 2 * BUFFER + 1 }]);
  });

  it('sends nothing before it knows the peer', () => {
    const end = new End();
    end.send(1);
    assert.equal(end.transmit(), 0);
  });

  it('stops when the peer has no room, and keeps back what CREDIT and CLOSE need', () => {
    const [a] = ends();
    for (let i = 0; i < 10; i += 1) a.send(1);
    assert.equal(a.transmit(), SMALL.window - 2);
    assert.equal(a.protocol.outgoing.credits, 2);
    a.protocol.outgoing.close();
    assert.equal(a.transmit(), 1);
    assert.equal(a.kinds.at(-1), Kind.CLOSE);
  });

  it('says that it is hungry on the last message that it has credit for', () => {
    const [a] = ends();
    for (let i = 0; i < 10; i += 1) a.send(1);
    a.transmit();
    assert.deepEqual(
      a.wire.map(({ immediate }) => (immediate >>> 16) & Flag.HUNGRY),
      [0, 1],
    );
  });

  it('widens the window of a hungry peer up to what it said', () => {
    const [a, b] = ends();
    const windows = new Set<number>();
    for (let i = 0; i < 200; i += 1) a.send(1);
    while (a.protocol.outgoing.queued > 0) {
      a.transmit();
      while (b.deliverFrom(a)) b.take();
      b.widen(Infinity);
      windows.add(b.protocol.incoming.credits.window);
      b.transmit();
      while (a.deliverFrom(b)) a.take();
    }
    assert.deepEqual([...windows], [8, 16]);
  });

  it('is not answered by thanks for thanks', () => {
    const [a, b] = ends();
    for (let i = 0; i < 50; i += 1) a.send(1);
    settle(a, b);
    assert.equal(settle(a, b), 0);
  });

  it('discards what it has sent of a message that is taken back', () => {
    const [a, b] = ends();
    const message = a.send(5 * BUFFER);
    a.transmit();
    assert.equal(a.protocol.outgoing.withdraw(message), true);
    a.send(3);
    settle(a, b);
    assert.deepEqual(a.kinds.slice(0, 4), [Kind.MORE, Kind.MORE, Kind.DISCARD, Kind.DATA]);
    assert.deepEqual(b.taken, [{ number: 2, byteLength: 3 }]);
  });

  it('does not take back what has gone', () => {
    const [a] = ends();
    const message = a.send(1);
    a.transmit();
    assert.equal(a.protocol.outgoing.withdraw(message), false);
  });

  it('delivers everything in order, needs no receive that is not posted, and falls silent, whatever the two ends do', () => {
    const windows = fc.record({ window: fc.integer({ min: 4, max: 9 }), more: fc.nat(20) });
    const actions = fc.array(
      fc.record({
        end: fc.nat(1),
        what: fc.constantFrom(
          'send',
          'send',
          'transmit',
          'transmit',
          'deliver',
          'deliver',
          'take',
          'withdraw',
          'widen',
        ),
        n: fc.nat(5 * BUFFER),
      }),
      { maxLength: 300 },
    );
    fc.assert(
      fc.property(windows, windows, actions, (first, second, steps) => {
        const hello = ({ window, more }: { window: number; more: number }) => ({
          ...SMALL,
          window,
          maxWindow: window + more,
        });
        const pair = ends(hello(first), hello(second));
        const sent: NumberedMessage[][] = [[], []];
        const withdrawn: NumberedMessage[][] = [[], []];
        for (const { end, what, n } of steps) {
          const [self, peer] = [pair[end], pair[1 - end]];
          if (what === 'send') sent[end].push(self.send(Math.min(n, SMALL.maxMessageBytes)));
          else if (what === 'transmit') self.transmit();
          else if (what === 'deliver') self.deliverFrom(peer);
          else if (what === 'take') self.take();
          else if (what === 'widen') self.widen(n % 8);
          else {
            const message = sent[end].at(n % Math.max(1, sent[end].length));
            if (message !== undefined && self.protocol.outgoing.withdraw(message)) withdrawn[end].push(message);
          }
        }
        settle(...pair);
        for (const end of [0, 1]) {
          const due = sent[end].filter((message) => !withdrawn[end].includes(message));
          const expected = due.map(({ number, byteLength }) => ({ number, byteLength }));
          assert.deepEqual(pair[1 - end].taken, expected);
          assert.equal(pair[end].posted, pair[end].protocol.incoming.credits.window);
        }
        // Either can still say farewell.
        pair[0].protocol.outgoing.close();
        assert.equal(pair[0].transmit(), 1);
      }),
      { numRuns: 500 },
    );
  });

  it('counts past 65535', () => {
    const [a, b] = ends();
    for (let i = 0; i < 70_000; i += 1) {
      a.send(1);
      if (i % 100 === 0) settle(a, b);
    }
    settle(a, b);
    assert.equal(b.taken.length, 70_000);
  });
});

describe('a peer that lies', () => {
  const receiver = (): Protocol<NumberedMessage> => {
    const protocol = new Protocol<NumberedMessage>(SMALL);
    protocol.begin(SMALL);
    return protocol;
  };
  const LIMIT = SMALL.window;
  const LIES: Record<string, [messages: [immediate: number, bytes: number][], lie: RegExp]> = {
    'about a kind': [[[immediateOf(0, 0, LIMIT), 0]], /kind 0, which does not exist/],
    'about another kind': [[[immediateOf(255, 0, LIMIT), 0]], /kind 255, which does not exist/],
    'about flags': [[[immediateOf(Kind.DATA, 0x82, LIMIT), 1]], /flags 0x82/],
    'by a CREDIT with payload': [[[immediateOf(Kind.CREDIT, 0, LIMIT), 1]], /CREDIT has 1 bytes, where it has none/],
    'by a fragment that fills no buffer': [[[immediateOf(Kind.MORE, 0, LIMIT), 9]], /MORE has 9 bytes/],
    'by discarding nothing': [[[immediateOf(Kind.DISCARD, 0, LIMIT), 0]], /nothing to discard/],
    'by discarding what is whole': [
      [
        [immediateOf(Kind.MORE, 0, LIMIT), BUFFER],
        [immediateOf(Kind.DATA, 0, LIMIT), 1],
        [immediateOf(Kind.DISCARD, 0, LIMIT), 0],
      ],
      /nothing to discard/,
    ],
    'by too long a message': [
      Array.from({ length: 16 }, () => [immediateOf(Kind.MORE, 0, LIMIT), BUFFER]),
      /more than 4096 bytes/,
    ],
    'by talking after its farewell': [
      [
        [immediateOf(Kind.CLOSE, 0, LIMIT), 0],
        [immediateOf(Kind.DATA, 0, LIMIT), 0],
      ],
      /after CLOSE/,
    ],
    'by talking without credit': [
      Array.from({ length: SMALL.window + 1 }, () => [immediateOf(Kind.DATA, 0, LIMIT), 0]),
      /came without credit/,
    ],
    'by granting more than it has': [
      [[immediateOf(Kind.CREDIT, 0, 17), 0]],
      /grants messages up to number 17: .* 16 at a time/,
    ],
    'by taking credit back': [[[immediateOf(Kind.CREDIT, 0, 3), 0]], /number 3: fewer than before/],
    'by granting less than was sent': [[[immediateOf(Kind.CREDIT, 0, 0xffff), 0]], /number 65535/],
  };
  for (const [how, [messages, lie]] of Object.entries(LIES))
    it(`${how} is found out`, () => {
      const protocol = receiver();
      const last = messages.pop() ?? [0, 0];
      const { credits } = protocol.incoming;
      for (const message of messages) {
        assert.notEqual(protocol.onMessage(...message), undefined);
        if (how === 'by talking without credit') continue;
        credits.replenish();
        credits.tell();
      }
      assert.equal(protocol.onMessage(...last), undefined);
      assert.match(protocol.incoming.lie, lie);
    });

  it('can say anything without an exception', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(0xffffffff), fc.nat(2 * BUFFER))), (messages) => {
        const protocol = receiver();
        protocol.outgoing.add({ number: 1, byteLength: 3 * BUFFER, framedBytes: 0 });
        const frame = emptyFrame<NumberedMessage>();
        for (const message of messages) {
          if (protocol.onMessage(...message) === undefined) break;
          if (protocol.outgoing.next(frame)) protocol.outgoing.sent(frame);
          assert.ok(protocol.outgoing.credits <= SMALL.maxWindow);
          assert.ok(limitOf(frame.immediate) <= 0xffff);
        }
      }),
    );
  });
});
