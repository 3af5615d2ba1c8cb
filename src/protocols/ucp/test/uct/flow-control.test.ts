import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { FlowBits, FlowControl, idOf, PURE_GRANT } from '../../uct/rc/flow-control.js';

/** One end with so many buffers: what was sent to it waits until it takes it. */
class End {
  readonly flow = new FlowControl();
  readonly wire: number[] = [];

  constructor(
    readonly window: number,
    peerWindow: number,
  ) {
    this.flow.begin(peerWindow);
  }

  send(peer: End): boolean {
    if (this.flow.room <= 0) return false;
    peer.wire.push(this.flow.next(7));
    return true;
  }

  /** Takes the oldest message, and answers an urgent request. */
  take(peer: End): boolean {
    const first = this.wire.shift();
    if (first === undefined) return false;
    assert.equal(this.flow.received(first), undefined);
    if (this.flow.owesGrant) {
      peer.wire.push(PURE_GRANT);
      this.flow.grantSent();
    }
    return true;
  }

  get buffered(): number {
    return this.wire.filter((first) => first !== PURE_GRANT).length;
  }

  get grants(): number {
    return this.wire.filter((first) => first === PURE_GRANT).length;
  }
}

describe('flow control of rc', () => {
  it('asks softly at half of the window, urgently at a quarter, and sends no more than the window', () => {
    const flow = new FlowControl();
    flow.begin(8);
    const firsts = Array.from({ length: 8 }, () => flow.next(3));
    assert.deepEqual(
      firsts.map((first) => first - 3),
      [0, 0, 0, FlowBits.SOFT_REQUEST, 0, FlowBits.HARD_REQUEST, 0, 0],
    );
    assert.ok(firsts.every((first) => idOf(first) === 3));
    assert.equal(flow.room, 0);
  });

  it('grants beside the next message where it was asked softly, and at once where urgently', () => {
    const flow = new FlowControl();
    flow.begin(8);
    assert.equal(flow.received(1 | FlowBits.SOFT_REQUEST), undefined);
    assert.equal(flow.owesGrant, false);
    assert.deepEqual([flow.next(1), flow.next(1)], [1 | FlowBits.GRANT, 1]);
    flow.received(1 | FlowBits.SOFT_REQUEST);
    flow.received(1 | FlowBits.HARD_REQUEST);
    assert.equal(flow.owesGrant, true);
    flow.grantSent();
    assert.equal(flow.next(1) & FlowBits.GRANT, 0);
  });

  it('has room again for as many as were received when it was granted', () => {
    const flow = new FlowControl();
    flow.begin(8);
    for (let i = 0; i < 5; i += 1) flow.next(1);
    assert.equal(flow.received(1 | FlowBits.GRANT), undefined);
    assert.equal(flow.room, 7);
  });

  it('lets nobody grant what was not asked for, or ask twice in one message', () => {
    for (const first of [PURE_GRANT, 1 | FlowBits.GRANT, 1 | FlowBits.SOFT_REQUEST | FlowBits.HARD_REQUEST, 0xe1]) {
      const flow = new FlowControl();
      flow.begin(8);
      flow.next(1);
      assert.match(flow.received(first) ?? 'it is good', /nobody has asked for|asks twice/);
    }
  });

  it('never overruns either end, and never comes to a standstill, whenever what is looked at', () => {
    const windows = fc.integer({ min: 1, max: 20 });
    const steps = fc.array(fc.nat(3), { maxLength: 400 });
    fc.assert(
      fc.property(windows, windows, steps, (one, two, order) => {
        const [a, b] = [new End(one, two), new End(two, one)];
        for (const step of order) {
          if (step === 0) a.send(b);
          if (step === 1) b.send(a);
          if (step === 2) a.take(b);
          if (step === 3) b.take(a);
          for (const end of [a, b]) {
            assert.ok(end.buffered <= end.window, 'there is a buffer for each message');
            assert.ok(end.grants <= 1, 'and one for the grant that comes alone');
          }
        }
        while (a.take(b) || b.take(a));
        for (const [from, to] of [
          [a, b],
          [b, a],
        ] as const)
          for (let i = 0; i < 100; i += 1) {
            assert.ok(from.send(to), 'one can send once all was taken');
            while (to.take(from) || from.take(to));
          }
      }),
    );
  });
});
