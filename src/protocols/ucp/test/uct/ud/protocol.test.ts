import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { UdFlags } from '../../../wire/index.js';
import { DEAD, IDLE, TICK_MS } from '../../../uct/ud/protocol.js';
import { MAX_WINDOW, MIN_WINDOW } from '../../../uct/ud/windows.js';
import { asks, bring, settle, Side } from '../../support/ud-model.js';

const numbers = (count: number): number[] => Array.from({ length: count }, (_, number) => number);

/** Sends as much as the window allows, and lets it arrive, so many times. */
function grow(one: Side, two: Side, times: number): void {
  for (let i = 0; i < times; i += 1) {
    while (one.send());
    settle(one, two);
  }
}

describe('the machine of ud', () => {
  const step = fc.record({
    what: fc.constantFrom('send', 'send', 'send', 'bring', 'bring', 'bring', 'lose', 'double', 'tick', 'ask', 'full'),
    isFirst: fc.boolean(),
    which: fc.nat(5),
  });

  it('brings all that either end sends, once and in its order, whatever the network does', () => {
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 400 }),
        fc.integer({ min: 2, max: 40 }),
        fc.nat(8),
        (steps, most, kept) => {
          const sides = [new Side(most, kept), new Side(most, kept)] as const;
          for (const { what, isFirst, which } of steps) {
            const [one, two] = isFirst ? sides : [sides[1], sides[0]];
            if (what === 'send') one.send();
            else if (what === 'bring') bring(one, two, which);
            else if (what === 'lose') one.wire.splice(which, 1);
            else if (what === 'double') one.wire.push(...one.wire.slice(which, which + 1));
            else if (what === 'tick') one.tick();
            else if (what === 'full') one.room = which;
            else {
              one.protocol.ask();
              one.progress();
            }
          }
          for (const side of sides) side.room = Infinity;
          for (const side of sides) side.progress();
          settle(...sides);
          assert.deepEqual(sides[0].got, numbers(sides[1].sent));
          assert.deepEqual(sides[1].got, numbers(sides[0].sent));
          for (const side of sides) assert.equal(side.protocol.receives.kept, 0);
        },
      ),
      { numRuns: 2000 },
    );
  });

  it('goes on for longer than there are PSNs, one way, with a loss now and then', () => {
    const [one, two] = [new Side(64, 64), new Side(64, 64)];
    for (let round = 0; one.sent < 200_000; round += 1) {
      while (one.send());
      if (round % 50 === 0) one.wire.splice(round % one.wire.length, 1);
      settle(one, two);
    }
    assert.equal(two.got.length, one.sent);
    assert.ok(two.got.every((number, i) => number === i));
    assert.ok(one.resent > 0 && one.resent < one.sent / 50, `${one.resent} of ${one.sent} were sent again`);
  });

  it('begins with the least window, lets it grow by each acknowledgement up to its limit, and halves it by a loss', () => {
    const [one, two] = [new Side(MAX_WINDOW, 64), new Side(MAX_WINDOW, 64)];
    const { sends } = one.protocol;
    assert.equal(sends.size, MIN_WINDOW);
    one.send();
    settle(one, two);
    assert.equal(sends.size, MIN_WINDOW + 1);
    grow(one, two, 400);
    assert.equal(sends.size, MAX_WINDOW);
    one.send();
    one.wire.length = 0;
    for (const expected of [MAX_WINDOW, MAX_WINDOW >> 1, MAX_WINDOW >> 2]) {
      one.tick();
      assert.equal(sends.size, expected);
    }
    for (let i = 0; i < 20; i += 1) one.tick();
    assert.equal(sends.size, MIN_WINDOW);
  });

  it('has the first of a flight acknowledged, the last for which there is room, and some between', () => {
    const [one, two] = [new Side(16, 64), new Side(16, 64)];
    grow(one, two, 50);
    while (one.send());
    assert.equal(one.wire.length, 16);
    const asking = one.wire.map((datagram, i) => (asks(datagram) ? i : -1)).filter((i) => i >= 0);
    assert.deepEqual(asking, [0, 4, 8, 12, 15]);
  });

  it('acknowledges beside what it sends, and otherwise by a datagram that brings nothing', () => {
    const [one, two] = [new Side(8, 8), new Side(8, 8)];
    one.send();
    bring(one, two);
    assert.deepEqual(
      two.wire.map(({ number, ackPsn }) => [number, ackPsn]),
      [[undefined, 1]],
    );
    settle(one, two);
    two.protocol.heard(0, UdFlags.ACK_REQ);
    two.send();
    two.progress();
    assert.deepEqual(
      two.wire.map(({ number }) => number),
      [0],
    );
  });

  it('says at once that something is missing, and that alone is sent again, without waiting', () => {
    const [one, two] = [new Side(16, 64), new Side(16, 64)];
    grow(one, two, 50);
    while (one.send());
    one.wire.splice(5, 1);
    while (bring(one, two) || bring(two, one));
    assert.equal(one.protocol.sends.underWay, 0);
    assert.equal(one.resent, 1);
  });

  it('finds out by asking that the last is missing', () => {
    const [one, two] = [new Side(16, 64), new Side(16, 64)];
    grow(one, two, 50);
    one.send();
    one.send();
    settle(one, two);
    one.send();
    one.send();
    one.wire.pop();
    one.protocol.ask();
    one.progress();
    while (bring(one, two) || bring(two, one));
    assert.equal(one.protocol.sends.underWay, 0);
    assert.equal(one.resent, 1);
  });

  it('waits twice as long each time, and finds a peer dead that acknowledges nothing', () => {
    const one = new Side(8, 8, 1000);
    one.send();
    const delays = [one.protocol.start()];
    for (let next = one.tick(); next !== DEAD && delays.length < 100; next = one.tick()) delays.push(next);
    // The first tick finds that it was just sent.
    assert.deepEqual(delays, [TICK_MS, TICK_MS, 20, 40, 80, 160, 320, 370]);
    assert.equal(
      delays.slice(1).reduce((sum, delay) => sum + delay),
      1000,
    );
    assert.ok(one.isDead);
  });

  it('takes no time when nothing is waited for', () => {
    const [one, two] = [new Side(8, 8), new Side(8, 8)];
    one.send();
    settle(one, two);
    assert.equal(one.tick(), IDLE);
  });

  it('probes a peer to which nothing is under way: anything is an answer, and silence is death', () => {
    const [one, two] = [new Side(8, 8, 1000), new Side(8, 8)];
    one.protocol.probe();
    one.progress();
    assert.equal(one.wire.length, 1);
    settle(one, two);
    assert.equal(one.tick(), IDLE);
    one.protocol.probe();
    one.progress();
    for (let ticks = 0; !one.isDead && ticks < 100; ticks += 1) one.tick();
    assert.ok(one.isDead);
    assert.ok(one.wire.filter(asks).length > 3, 'it has asked again and again');
  });

  it('takes no acknowledgement of what was never sent', () => {
    const one = new Side(8, 8);
    one.send();
    for (const ackPsn of [2, 3, 1000, 0x7fff]) assert.equal(one.protocol.heard(ackPsn, 0), -1);
    assert.equal(one.protocol.heard(0, 0), 0);
    assert.equal(one.protocol.heard(0xffff, 0), 0);
    assert.equal(one.protocol.heard(1, 0), 1);
  });

  it('believes no peer that it has sent more than any window', () => {
    const one = new Side(8, 8);
    assert.ok(one.protocol.heardLast(MAX_WINDOW));
    assert.ok(!one.protocol.heardLast(MAX_WINDOW + 1));
    assert.ok(!one.protocol.heardLast(0x7fff));
  });

  it('sends again once, however often it hears that something is missing', () => {
    const [one, two] = [new Side(8, 8), new Side(8, 8)];
    grow(one, two, 10);
    while (one.send());
    const { acked } = one.protocol.sends;
    for (let i = 0; i < 10; i += 1) {
      one.protocol.heard(acked, UdFlags.NACK);
      one.progress();
    }
    assert.equal(one.resent, 1);
  });
});
