import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gidFromIp, Mtu, QpState, QpType } from '../../ibta/index.js';
import type { TestHost } from './host.js';
import { Pair, pattern, statusName } from './pair.js';
import { ahAttrTo, type TestQp } from './qp.js';

const QKEY = 0x11111111;

function udQp(host: TestHost, options: Parameters<TestHost['qp']>[0] = {}): TestQp {
  const qp = host.qp({ type: QpType.UD, ...options });
  qp.modify({ qpState: QpState.INIT, pkeyIndex: 0, portNum: 1, qkey: QKEY });
  qp.modify({ qpState: QpState.RTR });
  qp.modify({ qpState: QpState.RTS, sqPsn: 0 });
  return qp;
}

test('what is posted in SQE is flushed though RTS comes before the NIC has heard the doorbell', () => {
  const pair = new Pair();
  const qp = udQp(pair.a);
  const mr = pair.a.mr(64);
  // There is no such address handle: SQE.
  qp.send(mr, { addressHandle: 99 });
  pair.drive({ untilUs: 1e4 });
  assert.equal(qp.state, QpState.SQE);
  qp.sent();
  const addressHandle = pair.a.nic.control.createAh(pair.a.pd, ahAttrTo(pair.b.gid));
  qp.send(mr, { addressHandle, remoteQpn: 5, remoteQkey: QKEY });
  qp.modify({ qpState: QpState.RTS });
  pair.drive({ untilUs: 2e4 });
  assert.deepEqual(
    qp.sent().map(({ status }) => statusName(status)),
    ['WR_FLUSH_ERR'],
  );
});

test('what goes to a group under the number of one QP does not reach that QP', () => {
  const pair = new Pair();
  const group = gidFromIp('239.1.2.3');
  const a = udQp(pair.a);
  const member = udQp(pair.b);
  const other = udQp(pair.b);
  pair.b.link.joinGroup(group);
  pair.b.nic.control.attachMcast(member.qpn, group);
  other.recv(pair.b.mr(256));
  const addressHandle = pair.a.nic.control.createAh(pair.a.pd, ahAttrTo(group));
  a.send(pair.a.mr(64), { addressHandle, remoteQpn: other.qpn, remoteQkey: QKEY });
  pair.drive({ untilUs: 1e6 });
  assert.equal(other.received().length, 0);
});

test('a datagram that is dropped for its length takes no request from a shared queue', () => {
  const pair = new Pair();
  const a = udQp(pair.a);
  const srq = pair.b.srq();
  const recvCq = pair.b.cq();
  const [first, second] = [udQp(pair.b, { srq, recvCq }), udQp(pair.b, { srq, recvCq })];
  srq.queue.writeReceive({ wrId: 1, sgList: [pair.b.mr(100).sge()] });
  const addressHandle = pair.a.nic.control.createAh(pair.a.pd, ahAttrTo(pair.b.gid));
  a.send(pair.a.mr(500), { addressHandle, remoteQpn: first.qpn, remoteQkey: QKEY });
  a.send(pair.a.mr(50), { addressHandle, remoteQpn: second.qpn, remoteQkey: QKEY });
  pair.drive({ untilUs: 1e6 });
  assert.deepEqual(
    recvCq.poll().map(({ qpNum }) => qpNum),
    [second.qpn],
  );
});

test('a READ whose memory goes while a SEND behind it is open fails with REM_ACCESS_ERR', () => {
  const pair = new Pair();
  const { a, b } = pair.connect({ both: { pathMtu: Mtu.MTU_256, timeout: 8, retryCnt: 1 } });
  const target = pair.b.mr(256);
  b.recv(pair.b.mr(600));
  a.read(pair.a.mr(256), target);
  a.send(pair.a.mrOf(pattern(600)));
  pair.script = (packet) => (packet.name.includes('SEND_LAST') ? 'drop' : 'pass');
  pair.a.turn(pair.nowUs);
  pair.network.advanceTo(pair.nowUs + 1000);
  // The READ and the beginning of the SEND have arrived; nothing was answered.
  pair.b.nic.advanceTo(pair.nowUs);
  pair.b.link.receive(pair.b.nic, 2);
  pair.b.nic.control.deregMr(target.handle);
  pair.drive({ untilUs: pair.nowUs + 1e6 });
  assert.deepEqual(
    a.sent().map(({ status }) => statusName(status)),
    ['REM_ACCESS_ERR', 'WR_FLUSH_ERR'],
  );
});
