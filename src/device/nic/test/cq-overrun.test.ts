import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { EventType, QpState } from '../../ibta/index.js';
import { assertCompleted, Pair } from './pair.js';

/** protocol/services.md 3.8: an overrun CQ raises CQ_ERR, and its QPs end in ERR. */

describe('a CQ that overruns', () => {
  function overrun() {
    const pair = new Pair();
    const sendCq = pair.a.cq(4);
    const { a } = pair.connect({ qpA: { sendCq } });
    const bystander = pair.connect().a;
    const [local, remote] = [pair.a.mr(8), pair.b.mr(8)];
    const wrIds = Array.from({ length: 6 }, () => a.write(local, remote));
    pair.drive();
    return { pair, sendCq, a, bystander, wrIds, local, remote };
  }

  it('raises CQ_ERR once, with its number', () => {
    const { pair, sendCq } = overrun();
    assert.deepEqual(
      pair.a.events.filter(({ type }) => type === EventType.CQ_ERR),
      [{ type: EventType.CQ_ERR, cqn: sendCq.cqn }],
    );
    assert.equal(sendCq.overrun, true);
  });

  it('moves the QPs that complete to it to ERR, and no other', () => {
    const { pair, a, bystander, local, remote } = overrun();
    assert.equal(a.state, QpState.ERR);
    const wrId = bystander.write(local, remote);
    pair.drive();
    assertCompleted(bystander.sent(), [wrId]);
  });

  it('keeps the completions that it had room for', () => {
    const { sendCq, wrIds } = overrun();
    assertCompleted(sendCq.poll(), wrIds.slice(0, 4));
  });

  it('on the receive side ends the QP as well', () => {
    const pair = new Pair();
    const recvCq = pair.b.cq(2);
    const { a, b } = pair.connect({ qpB: { recvCq } });
    for (let i = 0; i < 3; i += 1) b.postRecv();
    for (let i = 0; i < 3; i += 1) a.post({ opcode: 2 });
    pair.drive();
    assert.equal(b.state, QpState.ERR);
    assert.ok(pair.b.events.some(({ type, cqn }) => type === EventType.CQ_ERR && cqn === recvCq.cqn));
  });

  it('raises CQ_ERR when the loss of the device flushes more than it has room for', () => {
    const pair = new Pair();
    const sendCq = pair.a.cq(2);
    const { a } = pair.connect({ qpA: { sendCq } });
    const [local, remote] = [pair.a.mr(8), pair.b.mr(8)];
    pair.script = () => 'drop';
    for (let i = 0; i < 4; i += 1) a.write(local, remote);
    pair.run(10);
    pair.a.nic.fail();
    const types = pair.a.events.filter(({ cqn }) => cqn === sendCq.cqn).map(({ type }) => type);
    assert.deepEqual(types, [EventType.CQ_ERR]);
  });

  it('does not happen when it is polled in time', () => {
    const pair = new Pair({ network: { capture: false } });
    const sendCq = pair.a.cq(4);
    const { a } = pair.connect({ qpA: { sendCq } });
    const [local, remote] = [pair.a.mr(8), pair.b.mr(8)];
    for (let round = 0; round < 10; round += 1) {
      const wrIds = Array.from({ length: 4 }, () => a.write(local, remote));
      pair.drive();
      assertCompleted(sendCq.poll(), wrIds);
    }
    assert.equal(sendCq.overrun, false);
  });
});
