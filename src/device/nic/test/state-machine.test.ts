import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { EventType, QpState } from '../../ibta/index.js';
import { Opcode } from '../../wire/index.js';
import { assertCompleted, Pair, pattern, Puppet } from './pair.js';
import { rtrAttr, rtsAttr } from './qp.js';

/** What each state does with packets and posts: the table of protocol/reliable.md 2.9. */

function pairWithB(state: 'RESET' | 'INIT' | 'RTR') {
  const pair = new Pair();
  const [a, b] = [pair.a.qp(), pair.b.qp()];
  a.toRts(b.peer, { timeout: 8, retryCnt: 1 });
  if (state === 'INIT') b.toInit();
  if (state === 'RTR') b.toRtr(a.peer);
  return { pair, a, b };
}

describe('requests of the peer', () => {
  for (const state of ['RESET', 'INIT'] as const) {
    it(`are dropped in ${state}`, () => {
      const { pair, a, b } = pairWithB(state);
      const remote = pair.b.mr(8);
      a.write(pair.a.mrOf(pattern(8)), remote);
      pair.drive();
      assert.deepEqual(pair.fromB(), []);
      assert.ok(remote.bytes.every((byte) => byte === 0));
      assert.equal(b.state, QpState[state]);
      assert.ok(pair.b.nic.counters.snapshot()['rx_wrong_state'] >= 1);
    });
  }

  it('are executed and answered in RTR', () => {
    const { pair, a, b } = pairWithB('RTR');
    const remote = pair.b.mrOf(pattern(8));
    const local = pair.a.mr(8);
    const received = b.postRecv();
    const wrIds = [a.read(local, remote), a.post({ opcode: 2 })];
    pair.drive();
    assertCompleted(a.sent(), wrIds);
    assertCompleted(b.received(), [received]);
    assert.deepEqual(local.bytes, pattern(8));
  });

  it('take receives that were posted in INIT', () => {
    const pair = new Pair();
    const [a, b] = [pair.a.qp(), pair.b.qp()];
    b.toInit();
    const received = b.postRecv();
    pair.turn();
    assert.deepEqual(b.received(), []);
    b.modify(rtrAttr(a.peer));
    a.toRts(b.peer);
    a.post({ opcode: 2 });
    pair.drive();
    assertCompleted(b.received(), [received]);
  });
});

describe('send requests', () => {
  it('are not sent in RTR', () => {
    const pair = new Pair();
    const [a, b] = [pair.a.qp(), pair.b.qp()];
    a.toRtr(b.peer);
    b.toRts(a.peer);
    a.post({ opcode: 0 });
    pair.drive();
    assert.deepEqual(pair.fromA(), []);
    assert.deepEqual(a.sent(), []);
  });
});

describe('responses', () => {
  it('are dropped in RTR', () => {
    const puppet = new Puppet();
    puppet.qp.modify({ qpState: QpState.RESET });
    puppet.qp.toRtr({ gid: puppet.network.attach('10.0.0.55').gid, qpn: 9 });
    puppet.say({ opcode: Opcode.RC_ACKNOWLEDGE, psn: 0, aeth: { syndrome: 0x62, msn: 0 } }, '10.0.0.55');
    assert.equal(puppet.qp.state, QpState.RTR);
    assert.equal(puppet.host1.nic.counters.snapshot()['rx_wrong_state'], 1);
  });

  it('without a request are ignored in RTS', () => {
    const puppet = new Puppet();
    for (const syndrome of [0x1f, 0x20, 0x60, 0x61, 0x62, 0x63])
      for (const psn of [0x0fff, 0x1000, 0x1001])
        puppet.say({ opcode: Opcode.RC_ACKNOWLEDGE, psn, aeth: { syndrome, msn: 0 } });
    puppet.say({
      opcode: Opcode.RC_READ_RESP_ONLY,
      psn: 0x1000,
      aeth: { syndrome: 0x1f, msn: 0 },
      payload: pattern(8),
    });
    puppet.say({ opcode: Opcode.RC_ATOMIC_ACKNOWLEDGE, psn: 0x1000, aeth: { syndrome: 0x1f, msn: 0 }, atomicAck: 1n });
    assert.equal(puppet.qp.state, QpState.RTS);
    assert.deepEqual(puppet.qp.sent(), []);
    assert.deepEqual(puppet.heard(), []);
    assert.equal(puppet.host1.nic.counters.snapshot()['rx_unexpected_response'], 20);
  });
});

describe('COMM_EST', () => {
  it('is raised by the first packet that arrives in RTR, and by no other', () => {
    const { pair, a, b } = pairWithB('RTR');
    const [local, remote] = [pair.a.mr(8), pair.b.mr(8)];
    a.write(local, remote);
    a.write(local, remote);
    pair.drive();
    a.write(local, remote);
    pair.drive();
    assert.deepEqual(pair.b.eventsOf(b), [EventType.COMM_EST]);
  });

  it('is not raised in RTS', () => {
    const pair = new Pair();
    const { a, b } = pair.connect();
    a.write(pair.a.mr(8), pair.b.mr(8));
    pair.drive();
    assert.deepEqual(pair.b.eventsOf(b), []);
  });

  it('comes anew after RESET', () => {
    const { pair, a, b } = pairWithB('RTR');
    const [local, remote] = [pair.a.mr(8), pair.b.mr(8)];
    a.write(local, remote);
    pair.drive();
    for (const qp of [a, b]) qp.modify({ qpState: QpState.RESET });
    a.toRts(b.peer);
    b.toRtr(a.peer);
    a.write(local, remote);
    pair.drive();
    assert.deepEqual(pair.b.eventsOf(b), [EventType.COMM_EST, EventType.COMM_EST]);
  });
});

describe('RTR to RTS', () => {
  it('after requests were answered in RTR keeps the receive side as it is', () => {
    const { pair, a, b } = pairWithB('RTR');
    const [local, remote] = [pair.a.mrOf(pattern(8)), pair.b.mr(8)];
    const first = a.write(local, remote);
    pair.drive();
    b.modify(rtsAttr({ sqPsn: 0 }));
    const second = a.write(local, remote);
    const third = b.write(remote, local);
    pair.drive();
    assertCompleted(a.sent(), [first, second]);
    assertCompleted(b.sent(), [third]);
  });
});
