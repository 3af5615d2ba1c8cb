import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { QpState } from '../../ibta/index.js';
import { assertCompleted, Pair, pattern, Puppet } from './pair.js';

const RESET = { qpState: QpState.RESET } as const;

describe('RESET', () => {
  it('discards both queues without a completion', () => {
    const puppet = new Puppet({ timeout: 5 });
    const mr = puppet.host1.mr(8);
    puppet.qp.send(mr);
    puppet.qp.send(mr);
    puppet.qp.recv(mr);
    puppet.turn();
    puppet.heard();
    puppet.qp.modify(RESET);
    puppet.drive({ untilUs: 1e7 });
    assert.deepEqual([puppet.qp.sent(), puppet.qp.received(), puppet.heard()], [[], [], []]);
    assert.deepEqual([puppet.qp.sq.inUse, puppet.qp.rq.inUse], [0, 0]);
  });

  it('keeps completions that were there before', () => {
    const pair = new Pair();
    const { a } = pair.connect();
    const wrId = a.write(pair.a.mr(8), pair.b.mr(8));
    pair.drive();
    a.modify(RESET);
    assertCompleted(a.sent(), [wrId]);
  });

  it('leaves a QP that can be connected anew, with other PSNs, and works', () => {
    const pair = new Pair();
    const { a, b } = pair.connect();
    const [local, remote] = [pair.a.mrOf(pattern(3000)), pair.b.mr(3000)];
    a.write(local, remote, { rkey: 1 });
    pair.drive();
    assert.deepEqual([a.state, b.state], [QpState.ERR, QpState.ERR]);
    a.sent();
    a.modify(RESET);
    b.modify(RESET);
    a.toRts(b.peer, { sqPsn: 7, rqPsn: 0xfffff0 });
    b.toRts(a.peer, { sqPsn: 0xfffff0, rqPsn: 7 });
    const received = b.postRecv();
    const wrIds = [a.write(local, remote), a.post({ opcode: 2 }), a.read(local, remote)];
    pair.drive();
    assertCompleted(a.sent(), wrIds);
    assertCompleted(b.received(), [received]);
    assert.deepEqual(remote.bytes, pattern(3000));
  });

  it('stops responses that were being sent', () => {
    const pair = new Pair();
    const { a, b } = pair.connect({ both: { timeout: 0 } });
    a.read(pair.a.mr(1_000_000), pair.b.mr(1_000_000));
    pair.run(7);
    b.modify(RESET);
    pair.drive({ untilUs: 1e6 });
    const sent = pair.fromB().length;
    pair.drive({ untilUs: 2e6 });
    assert.equal(pair.fromB().length, sent);
    assert.deepEqual(a.sent(), []);
  });

  it('forgets the attributes of the connection', () => {
    const puppet = new Puppet();
    puppet.qp.modify(RESET);
    const attr = puppet.host1.nic.control.queryQp(puppet.qp.qpn);
    assert.deepEqual([attr.qpState, attr.destQpNum, attr.sqPsn, attr.rqPsn, attr.timeout], [QpState.RESET, 0, 0, 0, 0]);
  });

  it('is allowed in every state', () => {
    for (const state of ['RESET', 'INIT', 'RTR', 'RTS', 'SQD', 'ERR'] as const) {
      const pair = new Pair();
      const qp = pair.a.qp();
      const peer = { gid: pair.b.gid, qpn: 5 };
      if (state === 'INIT') qp.toInit();
      if (state === 'RTR') qp.toRtr(peer);
      if (state === 'RTS' || state === 'SQD' || state === 'ERR') qp.toRts(peer);
      if (state === 'SQD' || state === 'ERR') qp.modify({ qpState: QpState[state] });
      assert.equal(qp.state, QpState[state]);
      qp.modify(RESET);
      assert.equal(qp.state, QpState.RESET);
    }
  });
});
